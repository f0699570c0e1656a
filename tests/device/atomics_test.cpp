// Atomics and reductions: results that do not depend on the order in which they happen, and properties of
// those that do.
#include "device/kernel_runner.h"
#include "reference/number_formats.h"

#include <algorithm>
#include <numeric>

namespace asmevo::test {
namespace {

class Atomics : public SampleTest {};
ON_ALL_TARGETS(Atomics);

TEST_P(Atomics, Histograms) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 1000, bin_count = 37;
    const auto in = random_bits<uint8_t>(n, 1);
    const auto source = runner.buffer(in);
    const auto bins = runner.zeros<uint32_t>(256);
    const auto wide = runner.zeros<uint64_t>(bin_count);
    if (!runner.launch("histogram_global", line(n, 128), source, bins, n)) return;
    if (!runner.launch("histogram_wide", line(4 * 96, 96, bin_count * 8), source, wide, n, bin_count)) return;
    std::vector<uint32_t> expected(256);
    std::vector<uint64_t> expected_wide(bin_count);
    for (size_t i = 0; i < n; ++i) {
      ++expected[in[i]];
      expected_wide[in[i] % bin_count] += 1 + (uint64_t{i} << 32);
    }
    EXPECT_EQ(runner.read(bins), expected);
    EXPECT_EQ(runner.read(wide), expected_wide);
    results.add(runner.read(wide));
  });
}

TEST_P(Atomics, FloatSums) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 700;
    // Whole numbers small enough that no sum is ever rounded, in any order.
    const auto in = random_integers<float>(n, -20, 20);
    const auto f32 = runner.zeros<float>(16);
    const auto f64 = runner.zeros<double>(16);
    const auto f16 = runner.zeros<uint32_t>(16);
    if (!runner.launch("float_bins", line(n, 128), runner.buffer(in), f32, f64, f16, n)) return;
    const auto got32 = runner.read(f32);
    const auto got64 = runner.read(f64);
    const auto got16 = runner.read(f16);
    for (size_t bin = 0; bin < 16; ++bin) {
      double sum = 0, count = 0;
      for (size_t i = bin; i < n; i += 16, ++count) sum += in[i];
      EXPECT_EQ(got32[bin], sum);
      EXPECT_EQ(got64[bin], sum);
      EXPECT_EQ(reference::decode(reference::f16, got16[bin] & 0xffff), sum);
      EXPECT_EQ(reference::decode(reference::f16, got16[bin] >> 16), count);
    }
    results.add(got32);
    results.add(got64);
    results.add(got16);
  });
}

/// Rounded sums depend on the order, but not by more than rounding.
TEST_P(Atomics, FloatSumsThatRound) {
  run_everywhere("atomics", [](KernelRunner& runner, Results&) {
    constexpr uint32_t n = 700;
    const auto in = random_reals<float>(n, 2);
    const auto f32 = runner.zeros<float>(16);
    const auto f64 = runner.zeros<double>(16);
    const auto f16 = runner.zeros<uint32_t>(16);
    if (!runner.launch("float_bins", line(n, 128), runner.buffer(in), f32, f64, f16, n)) return;
    const auto got32 = runner.read(f32);
    const auto got64 = runner.read(f64);
    const auto got16 = runner.read(f16);
    for (size_t bin = 0; bin < 16; ++bin) {
      double sum = 0, size = 0;
      for (size_t i = bin; i < n; i += 16) {
        sum += in[i];
        size += std::abs(in[i]);
      }
      EXPECT_NEAR(got32[bin], sum, size * 0x1p-20);
      EXPECT_NEAR(got64[bin], sum, size * 0x1p-48);
      EXPECT_NEAR(reference::decode(reference::f16, got16[bin] & 0xffff), sum, size * 0x1p-7);
    }
  });
}

struct Extremes {
  int32_t least = INT32_MAX, most = INT32_MIN;
  uint32_t least_unsigned = UINT32_MAX, most_unsigned = 0;
  int64_t least_long = INT64_MAX, most_long = INT64_MIN;
  double least_double = 1e300, most_double = -1e300;
  float least_float = 1e30f, most_float = -1e30f;
  uint32_t all_bits = UINT32_MAX, any_bit = 0, odd_bits = 0, unused = 0;
  uint64_t any_long = 0;
  bool operator==(const Extremes&) const = default;
};

TEST_P(Atomics, ExtremesAndBits) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 150;
    const auto in = random_integers<int32_t>(n, -70000, 60000, 3);
    const auto out = runner.buffer(std::vector<Extremes>(1));
    if (!runner.launch("extremes", line(192, 64), runner.buffer(in), out, n)) return;
    Extremes e;
    for (const int32_t v : in) {
      const auto u = static_cast<uint32_t>(v);
      e.least = std::min(e.least, v);
      e.most = std::max(e.most, v);
      e.least_unsigned = std::min(e.least_unsigned, u);
      e.most_unsigned = std::max(e.most_unsigned, u);
      e.least_long = std::min(e.least_long, int64_t{v} * v - 1000);
      e.most_long = std::max(e.most_long, int64_t{v} * 5);
      e.least_double = std::min(e.least_double, v * 0.5);
      e.most_double = std::max(e.most_double, v * 0.25);
      e.least_float = std::min(e.least_float, static_cast<float>(v));
      e.most_float = std::max(e.most_float, static_cast<float>(v) * 2);
      e.all_bits &= u | 0xff;
      e.any_bit |= u & 0xff00ff;
      e.odd_bits ^= u;
      e.any_long |= uint64_t{1} << (u % 64);
    }
    const Extremes got = runner.read(out)[0];
    EXPECT_TRUE(got == e);
    EXPECT_EQ(got.least, e.least);
    EXPECT_EQ(got.least_double, e.least_double);
    EXPECT_EQ(got.any_long, e.any_long);
    results.add(runner.read(out));
  });
}

TEST_P(Atomics, ProductsByCompareAndSwap) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 150;
    auto in = random_bits<uint32_t>(n, 4);
    for (auto& v : in) v |= 1;
    const auto out = runner.buffer(std::vector<uint32_t>(4, 1));
    const auto out64 = runner.buffer(std::vector<uint64_t>(4, 1));
    if (!runner.launch("products", line(192, 64), runner.buffer(in), out, out64, n)) return;
    std::vector<uint32_t> expected(4, 1);
    std::vector<uint64_t> expected64(4, 1);
    for (size_t i = 0; i < n; ++i) {
      expected[i % 4] *= in[i];
      expected64[i % 4] *= in[i];
    }
    EXPECT_EQ(runner.read(out), expected);
    EXPECT_EQ(runner.read(out64), expected64);
    results.add(runner.read(out64));
  });
}

TEST_P(Atomics, TicketsAndCounters) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 333;
    const auto next = runner.zeros<uint32_t>(1), wrapped = runner.zeros<uint32_t>(1),
               down = runner.zeros<uint32_t>(1);
    const auto drawn = runner.empty<uint32_t>(n);
    if (!runner.launch("tickets", line(n, 64), next, drawn, wrapped, down, n)) return;
    auto got = runner.read(drawn);
    std::ranges::sort(got);
    for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(got[i], i);
    EXPECT_EQ(runner.read(next)[0], n);
    EXPECT_EQ(runner.read(wrapped)[0], n % 7);
    EXPECT_EQ(runner.read(down)[0], (7 - n % 7) % 7);
    results.add(runner.read(wrapped));
  });
}

TEST_P(Atomics, LinkedListReachesAll) {
  run_everywhere("atomics", [](KernelRunner& runner, Results&) {
    constexpr uint32_t n = 257;
    const auto head = runner.buffer(std::vector<int32_t>{-1});
    const auto next = runner.empty<int32_t>(n);
    if (!runner.launch("linked_list", line(320, 64), head, next, n)) return;
    const auto links = runner.read(next);
    std::vector<bool> seen(n);
    size_t length = 0;
    for (int32_t at = runner.read(head)[0]; at >= 0 && length <= n;
         at = links[static_cast<size_t>(at)], ++length) {
      ASSERT_LT(static_cast<uint32_t>(at), n);
      seen[static_cast<size_t>(at)] = true;
    }
    EXPECT_EQ(length, n);
    EXPECT_EQ(std::ranges::count(seen, true), n);
  });
}

TEST_P(Atomics, LastWorkgroupAddsUp) {
  run_everywhere("atomics", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t groups = 9;
    const auto in = random_integers<int32_t>(groups * 64, -1000, 1000, 5);
    const auto parts = runner.empty<int32_t>(groups), total = runner.empty<int32_t>(1);
    const auto finished = runner.zeros<uint32_t>(1);
    if (!runner.launch("last_group_sums", line(groups * 64, 64), runner.buffer(in), parts, finished, total,
                       groups))
      return;
    EXPECT_EQ(runner.read(total)[0], std::accumulate(in.begin(), in.end(), 0));
    results.add(runner.read(parts));
    results.add(runner.read(total));
  });
}

TEST_P(Atomics, Reductions) {
  run_everywhere("reduce", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t n = 1111;
    const auto in = random_reals<float>(n, 6);
    const auto sums = runner.empty<float>(3);
    if (!runner.launch("reduce_lds", line(3 * 256, 256), runner.buffer(in), sums, n)) return;
    const auto got = runner.read(sums);
    for (size_t g = 0; g < 3; ++g) {
      double sum = 0;
      for (size_t i = g * 256; i < n && i < g * 256 + 256; ++i) sum += in[i];
      EXPECT_NEAR(got[g], sum, 1e-4);
    }
    results.add(got);

    const auto whole = random_integers<int32_t>(5 * 64, -100000, 100000, 7);
    const auto total = runner.zeros<int32_t>(1);
    if (!runner.launch("reduce_wave", line(5 * 64, 64), runner.buffer(whole), total)) return;
    EXPECT_EQ(runner.read(total)[0], std::accumulate(whole.begin(), whole.end(), 0));

    constexpr uint32_t bin_count = 50;
    const auto bytes = random_bits<uint8_t>(n, 8);
    const auto bins = runner.zeros<uint32_t>(bin_count);
    if (!runner.launch("histogram", line(64 * 70, 70, bin_count * 4), runner.buffer(bytes), bins, n,
                       bin_count))
      return;
    std::vector<uint32_t> expected(bin_count);
    for (const uint8_t b : bytes) ++expected[b % bin_count];
    EXPECT_EQ(runner.read(bins), expected);
  });
}

} // namespace
} // namespace asmevo::test
