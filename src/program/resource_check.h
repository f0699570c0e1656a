// Registers beyond the allocation, and LDS accesses at constant addresses beyond the workgroup's LDS.
#pragma once

#include "program/finding_list.h"
#include "program/vector_modes.h"

namespace asmevo::program {

void check_resources(const Program&, const Function&, const Cfg&, const VectorModes&, const CheckOptions&,
                     FindingList&);

} // namespace asmevo::program
