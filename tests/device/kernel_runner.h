// Runs the sample kernels on the emulated device: as compiled in several ways, under several schedules.
#pragma once

#include "base/files.h"
#include "device/emulated_device.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::test {

/// Memory of the device that holds `count` values.
template <class T>
struct Buffer {
  uint64_t address = 0;
  size_t count = 0;
};

/// One loaded code object on a device of its own.
class KernelRunner {
 public:
  static std::unique_ptr<KernelRunner> load(const std::string& path, device::EmulatorOptions options = {}) {
    auto bytes = read_file(path);
    if (!bytes) {
      ADD_FAILURE() << bytes.error().message;
      return nullptr;
    }
    return load(std::move(*bytes), std::move(options));
  }

  static std::unique_ptr<KernelRunner> load(Bytes bytes, device::EmulatorOptions options = {}) {
    auto object = codeobject::CodeObject::parse(std::move(bytes));
    if (!object) {
      ADD_FAILURE() << object.error().message;
      return nullptr;
    }
    auto shared = std::make_shared<codeobject::CodeObject>(std::move(*object));
    auto device = device::EmulatedDevice::create(shared->target(), std::move(options));
    if (!device) {
      ADD_FAILURE() << device.error().message;
      return nullptr;
    }
    auto module = (*device)->load(shared);
    if (!module) {
      ADD_FAILURE() << module.error().message;
      return nullptr;
    }
    return std::unique_ptr<KernelRunner>(new KernelRunner(std::move(*device), std::move(*module)));
  }

  device::EmulatedDevice& device() { return *device_; }
  const codeobject::CodeObject& object() const { return module_->object(); }
  bool has(std::string_view kernel) const { return object().find_kernel(kernel) != nullptr; }

  template <class T>
  Buffer<T> buffer(const std::vector<T>& contents) {
    const Buffer<T> b = empty<T>(contents.size());
    const auto written = device_->write(b.address, bytes_of(contents));
    EXPECT_TRUE(written) << written.error().message;
    return b;
  }
  /// Poisoned, so that what a kernel leaves out shows.
  template <class T>
  Buffer<T> empty(size_t count) {
    const auto address = device_->allocate("buffer", count * sizeof(T));
    EXPECT_TRUE(address) << address.error().message;
    const Buffer<T> b{address.value_or(0), count};
    const Bytes poison(count * sizeof(T), 0xa5);
    EXPECT_TRUE(device_->write(b.address, poison));
    return b;
  }
  template <class T>
  Buffer<T> zeros(size_t count) {
    return buffer(std::vector<T>(count));
  }
  template <class T>
  std::vector<T> read(Buffer<T> b) {
    std::vector<T> contents(b.count);
    EXPECT_TRUE(
        device_->read(b.address, {reinterpret_cast<uint8_t*>(contents.data()), contents.size() * sizeof(T)}));
    return contents;
  }

  /// Runs a kernel with these arguments (buffers, scalars, structs) to its end.
  template <class... Arguments>
  bool launch(std::string_view kernel, const device::LaunchShape& shape, const Arguments&... arguments) {
    device::LaunchArguments packed;
    (append(packed.kernarg, arguments), ...);
    const auto outcome = device_->launch(*module_, kernel, shape, packed);
    if (!outcome) {
      ADD_FAILURE() << kernel << ": " << outcome.error().message;
      return false;
    }
    instructions += outcome->instructions;
    EXPECT_TRUE(outcome->completed()) << kernel << ": " << outcome->text;
    return outcome->completed();
  }

  uint64_t instructions = 0; // of all launches

 private:
  KernelRunner(std::unique_ptr<device::EmulatedDevice> device, std::shared_ptr<device::Module> module)
      : device_(std::move(device)), module_(std::move(module)) {}

  template <class T>
  static std::span<const uint8_t> bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
  }
  template <class T>
  static void append(std::vector<uint8_t>& kernarg, const T& value) {
    while (kernarg.size() % alignof(T) != 0) kernarg.push_back(0);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    kernarg.insert(kernarg.end(), bytes, bytes + sizeof(T));
  }
  template <class T>
  static void append(std::vector<uint8_t>& kernarg, const Buffer<T>& b) {
    append(kernarg, b.address);
  }

  std::unique_ptr<device::EmulatedDevice> device_;
  std::shared_ptr<device::Module> module_;
};

/// A one-dimensional grid.
inline device::LaunchShape line(uint64_t work_items, uint32_t workgroup, uint32_t dynamic_lds = 0) {
  return {{work_items, 1, 1}, {workgroup, 1, 1}, dynamic_lds};
}

/// What a run left, to be compared with other runs of the same.
class Results {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    bytes_.insert(bytes_.end(), bytes, bytes + values.size() * sizeof(T));
  }
  bool operator==(const Results&) const = default;

 private:
  std::vector<uint8_t> bytes_;
};

/// Tests of sample kernels, once a target.
class SampleTest : public testing::TestWithParam<const char*> {
 protected:
  /// Launches kernels of a sample, compares what they leave with a reference, and adds to the results what
  /// does not depend on the order in which work-items run.
  using Run = std::function<void(KernelRunner&, Results&)>;

  /// `run` on the code as usually compiled, under schedules that must all give the same results, and on the
  /// code compiled otherwise: without optimisation, with little, for other code object versions.
  void run_everywhere(std::string_view sample, const Run& run) const {
    struct Schedule {
      unsigned threads;
      uint64_t seed;
    };
    const std::string usual = fmt::format("{}/kernels/{}.{}.co", ASMEVO_BINARY_DIR, sample, GetParam());
    Results first;
    run_once(usual, 1, 0, run, first);
    for (const auto [threads, seed] : {Schedule{2, 0}, Schedule{1, 1}, Schedule{2, 77}}) {
      Results again;
      run_once(usual, threads, seed, run, again);
      EXPECT_TRUE(again == first) << usual << ": other results with " << threads << " threads, seed " << seed;
      if (HasFailure()) return;
    }
    for (const char* variant : {"O0.v5", "O1.v5", "O3.v4", "O3.v6"}) {
      Results other;
      run_once(fmt::format("{}/kernels/matrix/{}.{}.{}.co", ASMEVO_BINARY_DIR, sample, GetParam(), variant),
               1, 0, run, other);
    }
  }

 private:
  static void run_once(const std::string& path, unsigned threads, uint64_t seed, const Run& run,
                       Results& results) {
    SCOPED_TRACE(fmt::format("{}, {} threads, seed {}", path, threads, seed));
    device::EmulatorOptions options;
    options.threads = threads;
    options.seed = seed;
    options.most_instructions = 50'000'000; // the kernels are small: a hang is to show at once
    const auto runner = KernelRunner::load(path, std::move(options));
    if (runner != nullptr) run(*runner, results);
  }
};

inline constexpr const char* all_targets[] = {"gfx90a", "gfx942", "gfx950"};
inline std::string target_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define ON_ALL_TARGETS(suite)                                                                                \
  INSTANTIATE_TEST_SUITE_P(Targets, suite, testing::ValuesIn(asmevo::test::all_targets),                     \
                           asmevo::test::target_name)

/// Whole numbers from `least` to `most` as values of any type; the same sequence for the same seed.
template <class T>
std::vector<T> random_integers(size_t count, int64_t least, int64_t most, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> pick(least, most);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(pick(random));
  return values;
}
/// Numbers between -1 and 1.
template <class T>
std::vector<T> random_reals(size_t count, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> pick(-1, 1);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(pick(random));
  return values;
}
template <class T>
std::vector<T> random_bits(size_t count, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(random());
  return values;
}

} // namespace asmevo::test
