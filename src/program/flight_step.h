// What one instruction does to a FlightState, and which of the registers that it touches are not there yet.
#pragma once

#include "program/flight_state.h"

#include <optional>

namespace asmevo::program {

/// The instruction issues: its results are no longer those of earlier operations, and what it sends for is in
/// flight. Waits and calls are not for here.
void issue(FlightState&, Index at, const isa::Instruction&);

/// The queue in which the instruction's own result comes later than all that is in flight there, so that it
/// may overwrite what an earlier operation is still to bring. None for all but loads that return in order.
std::optional<FlightClass> own_queue(const isa::Instruction&);
/// A load of half a register keeps the other half, which an earlier load of the same queue may still bring.
bool merges_in_order(const isa::Instruction&, const isa::RegRange& use);

/// Calls f(range, class, unit) for each unit that the instruction reads or overwrites while the operation
/// that fills it is in flight. f may complete it. `indexed`: vector operands are not those named, and are
/// left out.
template <class F>
void for_each_in_flight(const FlightState& state, const isa::Instruction& i, bool indexed, F f) {
  const std::optional<FlightClass> queue = own_queue(i);
  const auto look_at = [&](const isa::RegRange& range, std::optional<FlightClass> harmless) {
    if (indexed && isa::is_vector(range.first)) return;
    for (const FlightClass c : flight_classes) {
      if (c == harmless || state.idle(c)) continue;
      for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
        if (state.in_flight(c, u)) f(range, c, u);
    }
  };
  for (const isa::RegRange& use : i.uses) look_at(use, merges_in_order(i, use) ? queue : std::nullopt);
  for (const isa::RegRange& def : i.defs) look_at(def, queue);
}

} // namespace asmevo::program
