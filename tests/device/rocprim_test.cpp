// rocPRIM's scans, reductions and radix sorts against std:: algorithms. Its headers, kernels and host code
// are Debian's, unchanged, compiled by clang with the test (device/rocprim.cmake); device/hip_on_emulator.h
// stands in for the HIP runtime.
#include "device/kernel_runner.h"

#if ASMEVO_HAS_ROCPRIM
#include "device/hip_on_emulator.h"
#include "device/rocprim/algorithms.h"

#include <algorithm>
#include <numeric>
#endif

namespace asmevo::test {
namespace {

#if ASMEVO_HAS_ROCPRIM

class Rocprim : public testing::TestWithParam<const char*> {
 protected:
  void start(unsigned threads, uint64_t seed) {
    hip_.reset();
    device::EmulatorOptions options;
    options.threads = threads;
    options.seed = seed;
    options.most_instructions = 200'000'000;
    const auto target = isa::Target::from_id(GetParam());
    ASSERT_TRUE(target) << target.error().message;
    hip_ = std::make_unique<HipOnEmulator>(*target, std::move(options));
    ASSERT_NE(hip_->device, nullptr) << hip_->failures;
  }

  template <class T>
  T* empty(size_t count) {
    const auto address = hip_->device->allocate("buffer", std::max<size_t>(1, count) * sizeof(T));
    EXPECT_TRUE(address) << address.error().message;
    return reinterpret_cast<T*>(*address);
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* at = empty<T>(values.size());
    EXPECT_TRUE(
        hip_->device->write(reinterpret_cast<uint64_t>(at),
                            {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)}));
    return at;
  }
  template <class T>
  std::vector<T> read(const T* at, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(hip_->device->read(reinterpret_cast<uint64_t>(at),
                                   {reinterpret_cast<uint8_t*>(values.data()), count * sizeof(T)}));
    return values;
  }

  /// Asks a device-wide algorithm for the bytes it needs, then runs it.
  template <class Call>
  void run(const Call& call) {
    size_t bytes = 0;
    ASSERT_EQ(call(nullptr, bytes), 0);
    auto* temporary = empty<uint8_t>(bytes);
    const uint64_t before = hip_->launches;
    ASSERT_EQ(call(temporary, bytes), 0) << hip_->failures;
    EXPECT_EQ(hip_->failures, "");
    EXPECT_GT(hip_->launches, before);
  }

  /// Under several schedules.
  template <class Body>
  void each_schedule(const Body& body) {
    for (const auto& [threads, seed] : {std::pair{1u, 0u}, {2u, 0u}, {2u, 5u}}) {
      start(threads, seed);
      if (HasFatalFailure()) return;
      body();
      if (HasFailure()) FAIL() << threads << " threads, seed " << seed;
    }
  }

  std::unique_ptr<HipOnEmulator> hip_;
};
INSTANTIATE_TEST_SUITE_P(Targets, Rocprim, testing::Values("gfx90a", "gfx942"), target_name);

TEST_P(Rocprim, DeviceScan) {
  each_schedule([&] {
    for (const size_t n : {1u, 1000u, 20011u}) {
      const auto in = random_integers<int32_t>(n, -1000, 1000, n);
      int32_t* out = empty<int32_t>(n);
      const int32_t* source = upload(in);
      run([&](void* t, size_t& b) { return rocprim_calls::inclusive_sum(t, b, source, out, n); });
      std::vector<int32_t> expected(n);
      std::inclusive_scan(in.begin(), in.end(), expected.begin());
      EXPECT_EQ(read(out, n), expected) << n;
    }
    constexpr size_t n = 9001;
    const auto in = random_reals<double>(n, 2);
    const double* source = upload(in);
    double* out = empty<double>(n);
    run([&](void* t, size_t& b) { return rocprim_calls::exclusive_maximum(t, b, source, out, -0.5, n); });
    std::vector<double> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), -0.5,
                        [](double a, double b) { return std::max(a, b); });
    EXPECT_EQ(read(out, n), expected);
  });
}

TEST_P(Rocprim, DeviceReduce) {
  each_schedule([&] {
    for (const size_t n : {1u, 777u, 30000u}) {
      const auto in = random_bits<uint64_t>(n, n);
      const uint64_t* source = upload(in);
      uint64_t* out = empty<uint64_t>(1);
      run([&](void* t, size_t& b) { return rocprim_calls::reduce_sum(t, b, source, out, n); });
      EXPECT_EQ(read(out, 1)[0], std::reduce(in.begin(), in.end())) << n;

      const auto reals = random_reals<float>(n, n);
      const float* real_source = upload(reals);
      float* least = empty<float>(1);
      run([&](void* t, size_t& b) {
        return rocprim_calls::reduce_minimum(t, b, real_source, least, 0.25f, n);
      });
      EXPECT_EQ(read(least, 1)[0], std::min(0.25f, *std::ranges::min_element(reals))) << n;
    }
  });
}

TEST_P(Rocprim, DeviceRadixSort) {
  each_schedule([&] {
    // One workgroup; blocks that are sorted and then merged; passes over digits.
    for (const size_t n : {1u, 1001u, 9999u}) {
      const auto in = random_bits<uint32_t>(n, n);
      auto expected = in;
      std::ranges::sort(expected);
      const uint32_t* source = upload(in);
      uint32_t* out = empty<uint32_t>(n);
      run([&](void* t, size_t& b) { return rocprim_calls::sort_keys(t, b, source, out, n); });
      EXPECT_EQ(read(out, n), expected) << n;
      uint32_t* by_digits = empty<uint32_t>(n);
      run([&](void* t, size_t& b) { return rocprim_calls::sort_keys_by_digits(t, b, source, by_digits, n); });
      EXPECT_EQ(read(by_digits, n), expected) << n << " by digits";
    }
  });
}

TEST_P(Rocprim, DeviceRadixSortOfPairs) {
  each_schedule([&] {
    constexpr size_t n = 6007;
    const auto whole = random_integers<int32_t>(n, -500, 500, 3); // keys that occur several times
    const std::vector<float> keys(whole.begin(), whole.end());
    std::vector<int32_t> values(n);
    std::iota(values.begin(), values.end(), 0);
    const float* key_source = upload(keys);
    const int32_t* value_source = upload(values);
    float* keys_out = empty<float>(n);
    int32_t* values_out = empty<int32_t>(n);
    run([&](void* t, size_t& b) {
      return rocprim_calls::sort_pairs_descending(t, b, key_source, keys_out, value_source, values_out, n);
    });
    std::ranges::stable_sort(values, [&](int32_t a, int32_t b) {
      return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)];
    });
    EXPECT_EQ(read(values_out, n), values);
    const auto sorted = read(keys_out, n);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(sorted[i], keys[static_cast<size_t>(values[i])]);
  });
}

TEST_P(Rocprim, BlockAlgorithms) {
  using rocprim_calls::block_items;
  each_schedule([&] {
    constexpr size_t blocks = 3, n = blocks * block_items;
    const auto in = random_integers<int32_t>(n, -1000, 1000, 4);
    const auto reals = random_reals<float>(n, 5);
    const auto keys = random_bits<uint16_t>(n, 6);
    int32_t *sums = empty<int32_t>(n), *order = empty<int32_t>(n);
    float* maxima = empty<float>(blocks);
    uint16_t* sorted = empty<uint16_t>(n);
    rocprim_calls::block_inclusive_sum(upload(in), sums, blocks);
    rocprim_calls::block_reduce_maximum(upload(reals), maxima, blocks);
    rocprim_calls::block_sort(upload(keys), sorted, order, blocks);
    ASSERT_EQ(hip_->failures, "");
    ASSERT_EQ(hip_->launches, 3u);
    const auto got_sums = read(sums, n), got_order = read(order, n);
    const auto got_maxima = read(maxima, blocks);
    const auto got_sorted = read(sorted, n);
    for (size_t block = 0; block < blocks; ++block) {
      const size_t first = block * block_items, last = first + block_items;
      std::vector<int32_t> expected(block_items), positions(block_items);
      std::inclusive_scan(&in[first], &in[first] + block_items, expected.begin());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), &got_sums[first]));
      EXPECT_EQ(got_maxima[block], *std::max_element(&reals[first], &reals[first] + block_items));
      std::iota(positions.begin(), positions.end(), 0);
      std::ranges::stable_sort(positions, {},
                               [&](int32_t p) { return keys[first + static_cast<size_t>(p)]; });
      EXPECT_TRUE(std::equal(positions.begin(), positions.end(), &got_order[first]));
      for (size_t i = first; i < last; ++i)
        EXPECT_EQ(got_sorted[i], keys[first + static_cast<size_t>(positions[i - first])]);
    }
  });
}

#else

TEST(Rocprim, Skipped) {
  GTEST_SKIP() << "librocprim-dev and rocm-device-libs were not installed when the tests were configured";
}

#endif

} // namespace
} // namespace asmevo::test
