// Pairs of instructions with fewer wait states between them than isa/hazards.h asks for, along any path.
#pragma once

#include "program/finding_list.h"
#include "program/vector_modes.h"

namespace asmevo::program {

void check_wait_states(const Program&, const Function&, const Cfg&, const VectorModes&, const CheckOptions&,
                       FindingList&);

} // namespace asmevo::program
