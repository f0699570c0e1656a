// What the lanes of a wave do with each other.
#include "device/kernel_runner.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace asmevo::test {
namespace {

class Waves : public SampleTest {};
ON_ALL_TARGETS(Waves);

TEST_P(Waves, Ballots) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    constexpr size_t n = 64 + 37; // the second wave is not full
    const auto in = random_integers<int32_t>(n, -50, 50);
    const auto out = runner.empty<uint64_t>(n * 4);
    if (!runner.launch("ballots", line(n, 64), runner.buffer(in), out)) return;
    const auto got = runner.read(out);
    for (size_t wave = 0; wave < 2; ++wave) {
      uint64_t there = 0, positive = 0, thirds = 0, odd = 0;
      for (size_t l = 0; l < 64 && wave * 64 + l < n; ++l) {
        const int v = in[wave * 64 + l];
        const uint64_t bit = uint64_t{1} << l;
        there |= bit;
        if (v > 0) positive |= bit;
        if (v % 3 == 0) thirds |= bit;
        if ((v & 1) != 0) odd |= bit;
      }
      for (size_t l = 0; l < 64 && wave * 64 + l < n; ++l) {
        const uint64_t* row = &got[(wave * 64 + l) * 4];
        EXPECT_EQ(row[0], positive);
        EXPECT_EQ(row[1], thirds);
        EXPECT_EQ(row[2], (in[wave * 64 + l] & 1) != 0 ? odd : 0);
        EXPECT_EQ(row[3], there);
      }
    }
    results.add(got);
  });
}

TEST_P(Waves, Compaction) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 200, waves = 4;
    const auto in = random_integers<int32_t>(n, 0, 1000);
    const auto out = runner.empty<int32_t>(waves * 64);
    const auto counts = runner.empty<uint32_t>(waves);
    if (!runner.launch("compact", line(waves * 64, 64), runner.buffer(in), out, counts, n)) return;
    const auto got = runner.read(out);
    const auto got_counts = runner.read(counts);
    for (size_t wave = 0; wave < waves; ++wave) {
      std::vector<int32_t> expected;
      for (size_t i = wave * 64; i < std::min<size_t>(n, wave * 64 + 64); ++i)
        if (in[i] % 5 < 2) expected.push_back(in[i]);
      ASSERT_EQ(got_counts[wave], expected.size());
      EXPECT_TRUE(
          std::equal(expected.begin(), expected.end(), got.begin() + static_cast<ptrdiff_t>(wave) * 64));
    }
    results.add(got);
  });
}

TEST_P(Waves, Shuffles) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    const auto in = random_bits<int32_t>(64, 3), from = random_bits<int32_t>(64, 4);
    const auto out = runner.empty<int32_t>(8 * 64);
    if (!runner.launch("shuffles", line(64, 64), runner.buffer(in), runner.buffer(from), out)) return;
    const auto got = runner.read(out);
    std::vector<int32_t> sent(64);
    for (size_t l = 0; l < 64; ++l) sent[(l * 7 + 3) % 64] = in[l];
    for (size_t l = 0; l < 64; ++l) {
      EXPECT_EQ(got[l], in[static_cast<uint32_t>(from[l]) % 64]);
      EXPECT_EQ(got[64 + l], in[l ^ 21]);
      EXPECT_EQ(got[128 + l], sent[l]);
      EXPECT_EQ(got[192 + l], in[l ^ 1]);
      EXPECT_EQ(got[256 + l], in[l / 4 * 4 + (l + 1) % 4]);
      EXPECT_EQ(got[320 + l], in[37]);
      EXPECT_EQ(got[384 + l], static_cast<int32_t>(static_cast<uint32_t>(in[0]) + 1));
      EXPECT_EQ(got[448 + l], l > 40 ? in[41] : -1);
    }
    results.add(got);
  });
}

/// A DPP control: the lane a lane reads, or -1 for none.
struct Move {
  const char* name;
  int (*from)(int lane);
  bool written(int lane) const { return rows >> (lane / 16) & banks >> (lane / 4 % 4) & 1; }
  int rows = 15, banks = 15;
  bool zero_outside = false;
};
int row_shift(int lane, int by) {
  return lane % 16 + by < 0 || lane % 16 + by > 15 ? -1 : lane + by;
}
const Move moves[] = {
    {"quad_perm:[3,2,1,0]", [](int l) { return l ^ 3; }},
    {"row_shl:1", [](int l) { return row_shift(l, 1); }},
    {"row_shl:1 bound_ctrl", [](int l) { return row_shift(l, 1); }, 15, 15, true},
    {"row_shr:2", [](int l) { return row_shift(l, -2); }},
    {"row_ror:3", [](int l) { return l / 16 * 16 + (l + 13) % 16; }},
    {"wave_shl:1", [](int l) { return l == 63 ? -1 : l + 1; }},
    {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
    {"wave_shr:1", [](int l) { return l - 1; }},
    {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
    {"row_mirror", [](int l) { return l ^ 15; }},
    {"row_half_mirror", [](int l) { return l ^ 7; }},
    // The last lane of a row to the whole next row; lane 31 to the upper half.
    {"row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
    {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
    {"row_newbcast:5", [](int l) { return l / 16 * 16 + 5; }},
    {"row_mirror row_mask:0x5", [](int l) { return l ^ 15; }, 0b0101},
    {"row_mirror bank_mask:0x3", [](int l) { return l ^ 15; }, 15, 0b0011},
};

TEST_P(Waves, DppMoves) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    const auto in = random_integers<int32_t>(64, 1, 1000000, 5);
    const auto out = runner.empty<int32_t>(std::size(moves) * 64);
    if (!runner.launch("dpp_moves", line(64, 64), runner.buffer(in), out)) return;
    const auto got = runner.read(out);
    for (size_t m = 0; m < std::size(moves); ++m)
      for (int l = 0; l < 64; ++l) {
        const int from = moves[m].from(l), old = -1000 - l;
        int expected = from >= 0 ? in[static_cast<size_t>(from)] : moves[m].zero_outside ? 0 : old;
        if (!moves[m].written(l)) expected = old;
        EXPECT_EQ(got[m * 64 + static_cast<size_t>(l)], expected) << moves[m].name << " lane " << l;
      }
    results.add(got);
  });
}

TEST_P(Waves, DppScan) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    const auto in = random_integers<int32_t>(192, -1000, 1000, 6);
    const auto out = runner.empty<int32_t>(192);
    if (!runner.launch("dpp_scan", line(192, 64), runner.buffer(in), out)) return;
    const auto got = runner.read(out);
    for (size_t wave = 0; wave < 3; ++wave) {
      std::vector<int32_t> expected(64);
      std::partial_sum(in.begin() + static_cast<ptrdiff_t>(wave) * 64,
                       in.begin() + static_cast<ptrdiff_t>(wave + 1) * 64, expected.begin());
      EXPECT_TRUE(
          std::equal(expected.begin(), expected.end(), got.begin() + static_cast<ptrdiff_t>(wave) * 64));
    }
    results.add(got);
  });
}

TEST_P(Waves, ReductionsOfPartialWaves) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    for (const uint32_t size : {1u, 5u, 33u, 63u, 64u}) {
      const auto in = random_reals<float>(3 * size, size);
      const auto maxima = runner.empty<float>(3);
      const auto products = runner.empty<uint32_t>(3), ors = runner.empty<uint32_t>(3);
      if (!runner.launch("wave_reduce", line(3 * size, size), runner.buffer(in), maxima, products, ors))
        return;
      const auto got = runner.read(maxima);
      const auto got_ors = runner.read(ors);
      for (size_t g = 0; g < 3; ++g) {
        // With a size that is no power of two, lane 0 meets only the partners that are there.
        const auto first = in.begin() + static_cast<ptrdiff_t>(g * size);
        EXPECT_LE(got[g], *std::max_element(first, first + size));
        if (std::has_single_bit(size)) {
          EXPECT_EQ(got[g], *std::max_element(first, first + size));
          EXPECT_EQ(got_ors[g], size >= 32 ? 0x7fffffffu : (1u << size) - 1);
        }
      }
      results.add(got);
      results.add(runner.read(products));
    }
  });
}

TEST_P(Waves, Waterfall) {
  run_everywhere("wave", [](KernelRunner& runner, Results& results) {
    constexpr size_t n = 64 + 29;
    const auto keys = random_integers<uint32_t>(n, 0, 9, 7);
    const auto turns = runner.empty<uint32_t>(n), order = runner.empty<uint32_t>(n);
    if (!runner.launch("waterfall", line(n, 64), runner.buffer(keys), turns, order)) return;
    const auto got_turns = runner.read(turns), got_order = runner.read(order);
    for (size_t wave = 0; wave < 2; ++wave) {
      std::vector<uint32_t> seen;
      for (size_t i = wave * 64; i < std::min(n, wave * 64 + 64); ++i) {
        auto at = std::find(seen.begin(), seen.end(), keys[i]);
        if (at == seen.end()) at = seen.insert(seen.end(), keys[i]);
        EXPECT_EQ(got_order[i], at - seen.begin());
        EXPECT_EQ(got_turns[i], got_order[i] + 1);
      }
    }
    results.add(got_order);
  });
}

TEST(WavesOfGfx950, LaneSwaps) {
  const auto runner = KernelRunner::load(ASMEVO_BINARY_DIR "/kernels/wave.gfx950.co");
  ASSERT_NE(runner, nullptr);
  const auto in = random_bits<uint32_t>(128, 8);
  const auto out = runner->empty<uint32_t>(256);
  ASSERT_TRUE(runner->launch("lane_swaps", line(64, 64), runner->buffer(in), out));
  const auto got = runner->read(out);
  // 32: the upper half of the first register changes places with the lower half of the second. 16: the odd
  // rows of the first with the even rows of the second.
  for (size_t l = 0; l < 64; ++l) {
    EXPECT_EQ(got[l], l < 32 ? in[l] : in[64 + l - 32]);
    EXPECT_EQ(got[64 + l], l < 32 ? in[l + 32] : in[64 + l]);
    EXPECT_EQ(got[128 + l], l / 16 % 2 == 0 ? in[l] : in[64 + l - 16]);
    EXPECT_EQ(got[192 + l], l / 16 % 2 == 0 ? in[l + 16] : in[64 + l]);
  }
}

} // namespace
} // namespace asmevo::test
