// What orders memory between waves: that a candidate has as much of it as K0. Runs show little of this: the
// emulator has no caches and runs one wave at a time.
#pragma once

#include "program/static_check.h"

namespace asmevo::program {

/// Possible findings, for comparing only (docs/static-check.md, "Memory order"): fewer of K0's atomics, cache
/// control and accesses past caches, or in another order among themselves and the barriers; more in flight
/// there than K0 has; stores moved behind them and loads in front; ways around them; scalar loads of what may
/// have been stored since. `one_wave`: of workgroups of one wave.
std::vector<Finding> lost_order(const Program& k0, const Function& k0_function, const Program& candidate,
                                const Function& function, bool one_wave = false);

} // namespace asmevo::program
