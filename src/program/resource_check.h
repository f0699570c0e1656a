// Registers beyond the allocation, and LDS accesses beyond the workgroup's LDS: at addresses that are
// constants of the same basic block, or with an offset that is beyond it by itself.
#pragma once

#include "program/finding_list.h"
#include "program/vector_modes.h"

namespace asmevo::program {

void check_resources(const Program&, const Function&, const Cfg&, const VectorModes&, const CheckOptions&,
                     FindingList&);

} // namespace asmevo::program
