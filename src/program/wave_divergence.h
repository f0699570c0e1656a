// Branches where the waves of one workgroup may part, and the blocks that only some of them may then run.
//
// What is the same in all waves of a workgroup is followed through the registers: a kernel starts with
// scalars that are and with work-item ids (v0 to v2) that are not. A result may differ between waves where an
// operand does, where it is an atomic's old value, comes from scratch, or is a clock or a hardware register.
// At the place where ways of a parting branch meet again, what either of them wrote may differ too.
#pragma once

#include "program/cfg.h"

#include <vector>

namespace asmevo::program {

struct PartingBranch {
  Index at = 0;
  isa::RegRange condition; // EXEC, VCC or SCC
  // From the branch's successors up to where all ways from it have met again; ascending. In a loop that is
  // left by this branch, all of the loop.
  std::vector<uint32_t> blocks;
};

/// By address. Branches on EXEC are taken to part the waves always; those on VCC and SCC by what they were
/// made of. For functions beyond any real kernel's size (a million such blocks in all) only the first are
/// given.
std::vector<PartingBranch> find_parting_branches(const Program&, const Function&, const Cfg&);

} // namespace asmevo::program
