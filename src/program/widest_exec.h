// Where EXEC is known to be as wide as it ever gets.
//
// Compiled code only narrows the mask E0 that a wave starts with and restores it: s_and_saveexec_b64 s[4:5],
// vcc; ...; s_or_b64 exec, exec, s[4:5]. The restored mask is E0 again, but that instruction alone says only
// "at least as wide". Hand-written code sets the mask to all lanes: s_mov_b64 exec, -1. So one mask W is
// followed through the scalar registers: E0 if the function never leaves it, all lanes if it does. Lanes
// outside W are never on.
#pragma once

#include "program/wave_state.h"

#include <vector>

namespace asmevo::program {

struct WidestExec {
  enum class Mask : uint8_t { Unknown, Initial, AllLanes } mask = Mask::Unknown;
  /// By entry, from function.begin: EXEC is W before it. Empty where the mask is unknown.
  std::vector<bool> holds;
};

WidestExec find_widest_exec(const Program&, const Function&, const Cfg&, const WaveStates&);

} // namespace asmevo::program
