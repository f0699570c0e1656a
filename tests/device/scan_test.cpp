// Inclusive sums, and workgroups that wait for each other.
#include "device/kernel_runner.h"

#include <numeric>

namespace asmevo::test {
namespace {

class Scan : public SampleTest {};
ON_ALL_TARGETS(Scan);

std::vector<int32_t> inclusive_sums(const std::vector<int32_t>& in, size_t section) {
  std::vector<int32_t> sums(in.size());
  for (size_t first = 0; first < in.size(); first += section) {
    const size_t last = std::min(in.size(), first + section);
    std::partial_sum(in.begin() + static_cast<ptrdiff_t>(first), in.begin() + static_cast<ptrdiff_t>(last),
                     sums.begin() + static_cast<ptrdiff_t>(first));
  }
  return sums;
}

TEST_P(Scan, OfWorkgroups) {
  run_everywhere("scan", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 461;
    const auto in = random_integers<int32_t>(n, -1000, 1000);
    const auto out = runner.empty<int32_t>(n);
    if (!runner.launch("scan_groups", line(512, 128), runner.buffer(in), out, n)) return;
    EXPECT_EQ(runner.read(out), inclusive_sums(in, 128));
    results.add(runner.read(out));
  });
}

TEST_P(Scan, InLds) {
  run_everywhere("scan", [](KernelRunner& runner, Results& results) {
    for (const uint32_t size : {1u, 32u, 256u}) {
      const auto whole = random_integers<int32_t>(2 * size, -1000, 1000, size);
      const std::vector<float> in(whole.begin(), whole.end());
      const auto out = runner.empty<float>(2 * size);
      if (!runner.launch("scan_lds", line(2 * size, size), runner.buffer(in), out)) return;
      const auto expected = inclusive_sums(whole, size);
      const auto got = runner.read(out);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
      results.add(got);
    }
  });
}

TEST_P(Scan, ByLookingBack) {
  run_everywhere("scan", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 3333, tiles = (n + 127) / 128;
    const auto in = random_integers<int32_t>(n, -1000, 1000, 2);
    const auto source = runner.buffer(in);
    const auto out = runner.empty<int32_t>(n);
    if (!runner.launch("scan_by_group", line(tiles * 128, 128), source, out, runner.zeros<uint64_t>(tiles),
                       n))
      return;
    EXPECT_EQ(runner.read(out), inclusive_sums(in, n));
    const auto again = runner.empty<int32_t>(n);
    if (!runner.launch("scan_by_ticket", line(tiles * 128, 128), source, again, runner.zeros<uint64_t>(tiles),
                       n, runner.zeros<uint32_t>(1)))
      return;
    EXPECT_EQ(runner.read(again), inclusive_sums(in, n));
    results.add(runner.read(out));
    results.add(runner.read(again));
  });
}

/// More workgroups than threads, each waiting for the one behind it.
TEST_P(Scan, WaitingForLaterWorkgroups) {
  run_everywhere("scan", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t groups = 23;
    const auto out = runner.empty<uint32_t>(groups * 64);
    if (!runner.launch("wait_for_next", line(groups * 64, 64), runner.zeros<uint32_t>(groups), out, groups))
      return;
    const auto got = runner.read(out);
    for (uint32_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % 64 * (groups - i / 64));
    results.add(got);
  });
}

} // namespace
} // namespace asmevo::test
