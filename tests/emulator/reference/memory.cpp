// MUBUF and FLAT: loads, stores, atomics and loads into LDS, lane by lane.
#include "emulator/reference/atomic.h"
#include "emulator/reference/vector.h"

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using isa::Role;

/// Where a lane's bytes are, and how many of them exist.
struct LaneBytes {
  Space space = Space::Memory;
  uint64_t offset = 0; // in the space; scratch: in the lane's own part
  unsigned lane = 0;
  int64_t range = INT64_MAX; // from the first byte: beyond, loads give 0 and stores do nothing
  bool exists(unsigned first, unsigned bytes) const { return int64_t{first} + bytes <= range; }
  uint64_t place(unsigned byte) const {
    const uint64_t at = offset + byte;
    return space == Space::Scratch ? (at / 4 * lane_count + lane) * 4 + at % 4 : at;
  }
};

void fail(State& state, std::string_view why) {
  if (state.fault.empty()) state.fault = why;
}

// --- addresses

std::optional<LaneBytes> in_memory(State& state, uint64_t address, unsigned lane) {
  const uint64_t offset = address - state.memory_at;
  if (offset >= state.memory.size()) {
    fail(state, "outside memory");
    return std::nullopt;
  }
  return LaneBytes{Space::Memory, offset, lane};
}

// Raw: what is checked is the offset with SOFFSET. Structured (an index and a stride): the index is.
std::optional<LaneBytes> buffer_bytes(const Instruction& i, State& state, unsigned lane) {
  const unsigned resource = i.find(Role::Srsrc)->reg.first - isa::unit::scalar0;
  const uint32_t* words = &state.scalars[resource];
  const uint64_t base = words[0] | uint64_t{words[1] & 0xffff} << 32, records = words[2];
  const uint32_t stride = words[1] >> 16 & 0x3fff;
  const uint64_t soffset = scalar_value(state, *i.find(Role::Soffset), 1);
  const Operand* vaddr = i.find(Role::Vaddr);
  const auto vector = [&](unsigned n) { return state.vectors[vaddr->reg.first + n][lane]; };
  const uint32_t index = i.mods.idxen ? vector(0) : 0;
  const uint32_t offset =
      (i.mods.offen ? vector(i.mods.idxen ? 1 : 0) : 0) + static_cast<uint32_t>(i.mods.offset);
  LaneBytes bytes{.lane = lane};
  if (i.mods.idxen && stride != 0) {
    if (index >= records) bytes.range = 0;
  } else {
    bytes.range = static_cast<int64_t>(records) - static_cast<int64_t>(offset + soffset);
  }
  bytes.offset = base + soffset + uint64_t{index} * stride + offset - state.memory_at;
  return bytes;
}

std::optional<LaneBytes> flat_bytes(const Instruction& i, State& state, unsigned lane) {
  const Operand *vaddr = i.find(Role::Vaddr), *saddr = i.find(Role::Saddr);
  const bool has_vector = vaddr != nullptr && vaddr->kind == Operand::Kind::Register;
  const bool has_scalar = saddr != nullptr && saddr->kind == Operand::Kind::Register;
  const auto immediate = static_cast<uint64_t>(int64_t{i.mods.offset});
  if (i.base_mnemonic.starts_with("scratch_")) {
    uint64_t at = immediate;
    if (has_vector) at += state.vectors[vaddr->reg.first][lane];
    if (has_scalar) at += scalar_value(state, *saddr, 1);
    return LaneBytes{Space::Scratch, at, lane};
  }
  if (!has_vector) {
    fail(state, "no address");
    return std::nullopt;
  }
  const uint64_t address =
      has_scalar ? state.pair(saddr->reg.first - isa::unit::scalar0) + state.vectors[vaddr->reg.first][lane]
                 : state.vector64(vaddr->reg.first, lane);
  if (i.base_mnemonic.starts_with("flat_")) {
    // The aperture is that of the address with its offset.
    const uint64_t whole = address + immediate;
    if (whole >> 32 == state.shared_aperture) return LaneBytes{Space::Lds, whole & 0xffffffff, lane};
    if (whole >> 32 == state.private_aperture) return LaneBytes{Space::Scratch, whole & 0xffffffff, lane};
  }
  return in_memory(state, address + immediate, lane);
}

std::optional<LaneBytes> lane_bytes(const Instruction& i, State& state, unsigned lane) {
  return i.family == isa::Family::Mubuf ? buffer_bytes(i, state, lane) : flat_bytes(i, state, lane);
}

bool inside(State& state, const LaneBytes& b, unsigned first, unsigned bytes) {
  if (b.space == Space::Lds) return b.offset + first + bytes <= state.lds.size();
  const uint64_t size = b.space == Space::Memory ? state.memory.size() : state.scratch_bytes;
  if (b.offset + first + bytes > size || b.offset > size) {
    fail(state, "outside its space");
    return false;
  }
  return true;
}
uint64_t get(State& state, const LaneBytes& b, unsigned first, unsigned bytes) {
  if (!b.exists(first, bytes) || !inside(state, b, first, bytes)) return 0;
  uint64_t value = 0;
  for (unsigned n = 0; n < bytes; ++n) value |= uint64_t{state.space(b.space)[b.place(first + n)]} << (8 * n);
  return value;
}
void put(State& state, const LaneBytes& b, unsigned first, unsigned bytes, uint64_t value) {
  if (!b.exists(first, bytes) || !inside(state, b, first, bytes)) return;
  for (unsigned n = 0; n < bytes; ++n)
    write_bytes(state, b.space, b.place(first + n), 1, value >> (8 * n) & 0xff);
}

// --- forms of data

struct Form {
  unsigned bytes;
  bool extends, low, high;
};
std::optional<Form> form_of(std::string_view name) {
  Form f{0, false, false, false};
  if (name.ends_with("_d16_hi"))
    f.high = true, name.remove_suffix(7);
  else if (name.ends_with("_d16"))
    f.low = true, name.remove_suffix(4);
  constexpr std::pair<std::string_view, unsigned> sizes[] = {
      {"ubyte", 1}, {"sbyte", 1}, {"byte", 1},    {"ushort", 2},   {"sshort", 2},
      {"short", 2}, {"dword", 4}, {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}};
  for (const auto& [text, bytes] : sizes)
    if (text == name) f.bytes = bytes;
  f.extends = name == "sbyte" || name == "sshort";
  return f.bytes == 0 ? std::nullopt : std::optional(f);
}

uint32_t loaded(State& state, const LaneBytes& b, const Form& f, unsigned d, uint32_t before) {
  const unsigned size = f.bytes < 4 ? f.bytes : 4;
  uint64_t v = get(state, b, 4 * d, size);
  if (f.extends) v = static_cast<uint32_t>(sign_extended(v, 8 * size));
  if (f.high) return (before & 0xffff) | static_cast<uint32_t>(v) << 16;
  if (f.low) return (before & 0xffff0000) | (static_cast<uint32_t>(v) & 0xffff);
  return static_cast<uint32_t>(v);
}

// Lane l's data goes to M0 and the instruction's offset and 4 l, or 16 l for more than a dword. Lanes whose
// place is not all there do not read.
bool load_to_lds(const Instruction& i, State& state, const Form& f) {
  const unsigned dwords = (f.bytes + 3) / 4, slot = dwords == 1 ? 4 : 16;
  // CDNA4 ISA 9.1.9: M0[17:0] for buffers, 16 bits before; 10.3: M0[17:2] for global and scratch.
  const bool buffer = i.family == isa::Family::Mubuf;
  const uint32_t bits = !buffer ? 0x3fffc : state.target.gfx == isa::Gfx::gfx950 ? 0x3ffff : 0xffff;
  const uint32_t first = (state.scalars[code::m0] & bits) + static_cast<uint32_t>(i.mods.offset);
  for (unsigned n = 0; n < lane_count; ++n) {
    const uint64_t to = uint64_t{first} + slot * n;
    if (!state.active(n) || to + 4 * dwords > state.lds.size()) continue;
    const auto b = lane_bytes(i, state, n);
    if (!b) return true;
    for (unsigned d = 0; d < dwords; ++d)
      write_bytes(state, Space::Lds, to + 4 * d, 4, loaded(state, *b, f, d, 0));
  }
  return true;
}

bool load(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("load_")) return false;
  name.remove_prefix(5);
  const bool named_lds = name.starts_with("lds_");
  if (named_lds) name.remove_prefix(4);
  const auto f = form_of(name);
  if (!f) return false;
  if (named_lds || i.mods.lds) return load_to_lds(i, state, *f);
  const unsigned dwords = (f->bytes + 3) / 4;
  const RegUnit to = i.operands[0].reg.first;
  std::array<std::array<uint32_t, 4>, lane_count> rows{};
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const auto b = lane_bytes(i, state, n);
    if (!b) return true;
    for (unsigned d = 0; d < dwords; ++d) rows[n][d] = loaded(state, *b, *f, d, state.vectors[to + d][n]);
  }
  for (unsigned n = 0; n < lane_count; ++n)
    if (state.active(n))
      for (unsigned d = 0; d < dwords; ++d) state.vectors[to + d][n] = rows[n][d];
  for (unsigned d = 0; d < dwords; ++d) state.wrote(static_cast<RegUnit>(to + d));
  return true;
}

bool store(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("store_")) return false;
  const auto f = form_of(name.substr(6));
  const Operand* data = i.find(Role::Vdata);
  if (!f || data == nullptr) return false;
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const auto b = lane_bytes(i, state, n);
    if (!b) return true;
    for (unsigned d = 0; d < (f->bytes + 3) / 4; ++d)
      put(state, *b, 4 * d, f->bytes < 4 ? f->bytes : 4,
          state.vectors[data->reg.first + d][n] >> (f->high ? 16 : 0));
  }
  return true;
}

// Dwords of a lane lie apart.
void put_scratch(State& state, const LaneBytes& b, const Atomic& atomic, uint64_t value) {
  const bool wide = atomic.bytes == 8;
  const bool any = wide && atomic.tolerance == Tolerance::NanDouble && is_nan(f64, value);
  const Tolerance t = wide ? any ? Tolerance::Any : Tolerance::None : atomic.tolerance;
  for (unsigned n = 0; n < atomic.bytes; n += 4)
    write_bytes(state, Space::Scratch, b.place(n), 4, value >> (8 * n) & 0xffffffff, t);
}

bool update(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("atomic_")) return false;
  const auto atomic = memory_atomic(name.substr(7));
  if (!atomic) return false;
  const bool returns = i.mods.sc0;
  const RegUnit data = i.find(Role::Vdata)->reg.first, to = returns ? i.operands[0].reg.first : data;
  const unsigned dwords = atomic->bytes / 4;
  const auto operand = [&](unsigned n, unsigned lane) -> uint64_t {
    return dwords == 2 ? state.vector64(data + 2 * n, lane) : state.vectors[data + n][lane];
  };
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const auto b = lane_bytes(i, state, n);
    if (!b) return true;
    uint64_t old = 0;
    if (b->exists(0, atomic->bytes) && inside(state, *b, 0, atomic->bytes)) {
      old = get(state, *b, 0, atomic->bytes);
      const AtomicRules rules =
          b->space == Space::Lds ? lds_rules(state, *atomic) : memory_rules(state, *atomic);
      const uint64_t fresh =
          updated(*atomic, rules, old, operand(0, n), atomic->operands == 2 ? operand(1, n) : 0);
      if (b->space == Space::Scratch)
        put_scratch(state, *b, *atomic, fresh);
      else
        write_bytes(state, b->space, b->offset, atomic->bytes, fresh, atomic->tolerance);
    }
    if (!returns) continue;
    state.vectors[to][n] = static_cast<uint32_t>(old);
    if (dwords == 2) state.vectors[to + 1U][n] = static_cast<uint32_t>(old >> 32);
  }
  if (returns)
    for (unsigned d = 0; d < dwords; ++d) state.wrote(static_cast<RegUnit>(to + d), atomic->tolerance);
  return true;
}

constexpr std::string_view cache_control[] = {"buffer_wbl2", "buffer_inv", "buffer_invl2", "buffer_wbinvl1",
                                              "buffer_wbinvl1_vol"};

} // namespace

bool run_memory(const Instruction& i, State& state) {
  if (i.family != isa::Family::Mubuf && i.family != isa::Family::Flat) return false;
  for (const std::string_view name : cache_control)
    if (i.is(name)) return true;
  const std::string_view name = i.base_mnemonic.substr(i.base_mnemonic.find('_') + 1);
  return load(i, state, name) || store(i, state, name) || update(i, state, name);
}

} // namespace asmevo::reference
