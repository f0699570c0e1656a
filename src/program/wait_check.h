// Registers used while the operation that fills them is in flight, and LDS writes in flight at s_barrier:
// forward analysis with FlightState, the worst of all paths at joins.
#pragma once

#include "program/finding_list.h"
#include "program/vector_modes.h"

namespace asmevo::program {

/// Waits and barriers as `options` asks. Kernels and device functions start with nothing in flight (the
/// calling convention waits for everything at the entry of a function), calls come back that way.
void check_waits(const Program&, const Function&, const Cfg&, const VectorModes&, const CheckOptions&,
                 FindingList&);

} // namespace asmevo::program
