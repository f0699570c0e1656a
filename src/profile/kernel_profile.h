// Where a kernel's time goes, instruction by instruction, whoever found it out: the cycle model, or a
// profiler beside a GPU. What ranks hot windows and annotates listings.
#pragma once

#include "timing/stall.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace asmevo::profile {

enum class Origin : uint8_t {
  Modelled,    // cycles of the cycle model
  HostTrap,    // PC samples at times a host chose: where waves were, not why
  Stochastic,  // PC samples of the hardware, with reasons
  ThreadTrace, // cycles of the waves that were traced
  Counters,    // of whole dispatches: no time by instruction
};
/// Of the times of a profile: "cycles", "samples", or "none" where there are counters alone.
std::string_view unit_of(Origin);

struct InstructionTime {
  uint64_t address = 0;               // in the code object, as in its listing
  double issues = 0;                  // how often it issued (HostTrap: 0, nobody knows)
  double busy = 0;                    // cycles, or samples, in which it issued
  timing::PerStall<double> stalled{}; // cycles, or samples, in which it was a wave's next and did not issue
  double unexplained = 0;             // the same, where the reason is not known

  double total() const;
};

struct KernelProfile {
  Origin origin = Origin::Modelled;
  std::string kernel;
  /// "modelled (mi300x)", "measured (rocprofv3, stochastic PC sampling: FILE)"
  std::string source;
  std::vector<InstructionTime> instructions; // by address, those without time left out
  std::map<std::string, double> counters;    // hardware counters by name, where they came along
  double unplaced = 0;                       // samples or cycles that belong to no instruction of this kernel
  std::vector<std::string> notes;            // what is odd about it: one line each

  double total() const; // of all instructions
  /// Issues are how often instructions ran, and times cycles: nothing of samples.
  bool counts_runs() const { return unit_of(origin) == "cycles"; }
  const InstructionTime* at(uint64_t address) const;
};

} // namespace asmevo::profile
