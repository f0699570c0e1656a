#include "program/flight_step.h"

#include "program/flight_doubt.h"

#include <algorithm>

namespace asmevo::program {

namespace {

using isa::Family;
using isa::Instruction;
using isa::RegRange;
using isa::RegUnit;

bool is_memory_load(const Instruction& i) {
  return i.memory.returns && i.family >= Family::Smem;
}

void issue_in(FlightState& state, FlightClass c, Index at, const Instruction& i) {
  state.issue(c);
  if (is_memory_load(i) || i.family == Family::Smem)
    for (const RegRange& d : i.defs)
      for (RegUnit u = d.first; u < d.first + d.count; ++u) state.mark(c, u, at);
  const bool writes_lds = c == FlightClass::Lds ? i.memory.store : c == FlightClass::Vmem && i.memory.lds_dma;
  if (writes_lds) state.mark(c, FlightState::lds_bytes, at);
}

} // namespace

std::optional<FlightClass> own_queue(const Instruction& i) {
  if (!is_memory_load(i)) return std::nullopt;
  const auto c = flight_class(i);
  return c && in_order(*c) ? c : std::nullopt;
}

bool merges_in_order(const Instruction& i, const RegRange& use) {
  return i.partial_def && std::ranges::find(i.defs, use) != i.defs.end() && !i.reads_as_source(use);
}

void issue(FlightState& state, Index at, const Instruction& i) {
  const std::optional<FlightClass> c = flight_class(i);
  if (!own_queue(i))
    for (const RegRange& d : i.defs)
      for (RegUnit u = d.first; u < d.first + d.count; ++u) state.forget(u);
  if (!c) return;
  issue_in(state, *c, at, i);
  if (c == FlightClass::Flat) issue_in(state, FlightClass::Scalar, at, i);
}

} // namespace asmevo::program
