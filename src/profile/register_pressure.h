// How many registers hold a value at each place of a kernel, and how far that is from letting another wave on
// a SIMD. VGPRs and AGPRs come out of one file of 512 a lane; it is shared out in whole granules, so waves go
// in steps: up to 64 registers eight waves, up to 72 seven, ... up to 512 one.
#pragma once

#include "profile/kernel_code.h"

namespace asmevo::profile {

struct PressurePoint {
  program::Index at = program::no_index;
  unsigned vgprs = 0, agprs = 0, sgprs = 0; // live in front of the entry
  unsigned vectors() const { return vgprs + agprs; }
};

struct RegisterPressure {
  std::vector<PressurePoint> points; // of reachable code, by entry
  PressurePoint most;                // the first place with the most vectors()
  unsigned allocated = 0;            // vector registers, by the descriptor
  unsigned waves = 0;                // on a SIMD, that fit with them
  unsigned room = 0;                 // registers more that the same number of waves could have
  /// The most registers with which one more wave would fit, and how many to save for it; 0 with eight waves.
  unsigned next_budget = 0, to_save = 0;

  /// Saving is a matter of naming: nowhere do more values live than the next step has registers.
  bool next_is_renaming() const { return to_save != 0 && most.vectors() <= next_budget; }
  unsigned most_in(program::Index begin, program::Index end) const;
};

RegisterPressure register_pressure(const KernelCode&);

} // namespace asmevo::profile
