#include "program/memory_reference.h"

namespace asmevo::program {

namespace {

using isa::Operand;
using isa::Role;

bool is_address(Role r) {
  return r == Role::Vaddr || r == Role::Saddr || r == Role::Sbase || r == Role::Srsrc || r == Role::Soffset;
}

// Two offsets of 8 bits each, in elements or in 64 elements (CDNA3 ISA, DS instructions).
bool has_two_offsets(const isa::Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return i.family == isa::Family::Ds &&
         (m.starts_with("ds_read2") || m.starts_with("ds_write2") || m.starts_with("ds_wrxchg2"));
}

void add_two_spans(MemoryReference& r, const isa::Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  const uint32_t element = m.ends_with("b64") ? 8 : 4;
  const int64_t unit = m.find("st64") == std::string_view::npos ? element : int64_t{64} * element;
  const auto offsets = static_cast<uint32_t>(i.mods.offset);
  r.spans.push_back({(offsets & 0xff) * unit, element});
  r.spans.push_back({(offsets >> 8 & 0xff) * unit, element});
}

} // namespace

bool MemoryReference::disjoint(const MemoryReference& o) const {
  for (const Span& a : spans)
    for (const Span& b : o.spans)
      if (a.bytes == 0 || b.bytes == 0 || (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes))
        return false;
  return !spans.empty() && !o.spans.empty();
}

MemoryReference memory_reference(const isa::Instruction& i) {
  MemoryReference r;
  r.kind = i.memory.kind;
  r.uniform = i.memory.kind == isa::MemoryKind::Scalar;
  for (const Operand& o : i.operands) {
    if (!is_address(o.role)) continue;
    if (o.kind == Operand::Kind::Register)
      r.base.push_back(o.reg);
    else
      r.base_constants = r.base_constants * 31 + (static_cast<uint64_t>(o.value) << 3 | 4);
  }
  r.base_constants ^= (i.mods.offen ? 1U : 0U) | (i.mods.idxen ? 2U : 0U);
  // ds_*_addtid, ds_append and the like: the address is in M0.
  if (i.family == isa::Family::Ds && i.reads({isa::unit::m0, 1})) r.base.push_back({isa::unit::m0, 1});
  if (has_two_offsets(i))
    add_two_spans(r, i);
  else
    r.spans.push_back({i.mods.offset, i.memory.bytes});
  return r;
}

} // namespace asmevo::program
