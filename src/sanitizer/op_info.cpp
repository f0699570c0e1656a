#include "sanitizer/op_info.h"

#include "program/flight_doubt.h"

#include <algorithm>

namespace asmevo::sanitizer {

namespace {

using isa::Instruction;

std::optional<unsigned> unit_of(isa::RegUnit u, unsigned accum_offset) {
  if (isa::is_agpr(u)) {
    const unsigned row = accum_offset + u - isa::unit::agpr0;
    return row < row_units ? std::optional(row) : std::nullopt;
  }
  if (isa::is_vgpr(u)) return u;
  if (u > isa::unit::scc) return std::nullopt; // MODE and the like
  return row_units + u - isa::unit::scalar0;
}

template <class Ranges>
UnitSet set_of(const Ranges& ranges, unsigned accum_offset) {
  UnitSet set;
  for (const isa::RegRange& r : ranges)
    for (isa::RegUnit u = r.first; u < r.first + r.count; ++u)
      if (const auto unit = unit_of(u, accum_offset)) set.insert(*unit);
  return set;
}

bool is_vector(const Instruction& i) {
  return i.family >= isa::Family::Vop1 && i.family != isa::Family::Data;
}

} // namespace

std::string unit_name(unsigned unit, unsigned accum_offset) {
  using isa::RegUnit;
  if (!is_row(unit)) return isa::name(static_cast<RegUnit>(isa::unit::scalar0 + unit - row_units));
  if (unit >= accum_offset) return isa::name(static_cast<RegUnit>(isa::unit::agpr0 + unit - accum_offset));
  return isa::name(static_cast<RegUnit>(unit));
}

OpInfo describe(const emulator::MicroOp& op, const isa::HazardRules& rules, unsigned accum_offset) {
  const Instruction& i = *op.instruction;
  OpInfo info;
  info.op = &op;
  info.uses = set_of(i.uses, accum_offset);
  info.defs = set_of(i.defs, accum_offset);
  info.touched = info.uses | info.defs;
  info.hazards = rules.traits(i);
  info.flight = program::flight_class(i);
  const bool memory = i.family >= isa::Family::Smem && i.memory.returns;
  info.load = memory;
  info.brings = info.flight && (memory || i.family == isa::Family::Smem);
  info.keeps_part = i.partial_def;
  info.waits = i.issue == isa::IssueClass::Waitcnt;
  if (info.waits) info.wait = isa::WaitcntFields::decode(static_cast<uint16_t>(i.words[0] & 0xffff));
  info.every_lane = i.cross_lane || i.writes_all_lanes;
  info.defines_every_lane = i.writes_all_lanes;
  info.vector = is_vector(i);
  info.valu = i.family >= isa::Family::Vop1 && i.family <= isa::Family::Vop3p;
  info.wait_states = static_cast<uint8_t>(std::min(isa::wait_states(i), 255U));
  return info;
}

OpInfo describe_indexed(const OpInfo& info, uint32_t m0, unsigned rows) {
  const unsigned index = m0 & 0xff, which = m0 >> 12 & 0xf;
  const emulator::MicroOp& op = *info.op;
  OpInfo moved = info;
  const auto move = [&](UnitSet& set, const emulator::Place& p, unsigned bit) {
    if (!p.vector() || (which >> bit & 1) == 0) return;
    const unsigned dwords = std::max<unsigned>(1, p.dwords);
    for (unsigned d = 0; d < dwords; ++d) set.erase(p.index + d);
    for (unsigned d = 0; d < dwords; ++d)
      if (p.index + index + d < rows) set.insert(p.index + index + d);
  };
  for (unsigned n = 0; n < 3; ++n) move(moved.uses, op.source[n], n);
  move(moved.defs, op.result, 3);
  moved.touched = moved.uses | moved.defs;
  return moved;
}

} // namespace asmevo::sanitizer
