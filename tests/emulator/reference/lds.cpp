// DS: reads, writes and atomics of LDS, and what moves between lanes through it.
#include "emulator/reference/atomic.h"
#include "emulator/reference/vector.h"

#include <bit>

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::RegUnit;

// Fields of the encoding (CDNA3 ISA, 13.6).
struct Fields {
  uint32_t offset0, offset1, offset;
  RegUnit address, data0, data1, result;
  bool returns = false;
};
Fields fields(const Instruction& i) {
  const uint32_t a = i.words[0], b = i.words[1];
  const RegUnit file = (a >> 25 & 1) != 0 ? isa::unit::agpr0 : 0; // of data and result
  const auto vector = [&](unsigned shift) { return static_cast<RegUnit>(file + (b >> shift & 0xff)); };
  return {.offset0 = a & 0xff,
          .offset1 = a >> 8 & 0xff,
          .offset = a & 0xffff,
          .address = static_cast<RegUnit>(b & 0xff),
          .data0 = vector(8),
          .data1 = vector(16),
          .result = vector(24)};
}

uint64_t value(const State& state, RegUnit unit, unsigned lane, unsigned dwords) {
  return dwords == 2 ? state.vector64(unit, lane) : state.vectors[unit][lane];
}
void set_value(State& state, RegUnit unit, unsigned lane, unsigned dwords, uint64_t v) {
  state.vectors[unit][lane] = static_cast<uint32_t>(v);
  if (dwords == 2) state.vectors[unit + 1U][lane] = static_cast<uint32_t>(v >> 32);
}
void wrote_rows(State& state, RegUnit unit, unsigned dwords) {
  for (unsigned d = 0; d < dwords; ++d) state.wrote(static_cast<RegUnit>(unit + d));
}
bool inside(const State& state, uint64_t at, unsigned bytes) {
  return at + bytes <= state.lds.size();
}

// --- reads and writes

struct Access {
  unsigned bytes, places, stride; // stride of OFFSET0 and OFFSET1
  bool narrow_signed, low, high;  // d16
};
std::optional<Access> access_of(std::string_view name) {
  Access a{0, 1, 1, false, false, false};
  if (name.ends_with("_d16_hi"))
    a.high = true, name.remove_suffix(7);
  else if (name.ends_with("_d16"))
    a.low = true, name.remove_suffix(4);
  const std::string_view type = name.substr(name.rfind('_') + 1);
  const std::string_view head = name.substr(0, name.rfind('_'));
  constexpr std::pair<std::string_view, unsigned> sizes[] = {{"u8", 1},   {"i8", 1},   {"b8", 1},  {"u16", 2},
                                                             {"i16", 2},  {"b16", 2},  {"b32", 4}, {"b64", 8},
                                                             {"b96", 12}, {"b128", 16}};
  for (const auto& [text, bytes] : sizes)
    if (text == type) a.bytes = bytes;
  a.narrow_signed = type[0] == 'i';
  if (head.find('2') != std::string_view::npos) {
    a.places = 2;
    a.stride = a.bytes * (head.ends_with("2st64") ? 64 : 1);
  }
  return a.bytes == 0 ? std::nullopt : std::optional(a);
}

uint64_t place_of(const State& state, const Fields& f, const Access& a, unsigned n, unsigned lane) {
  const uint32_t offset = a.places == 1 ? f.offset : (n == 0 ? f.offset0 : f.offset1) * a.stride;
  return uint64_t{state.vectors[f.address][lane]} + offset;
}

void read_lane(State& state, const Fields& f, const Access& a, unsigned lane, std::array<uint32_t, 4>& rows) {
  const unsigned dwords = (a.bytes + 3) / 4;
  for (unsigned n = 0; n < a.places; ++n) {
    const uint64_t at = place_of(state, f, a, n, lane);
    const bool there = inside(state, at, a.bytes);
    for (unsigned d = 0; d < dwords; ++d) {
      const unsigned size = a.bytes < 4 ? a.bytes : 4;
      uint64_t v = there ? read_bytes(state.lds, at + 4 * d, size) : 0;
      if (a.narrow_signed) v = static_cast<uint32_t>(sign_extended(v, 8 * size));
      uint32_t& row = rows[n * dwords + d];
      if (a.high)
        row = (row & 0xffff) | static_cast<uint32_t>(v) << 16;
      else if (a.low)
        row = (row & 0xffff0000) | (static_cast<uint32_t>(v) & 0xffff);
      else
        row = static_cast<uint32_t>(v);
    }
  }
}

bool read(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("read")) return false;
  const Fields f = fields(i);
  Access a{4, 1, 1, false, false, false};
  const bool by_lane = name == "read_addtid_b32";
  if (!by_lane) {
    const auto found = access_of(name);
    if (!found) return false;
    a = *found;
  }
  const unsigned dwords = (a.bytes + 3) / 4 * a.places;
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    std::array<uint32_t, 4> rows{};
    for (unsigned d = 0; d < dwords; ++d) rows[d] = state.vectors[f.result + d][n];
    if (by_lane) {
      const uint64_t at = uint64_t{state.scalars[code::m0] & 0xffff} + f.offset + 4 * n;
      rows[0] = inside(state, at, 4) ? static_cast<uint32_t>(read_bytes(state.lds, at, 4)) : 0;
    } else {
      read_lane(state, f, a, n, rows);
    }
    for (unsigned d = 0; d < dwords; ++d) state.vectors[f.result + d][n] = rows[d];
  }
  wrote_rows(state, f.result, dwords);
  return true;
}

bool write(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("write")) return false;
  const Fields f = fields(i);
  if (name == "write_addtid_b32") {
    for (unsigned n = 0; n < lane_count; ++n) {
      const uint64_t at = uint64_t{state.scalars[code::m0] & 0xffff} + f.offset + 4 * n;
      if (state.active(n) && inside(state, at, 4))
        write_bytes(state, Space::Lds, at, 4, state.vectors[f.data0][n]);
    }
    return true;
  }
  const auto a = access_of(name);
  if (!a) return false;
  for (unsigned p = 0; p < a->places; ++p)
    for (unsigned n = 0; n < lane_count; ++n) {
      const uint64_t at = place_of(state, f, *a, p, n);
      if (!state.active(n) || !inside(state, at, a->bytes)) continue;
      const RegUnit from = p == 0 ? f.data0 : f.data1;
      for (unsigned d = 0; d < (a->bytes + 3) / 4; ++d)
        write_bytes(state, Space::Lds, at + 4 * d, a->bytes < 4 ? a->bytes : 4,
                    state.vectors[from + d][n] >> (a->high ? 16 : 0));
    }
  return true;
}

// --- atomics

bool update(const Instruction& i, State& state, std::string_view name) {
  const auto atomic = lds_atomic(name);
  if (!atomic) return false;
  const Fields f = fields(i);
  const bool returns = name.find("_rtn_") != std::string_view::npos;
  const unsigned dwords = atomic->bytes / 4;
  const AtomicRules rules = lds_rules(state, *atomic);
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const uint64_t at = uint64_t{state.vectors[f.address][n]} + f.offset;
    uint64_t old = 0;
    if (inside(state, at, atomic->bytes)) {
      old = read_bytes(state.lds, at, atomic->bytes);
      const uint64_t fresh = updated(*atomic, rules, old, value(state, f.data0, n, dwords),
                                     atomic->operands == 2 ? value(state, f.data1, n, dwords) : 0);
      write_bytes(state, Space::Lds, at, atomic->bytes, fresh, atomic->tolerance);
    }
    if (returns) set_value(state, f.result, n, dwords, old);
  }
  if (returns)
    for (unsigned d = 0; d < dwords; ++d) state.wrote(static_cast<RegUnit>(f.result + d), atomic->tolerance);
  return true;
}

bool exchange_two(const Instruction& i, State& state, std::string_view name) {
  if (!name.starts_with("wrxchg2")) return false;
  const Fields f = fields(i);
  const unsigned bytes = name.ends_with("b64") ? 8 : 4, dwords = bytes / 4;
  const unsigned stride = bytes * (name.starts_with("wrxchg2st64") ? 64 : 1);
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const uint64_t base = state.vectors[f.address][n];
    const uint64_t data[] = {value(state, f.data0, n, dwords), value(state, f.data1, n, dwords)};
    uint64_t old[2] = {};
    for (unsigned p = 0; p < 2; ++p) {
      const uint64_t at = base + (p == 0 ? f.offset0 : f.offset1) * stride;
      if (!inside(state, at, bytes)) continue;
      old[p] = read_bytes(state.lds, at, bytes);
      write_bytes(state, Space::Lds, at, bytes, data[p]);
    }
    for (unsigned p = 0; p < 2; ++p)
      set_value(state, static_cast<RegUnit>(f.result + p * dwords), n, dwords, old[p]);
  }
  wrote_rows(state, f.result, 2 * dwords);
  return true;
}

bool conditional_exchange(const Instruction& i, State& state, std::string_view name) {
  if (name != "condxchg32_rtn_b64") return false;
  const Fields f = fields(i);
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    // 16 bits of address, which gfx950's LDS outgrew.
    const uint64_t at = (uint64_t{state.vectors[f.address][n]} + f.offset) &
                        (state.target.gfx == isa::Gfx::gfx950 ? ~uint64_t{7} : 0xfff8);
    uint64_t old = 0;
    if (inside(state, at, 8)) {
      old = read_bytes(state.lds, at, 8);
      for (unsigned d = 0; d < 2; ++d) {
        const uint32_t data = state.vectors[f.data0 + d][n];
        if (data >> 31 != 0) write_bytes(state, Space::Lds, at + 4 * d, 4, data & 0x7fffffff);
      }
    }
    set_value(state, f.result, n, 2, old);
  }
  wrote_rows(state, f.result, 2);
  return true;
}

bool count(const Instruction& i, State& state, std::string_view name) {
  if (name != "append" && name != "consume") return false;
  const Fields f = fields(i);
  // M0 as for loads to LDS, which reach all of gfx950's.
  const uint32_t bits = state.target.gfx == isa::Gfx::gfx950 ? 0x3ffff : 0xffff;
  const uint64_t at = uint64_t{state.scalars[code::m0] & bits} + f.offset;
  uint32_t old = 0;
  if (inside(state, at, 4) && at % 4 != 0 && state.exec() != 0) {
    state.fault = "misaligned";
    return true;
  }
  if (inside(state, at, 4)) {
    const auto lanes = static_cast<uint32_t>(std::popcount(state.exec()));
    old = static_cast<uint32_t>(read_bytes(state.lds, at, 4));
    write_bytes(state, Space::Lds, at, 4, name == "append" ? old + lanes : old - lanes);
  }
  for (unsigned n = 0; n < lane_count; ++n)
    if (state.active(n)) state.vectors[f.result][n] = old;
  state.wrote(f.result);
  return true;
}

// --- between lanes

unsigned swizzled(unsigned lane, uint32_t offset) {
  const unsigned low = offset & 0x1f, in_half = lane & 0x1f;
  if (offset >= 0xe000) { // FFT: the bits that the mask leaves in reverse order
    unsigned reversed = 0;
    for (unsigned n = 0; n < 5; ++n) reversed |= (in_half >> n & 1) << (4 - n);
    return (reversed >> std::popcount(low)) | (in_half & low) | (lane & 0x20);
  }
  if (offset >= 0xc000) {
    const unsigned by = offset >> 5 & 0x1f, moved = (offset >> 10 & 1) != 0 ? in_half - by : in_half + by;
    return (in_half & low) | (moved & ~low & 0x1f) | (lane & 0x20);
  }
  if (offset >= 0x8000) return (lane & ~3U) | (offset >> (2 * (lane & 3)) & 3);
  return (((in_half & low) | (offset >> 5 & 0x1f)) ^ (offset >> 10 & 0x1f)) | (lane & 0x20);
}

bool between_lanes(const Instruction& i, State& state, std::string_view name) {
  const bool push = name == "permute_b32", pull = name == "bpermute_b32", fixed = name == "swizzle_b32";
  if (!push && !pull && !fixed) return false;
  const Fields f = fields(i);
  std::array<uint32_t, lane_count> moved{};
  for (unsigned n = 0; n < lane_count; ++n) {
    const unsigned other = fixed ? swizzled(n, f.offset) : (state.vectors[f.address][n] + f.offset) / 4 % 64;
    if (push) {
      if (state.active(n)) moved[other] = state.vectors[f.data0][n];
    } else if (state.active(other)) {
      moved[n] = fixed ? state.vectors[f.address][other] : state.vectors[f.data0][other];
    }
  }
  for (unsigned n = 0; n < lane_count; ++n)
    if (state.active(n)) state.vectors[f.result][n] = moved[n];
  state.wrote(f.result);
  return true;
}

// Sixteen lanes read a matrix of 16 columns together, each a part of a row; lane m gets column m.
bool transposed(const Instruction& i, State& state, std::string_view name) {
  const unsigned bits = name == "read_b64_tr_b16"  ? 16
                        : name == "read_b64_tr_b8" ? 8
                        : name == "read_b64_tr_b4" ? 4
                        : name == "read_b96_tr_b6" ? 6
                                                   : 0;
  if (bits == 0) return false;
  const Fields f = fields(i);
  const unsigned bytes = bits == 6 ? 12 : 8, elements = 8 * bytes / bits, lanes_a_row = 16 / elements;
  std::array<std::array<uint8_t, 12>, lane_count> read{};
  for (unsigned n = 0; n < lane_count; ++n) {
    const uint64_t at = uint64_t{state.vectors[f.address][n]} + f.offset;
    if (!state.active(n) || !inside(state, at, bytes)) continue;
    for (unsigned b = 0; b < bytes; ++b) read[n][b] = state.lds[at + b];
  }
  const auto bit_of = [&](unsigned lane, unsigned bit) { return read[lane][bit / 8] >> (bit % 8) & 1U; };
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    std::array<uint32_t, 3> rows{};
    const unsigned column = n & 15;
    for (unsigned k = 0; k < elements; ++k)
      for (unsigned b = 0; b < bits; ++b) {
        const unsigned from = (n & ~15U) + k * lanes_a_row + column / elements, to = k * bits + b;
        rows[to / 32] |= bit_of(from, column % elements * bits + b) << (to % 32);
      }
    for (unsigned d = 0; d < bytes / 4; ++d) state.vectors[f.result + d][n] = rows[d];
  }
  wrote_rows(state, f.result, bytes / 4);
  return true;
}

} // namespace

bool run_lds(const Instruction& i, State& state) {
  if (i.family != isa::Family::Ds || i.mods.gds) return false;
  const std::string_view name = i.base_mnemonic.substr(3);
  if (name == "nop") return true;
  return transposed(i, state, name) || read(i, state, name) || write(i, state, name) ||
         between_lanes(i, state, name) || exchange_two(i, state, name) ||
         conditional_exchange(i, state, name) || count(i, state, name) || update(i, state, name);
}

} // namespace asmevo::reference
