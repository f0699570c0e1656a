// s_barrier that some waves of a workgroup may branch around while others wait at it.
#pragma once

#include "program/finding_list.h"

namespace asmevo::program {

/// One possible finding for each branch that may part the waves and each barrier that then only some of them
/// run, the innermost 32 at most. Whether they really part, and whether those that go round meet another
/// barrier in its place or end, is a matter of data.
void check_barriers(const Program&, const Function&, const Cfg&, FindingList&);

} // namespace asmevo::program
