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

// v_pk_fma_f32 and its like take both halves of the result from the same dword where op_sel and op_sel_hi say
// so. The other is named, not read.
void drop_unread_halves(const Instruction& i, unsigned accum_offset, UnitSet& uses) {
  if (i.family != isa::Family::Vop3p || !i.base_mnemonic.starts_with("v_pk_") ||
      !i.base_mnemonic.ends_with("_f32"))
    return;
  UnitSet unread, read;
  for (unsigned n = 0; n < 3; ++n) {
    constexpr std::array roles = {isa::Role::Src0, isa::Role::Src1, isa::Role::Src2};
    const isa::Operand* const o = i.find(roles[n]);
    if (o == nullptr || o->kind != isa::Operand::Kind::Register || o->reg.count != 2) continue;
    const unsigned low = i.mods.op_sel >> n & 1, high = i.mods.op_sel_hi >> n & 1;
    for (unsigned half = 0; half < 2; ++half)
      if (const auto u = unit_of(static_cast<isa::RegUnit>(o->reg.first + half), accum_offset))
        (half == low || half == high ? read : unread).insert(*u);
  }
  unread.for_each([&](unsigned u) {
    if (!read.contains(u)) uses.erase(u);
  });
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
  drop_unread_halves(i, accum_offset, info.uses);
  info.defs = set_of(i.defs, accum_offset);
  info.touched = info.uses | info.defs;
  info.hazards = rules.traits(i);
  info.flight = program::flight_class(i);
  const bool memory = i.family >= isa::Family::Smem && i.memory.returns;
  info.load = memory;
  info.brings = info.flight && (memory || i.family == isa::Family::Smem);
  info.keeps_part = i.partial_def && std::ranges::none_of(i.defs, [&](const isa::RegRange& d) {
                      return i.reads_as_source(d);
                    });
  info.waits = i.issue == isa::IssueClass::Waitcnt;
  if (info.waits) info.wait = isa::WaitcntFields::of(i);
  info.every_lane = i.cross_lane || i.writes_all_lanes;
  info.defines_every_lane = i.writes_all_lanes;
  info.vector = emulator::is_vector(i);
  info.valu = emulator::is_valu(i);
  info.wait_states = static_cast<uint8_t>(std::min(isa::wait_states(i), 255U));
  info.simple = !info.flight && !info.waits && !info.every_lane && i.issue != isa::IssueClass::Barrier;
  return info;
}

OpInfo& OpInfos::make(const emulator::MicroOp& op, const isa::HazardRules& rules, unsigned accum_offset) {
  if (op.index >= infos_.size()) infos_.resize(std::max<size_t>(op.index + 1, 2 * infos_.size()));
  infos_[op.index] = std::make_unique<OpInfo>(describe(op, rules, accum_offset));
  return *infos_[op.index];
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
