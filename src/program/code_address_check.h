// Addresses made from the program counter: where code lies is known when it is loaded, and an addition that
// fits into 32 bits in one process has a carry in another.
#pragma once

#include "program/cfg.h"
#include "program/finding_list.h"

namespace asmevo::program {

/// Possible findings: an addition to the lower half of what s_getpc_b64 gave, in its block, whose carry no
/// addition to the upper half takes.
void check_code_addresses(const Program&, const Cfg&, FindingList&);

} // namespace asmevo::program
