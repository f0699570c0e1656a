// The few functions of the HIP runtime that rocPRIM's host code calls, on the emulated device: programs
// compiled by clang as HIP, with their code objects inside, run unchanged.
#pragma once

#include "device/emulated_device.h"

#include <string>

namespace asmevo::test {

/// From now on HIP means this device. `failure` collects, in one line each, what went wrong in calls that
/// have no way to say so.
struct HipOnEmulator {
  explicit HipOnEmulator(const isa::Target&, device::EmulatorOptions);
  ~HipOnEmulator();
  HipOnEmulator(const HipOnEmulator&) = delete;
  HipOnEmulator& operator=(const HipOnEmulator&) = delete;

  std::unique_ptr<device::EmulatedDevice> device;
  std::string failures;
  uint64_t launches = 0, instructions = 0;
};

} // namespace asmevo::test
