// What runs kernels. The emulated device is everywhere; a GPU through HIP will be another implementation.
#pragma once

#include "base/result.h"
#include "codeobject/code_object.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::device {

/// A kernel of a code object that the device has loaded.
class Module {
 public:
  virtual ~Module() = default;
  virtual const codeobject::CodeObject& object() const = 0;
};

struct LaunchShape {
  std::array<uint64_t, 3> grid{1, 1, 1};      // work-items
  std::array<uint32_t, 3> workgroup{1, 1, 1}; // work-items
  uint32_t dynamic_lds = 0;                   // bytes beyond the kernel's own

  /// In each direction; the last one may be partial.
  std::array<uint64_t, 3> workgroups() const {
    std::array<uint64_t, 3> count{};
    for (size_t d = 0; d < 3; ++d) count[d] = (grid[d] + workgroup[d] - 1) / workgroup[d];
    return count;
  }
  uint64_t workgroup_count() const {
    const auto count = workgroups();
    return count[0] * count[1] * count[2];
  }
};

struct LaunchArguments {
  std::vector<uint8_t> kernarg; // explicit arguments, or the whole segment
  bool keep_hidden = false;     // the segment is whole and its hidden arguments are to stay
  // Hidden arguments, by value kind ("hidden_grid_dims"), that are not to have the value the ABI gives them.
  std::vector<std::pair<std::string, uint64_t>> hidden;
  uint64_t address = 0; // where the segment must be; 0: anywhere
};

/// How the launch ended. Anything but Completed carries one line that says where and why.
struct LaunchOutcome {
  enum class Kind : uint8_t { Completed, Fault, GuardDamaged, Hang, TimeLimit } kind = Kind::Completed;
  std::string text;
  uint64_t pc = 0;           // in the code object's addresses
  uint64_t address = 0;      // of the faulting access
  int lane = -1;             // -1: none in particular
  uint64_t instructions = 0; // executed by all waves; 0 where the device does not count
  std::vector<std::pair<std::string, uint64_t>> instructions_by_family;
  bool completed() const { return kind == Kind::Completed; }
};

class Device {
 public:
  virtual ~Device() = default;
  /// "emulator (gfx942)"
  virtual std::string name() const = 0;
  virtual isa::Target target() const = 0;

  /// Unsupported: code for another target.
  virtual Result<std::shared_ptr<Module>> load(std::shared_ptr<const codeobject::CodeObject>) = 0;

  /// Memory of `bytes` bytes. `address` 0: anywhere; otherwise exactly there, or BadInput.
  virtual Result<uint64_t> allocate(std::string_view name, uint64_t bytes, uint64_t address = 0) = 0;
  virtual void release(uint64_t address) = 0;
  virtual Status write(uint64_t address, std::span<const uint8_t> bytes) = 0;
  virtual Status read(uint64_t address, std::span<uint8_t> bytes) = 0;

  /// Runs one kernel to its end. An Error is about the request (unknown kernel, wrong sizes); what goes wrong
  /// while it runs is an outcome.
  virtual Result<LaunchOutcome> launch(Module&, std::string_view kernel, const LaunchShape&,
                                       const LaunchArguments&) = 0;
};

} // namespace asmevo::device
