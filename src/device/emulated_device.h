// The device that is everywhere: code objects run on the CPU by the emulator.
#pragma once

#include "device/device.h"
#include "emulator/address_space.h"
#include "emulator/dispatch.h"
#include "timing/dispatch_trace.h"

namespace asmevo::device {

/// How launches run; may be changed between them.
using EmulatorOptions = emulator::RunOptions;

class EmulatedDevice final : public Device {
 public:
  /// Environment: the CPU lacks the vector instructions that the emulator is compiled for.
  static Result<std::unique_ptr<EmulatedDevice>> create(const isa::Target&, EmulatorOptions = {});

  std::string name() const override;
  isa::Target target() const override { return target_; }
  Result<std::shared_ptr<Module>> load(std::shared_ptr<const codeobject::CodeObject>) override;
  Result<uint64_t> allocate(std::string_view name, uint64_t bytes, uint64_t address = 0) override;
  void release(uint64_t address) override;
  Status write(uint64_t address, std::span<const uint8_t> bytes) override;
  Status read(uint64_t address, std::span<uint8_t> bytes) override;
  Result<LaunchOutcome> launch(Module&, std::string_view kernel, const LaunchShape&,
                               const LaunchArguments&) override;

  // --- what only an emulator can do
  /// Memory whose pages are filled when they are first touched.
  Result<uint64_t> allocate_filled(std::string_view name, uint64_t bytes, emulator::PageFill,
                                   uint64_t address = 0,
                                   emulator::RegionAccess = emulator::RegionAccess::ReadWrite);
  /// What the cycle model needs of a launch. Memory is as before afterwards. An Error if it faults, too.
  Result<timing::DispatchTrace> trace(Module&, std::string_view kernel, const LaunchShape&,
                                      const LaunchArguments&, const timing::Machine&,
                                      const timing::TraceOptions&);
  /// Guest address minus address in the object, of a module that an emulated device has loaded.
  static uint64_t bias(const Module&);
  emulator::AddressSpace& memory() { return memory_; }
  EmulatorOptions& options() { return options_; }

 private:
  EmulatedDevice(const isa::Target& target, EmulatorOptions options)
      : target_(target), options_(std::move(options)) {}
  isa::Target target_;
  EmulatorOptions options_;
  emulator::AddressSpace memory_;
};

} // namespace asmevo::device
