// The barriers of a function that hold anything up: not a second one right behind another.
#pragma once

#include "program/cfg.h"

#include <vector>

namespace asmevo::program {

/// In address order. A barrier is left out where nothing stands between it and the one in front of it that
/// another wave could tell, and all waves of the workgroup come that way: waves that take different ways may
/// meet at different barriers, and then each counts. `one_wave`: of workgroups of one wave, none holds up.
std::vector<Index> working_barriers(const Program&, const Function&, const Cfg&, bool one_wave);

} // namespace asmevo::program
