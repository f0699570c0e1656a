// Probe runs: a kernel on the emulator with a huge region behind every pointer, watched.
#pragma once

#include "device/emulated_device.h"
#include "infer/kernarg_fields.h"
#include "oracle/buffer_init.h"

#include <map>

namespace asmevo::infer {

/// What a region holds at first; the pointer is where its first element is.
struct RegionContents {
  oracle::ElementType type;
  oracle::Init init;
};

/// Workgroups that a probe runs of a larger grid: which bytes are touched shows at its corners, and what is
/// done to them in any.
inline constexpr uint64_t most_probed_workgroups = 256;

struct ProbeSetup {
  std::array<uint64_t, 3> workgroups{1, 1, 1};
  std::array<uint32_t, 3> workgroup{1, 1, 1};
  uint32_t dynamic_lds = 0;
  std::map<unsigned, RegionContents> contents; // of regions; none: zeros
  uint64_t most_instructions = 0;              // of a workgroup
  size_t most_pages = 0;                       // of 4 KiB that a run may touch
  std::vector<uint64_t> only;                  // workgroups, linear; empty: probed_workgroups
};

/// The workgroups that stand for a grid of more: its corners, and others anywhere. Empty: all of them are
/// run.
std::vector<uint64_t> probed_workgroups(const std::array<uint64_t, 3>& grid);

struct ProbeRun {
  device::LaunchOutcome outcome;
  Observations seen;
};

/// The instructions of a kernel that access memory (LDS and scratch aside), by address; whether each writes.
/// As far as its symbol says where it ends.
Result<std::map<uint64_t, bool>> memory_instructions(const codeobject::CodeObject&,
                                                     const codeobject::Kernel&);

class Prober {
 public:
  static Result<std::unique_ptr<Prober>> create(std::shared_ptr<const codeobject::CodeObject>,
                                                const codeobject::Kernel&);
  /// BadInput: a grid or workgroup that the kernel cannot have. Faults and cut off runs are outcomes.
  Result<ProbeRun> run(const KernargFields&, const ProbeSetup&);
  /// How many runs there were.
  unsigned runs() const { return runs_; }

 private:
  Prober() = default;
  std::string kernel_;
  std::unique_ptr<device::EmulatedDevice> device_;
  std::shared_ptr<device::Module> module_;
  unsigned runs_ = 0;
};

} // namespace asmevo::infer
