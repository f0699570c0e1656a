// What an instruction does to others than its kernel's memory: messages, traps, halts, performance levels,
// exceptions; and what it learns of where it runs. No run on the emulator shows a difference.
#pragma once

#include "program/static_check.h"

namespace asmevo::program {

/// Possible findings, for comparing only: such instructions of which a candidate has more than K0; and of
/// those that stop a wave or tell somebody something (traps, messages, halts, enabled exceptions), fewer than
/// K0 can reach.
std::vector<Finding> changed_side_effects(const Program& k0, const Function& k0_function,
                                          const Program& candidate, const Function& function);

} // namespace asmevo::program
