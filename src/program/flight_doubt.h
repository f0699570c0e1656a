// Whether a missing wait is certain. Between the operation and the use of its result some path may have a
// wait that suffices although another has none. Where branches depend on each other the bad path may never be
// taken (a loop unrolled twice that leaves by two exits according to parity), so such a finding is a possible
// one. Found by a second forward analysis, of one operation, that takes the best of all paths.
#pragma once

#include "program/cfg.h"
#include "program/flight_state.h"

namespace asmevo::program {

/// The queue an instruction's operation belongs to; Flat for FLAT; none for those that raise no counter.
std::optional<FlightClass> flight_class(const isa::Instruction&);

/// Operations that the instruction may count as: 2 for the transposing LDS loads of gfx950, which shipped
/// kernels wait for as if each were two (docs/static-check.md).
unsigned most_it_counts(const isa::Instruction&);

/// May the operation of `producer` be complete when control first reaches `consumer` from it, with `unit` not
/// written in between?
bool may_be_complete(const Program&, const Cfg&, Index producer, Index consumer, FlightClass, uint16_t unit);

} // namespace asmevo::program
