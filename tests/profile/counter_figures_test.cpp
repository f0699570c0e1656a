#include "profile/counter_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asmevo::profile {
namespace {

using Unit = CounterFigure::Unit;

std::optional<double> figure(const std::vector<CounterFigure>& list, std::string_view name) {
  for (const CounterFigure& f : list)
    if (f.name == name) return f.value;
  return std::nullopt;
}

TEST(CounterFigures, BytesFromTheProfilersOwnSums) {
  const auto list = counter_figures({{"FETCH_SIZE", 2}, {"WRITE_SIZE", 3}}, 1);
  EXPECT_EQ(figure(list, "read from memory"), 2048);
  EXPECT_EQ(figure(list, "written to memory"), 3072);
  EXPECT_EQ(list[0].unit, Unit::Bytes);
}

TEST(CounterFigures, BytesFromRequests) {
  const auto mi300 = counter_figures({{"TCC_EA0_RDREQ_sum", 10},
                                      {"TCC_EA0_RDREQ_32B_sum", 1},
                                      {"TCC_BUBBLE_sum", 4},
                                      {"TCC_EA0_WRREQ_sum", 5},
                                      {"TCC_EA0_WRREQ_64B_sum", 3}},
                                     1);
  EXPECT_EQ(figure(mi300, "read from memory"), 4 * 128 + 5 * 64 + 32);
  EXPECT_EQ(figure(mi300, "written to memory"), 3 * 64 + 2 * 32);
  const auto mi200 = counter_figures({{"TCC_EA_RDREQ_sum", 10}, {"TCC_EA_RDREQ_32B_sum", 1}}, 1);
  EXPECT_EQ(figure(mi200, "read from memory"), 9 * 64 + 32);
  EXPECT_FALSE(figure(counter_figures({{"TCC_EA0_RDREQ_sum", 10}}, 1), "read from memory"))
      << "of requests of unknown length nothing is said";
}

TEST(CounterFigures, HitRatesAndConflicts) {
  const auto list = counter_figures({{"TCC_HIT_sum", 30},
                                     {"TCC_MISS_sum", 10},
                                     {"TCP_TOTAL_CACHE_ACCESSES_sum", 100},
                                     {"TCP_TCC_READ_REQ_sum", 40},
                                     {"SQ_LDS_BANK_CONFLICT", 5},
                                     {"SQ_LDS_IDX_ACTIVE", 20}},
                                    2);
  EXPECT_EQ(figure(list, "L2 hits"), 0.75);
  EXPECT_EQ(figure(list, "L1 hits"), 0.6);
  EXPECT_EQ(figure(list, "LDS bank conflicts, of its cycles"), 0.25);
  EXPECT_FALSE(figure(counter_figures({{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 0}}, 1), "L2 hits"));
}

TEST(CounterFigures, Waves) {
  const auto list = counter_figures({{"SQ_WAVES", 8},
                                     {"SQ_INSTS_VALU", 80},
                                     {"SQ_WAVE_CYCLES", 1000},
                                     {"SQ_WAIT_ANY", 600},
                                     {"SQ_ACTIVE_INST_VALU", 10},
                                     {"SQ_THREAD_CYCLES_VALU", 320}},
                                    1);
  EXPECT_EQ(figure(list, "waves"), 8);
  EXPECT_EQ(figure(list, "VALU instructions a wave"), 10);
  EXPECT_EQ(figure(list, "waves: waited for data or a barrier"), 0.6);
  EXPECT_EQ(figure(list, "lanes on in VALU instructions"), 0.5);
}

// Sums over dispatches of what is a per cent of each.
TEST(CounterFigures, PercentagesAreMeans) {
  EXPECT_EQ(figure(counter_figures({{"VALUBusy", 150}}, 3), "VALUBusy"), 0.5);
  EXPECT_TRUE(counter_figures({{"VALUBusy", 150}}, 0).empty());
  EXPECT_TRUE(counter_figures({}, 1).empty());
}

} // namespace
} // namespace asmevo::profile
