// Runs one wave for a while.
#pragma once

#include "emulator/code.h"
#include "emulator/wave.h"

#include <cstdint>

namespace asmevo::emulator {

/// Runs until the wave stops (barrier, end, fault), asks for others to go on (s_sleep and its like), or has
/// executed `budget` instructions. Returns how many it executed. Sets and restores the host's MXCSR.
uint64_t run_wave(Wave&, Code&, uint64_t budget);

} // namespace asmevo::emulator
