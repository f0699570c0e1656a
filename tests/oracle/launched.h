// Runs a launch file's text with a sample kernel on the emulator.
#pragma once

#include "base/files.h"
#include "device/emulated_device.h"
#include "oracle/launch_run.h"

#include <gtest/gtest.h>

#include <bit>

namespace asmevo::oracle::testing {

/// A device that is an emulator but does not say so: buffers are blocks of plain memory, as on a GPU.
class PlainDevice final : public device::Device {
 public:
  explicit PlainDevice(std::unique_ptr<device::EmulatedDevice> emulated) : emulated_(std::move(emulated)) {}
  std::string name() const override { return "plain"; }
  isa::Target target() const override { return emulated_->target(); }
  Result<std::shared_ptr<device::Module>>
  load(std::shared_ptr<const codeobject::CodeObject> object) override {
    return emulated_->load(std::move(object));
  }
  Result<uint64_t> allocate(std::string_view buffer, uint64_t bytes, uint64_t address) override {
    return emulated_->allocate(buffer, bytes, address);
  }
  void release(uint64_t address) override { emulated_->release(address); }
  Status write(uint64_t address, std::span<const uint8_t> bytes) override {
    return emulated_->write(address, bytes);
  }
  Status read(uint64_t address, std::span<uint8_t> bytes) override { return emulated_->read(address, bytes); }
  Result<device::LaunchOutcome> launch(device::Module& module, std::string_view kernel,
                                       const device::LaunchShape& shape,
                                       const device::LaunchArguments& arguments) override {
    return emulated_->launch(module, kernel, shape, arguments);
  }

 private:
  std::unique_ptr<device::EmulatedDevice> emulated_;
};

class Launched {
 public:
  struct Options {
    std::string sample = "saxpy", target = "gfx942", shape = {}, kernel = {};
    bool plain = false; // PlainDevice
    uint64_t seed = 0;
    device::EmulatorOptions emulator{};
  };

  explicit Launched(const std::string& text) : Launched(text, Options{}) {}
  Launched(const std::string& text, Options options) { result_ = run(text, std::move(options)); }

  const Status& result() const { return result_; }
  /// Of a launch that could be tried.
  const LaunchReport& report() const { return report_; }
  const LaunchMemory& memory() const { return *memory_; }
  std::string error() const { return result_ ? "" : result_.error().message; }

  std::vector<double> values(const std::string& buffer) const {
    const size_t index = *plan_.find(buffer);
    const Layout& layout = plan_.buffers[index].layout;
    std::vector<double> list;
    const auto codes = memory_->codes(index, 0, layout.count());
    EXPECT_TRUE(codes);
    for (const uint64_t code : *codes) list.push_back(decode(layout.type(), code));
    return list;
  }

 private:
  Status run(const std::string& text, Options options) {
    ASMEVO_TRY(Bytes bytes, read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/" + options.sample + "." +
                                      options.target + ".co"));
    ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
    ASMEVO_TRY(LaunchSpec spec, LaunchSpec::parse(text, "launch.toml"));
    ASMEVO_TRY(plan_, LaunchPlan::make(std::move(spec), options.shape, options.seed));
    ASMEVO_TRY(auto emulated, device::EmulatedDevice::create(object.target(), options.emulator));
    if (options.plain)
      device_ = std::make_unique<PlainDevice>(std::move(emulated));
    else
      device_ = std::move(emulated);
    ASMEVO_TRY(module_, device_->load(std::make_shared<const codeobject::CodeObject>(std::move(object))));
    ASMEVO_TRY(memory_, LaunchMemory::create(plan_, *device_));
    LaunchRunOptions run_options;
    run_options.kernel = options.kernel;
    ASMEVO_TRY(report_, run_launch(plan_, *memory_, *module_, run_options));
    return {};
  }

  Status result_;
  LaunchPlan plan_;
  std::unique_ptr<device::Device> device_;
  std::shared_ptr<device::Module> module_;
  std::unique_ptr<LaunchMemory> memory_;
  LaunchReport report_;
};

} // namespace asmevo::oracle::testing
