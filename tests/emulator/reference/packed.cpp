// VOP3P: pairs of 16-bit values, pairs of f32, mixed precision, dot products of floats.
#include "emulator/reference/operations.h"
#include "emulator/reference/vector.h"
#include "isa/encoding.h"

#include <algorithm>

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::RegUnit;
using isa::Role;

// 0.5, -0.5, ... 1 / (2 pi)
bool is_float_constant(const Instruction& i, unsigned n) {
  const auto codes = isa::source_codes(i);
  return n < codes.size() && codes[n] >= 240 && codes[n] <= 248;
}

std::optional<uint64_t> float_constant(const Instruction& i, unsigned n) {
  constexpr uint32_t values[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  if (!is_float_constant(i, n)) return std::nullopt;
  return values[isa::source_codes(i)[n] - 240];
}

// One half of a source for the low (0) or high (1) result.
uint64_t half(const Lane& l, unsigned n, unsigned which, Type t) {
  const isa::Modifiers& m = l.instruction.mods;
  uint64_t value = raw_source(l, n, 1);
  const bool upper = ((which != 0 ? m.op_sel_hi : m.op_sel) >> n & 1) != 0;
  if (is_float(t) && is_float_constant(l.instruction, n)) value &= 0xffff; // nothing above
  value = value >> (upper ? 16 : 0) & 0xffff;
  if (is_float(t) && ((which != 0 ? m.neg_hi : m.neg) >> n & 1) != 0) value ^= 0x8000;
  return value;
}

struct PackedOperation {
  std::string_view mnemonic;
  Type type;
  unsigned sources;
  Function run;
};

template <uint64_t (*F)(Format, bool, uint64_t, uint64_t)>
uint64_t selection(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  const Rules r = l.rules(Type::F16);
  return flushed(f16,
                 F(f16, l.mode().ieee(), flushed(f16, a, r.keeps_inputs), flushed(f16, b, r.keeps_inputs)),
                 r.keeps_outputs);
}
template <uint64_t (*F)(Format, uint64_t, uint64_t)>
uint64_t selection3(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  const Rules r = l.rules(Type::F16);
  return flushed(f16,
                 F(f16, F(f16, flushed(f16, a, r.keeps_inputs), flushed(f16, b, r.keeps_inputs)),
                   flushed(f16, c, r.keeps_inputs)),
                 r.keeps_outputs);
}

using L = const Lane&;
using W = uint64_t;
int64_t s16(W v) {
  return sign_extended(v, 16);
}
W u16(int64_t v) {
  return static_cast<uint16_t>(v);
}
constexpr Type H = Type::F16, I = Type::I16, U = Type::U16;

constexpr PackedOperation packed[] = {
    {"v_pk_add_f16", H, 2, [](L l, W a, W b, W) { return sum(f16, a, b, l.rules(H)); }},
    {"v_pk_mul_f16", H, 2, [](L l, W a, W b, W) { return product(f16, a, b, l.rules(H)); }},
    {"v_pk_fma_f16", H, 3, [](L l, W a, W b, W c) { return fused(f16, a, b, c, l.rules(H)); }},
    {"v_pk_min_f16", H, 2, selection<float_minimum>},
    {"v_pk_max_f16", H, 2, selection<float_maximum>},
    {"v_pk_minimum3_f16", H, 3, selection3<float_minimum_2019>},
    {"v_pk_maximum3_f16", H, 3, selection3<float_maximum_2019>},
    {"v_pk_add_i16", I, 2, [](L l, W a, W b, W) { return l.fit(I, s16(a) + s16(b)); }},
    {"v_pk_sub_i16", I, 2, [](L l, W a, W b, W) { return l.fit(I, s16(a) - s16(b)); }},
    {"v_pk_mad_i16", I, 3, [](L l, W a, W b, W c) { return l.fit(I, s16(a) * s16(b) + s16(c)); }},
    {"v_pk_min_i16", I, 2, [](L, W a, W b, W) { return u16(std::min(s16(a), s16(b))); }},
    {"v_pk_max_i16", I, 2, [](L, W a, W b, W) { return u16(std::max(s16(a), s16(b))); }},
    {"v_pk_ashrrev_i16", I, 2, [](L, W a, W b, W) { return u16(s16(b) >> (a & 15)); }},
    {"v_pk_add_u16", U, 2, [](L l, W a, W b, W) { return l.fit(U, static_cast<int64_t>(a + b)); }},
    {"v_pk_sub_u16", U, 2,
     [](L l, W a, W b, W) { return l.fit(U, static_cast<int64_t>(a) - static_cast<int64_t>(b)); }},
    {"v_pk_mad_u16", U, 3, [](L l, W a, W b, W c) { return l.fit(U, static_cast<int64_t>(a * b + c)); }},
    {"v_pk_mul_lo_u16", U, 2, [](L l, W a, W b, W) { return l.fit(U, static_cast<int64_t>(a * b)); }},
    {"v_pk_min_u16", U, 2, [](L, W a, W b, W) { return std::min(a, b); }},
    {"v_pk_max_u16", U, 2, [](L, W a, W b, W) { return std::max(a, b); }},
    {"v_pk_lshlrev_b16", U, 2, [](L, W a, W b, W) { return b << (a & 15) & 0xffff; }},
    {"v_pk_lshrrev_b16", U, 2, [](L, W a, W b, W) { return b >> (a & 15); }},
};

template <class F>
void each_lane(const Instruction& i, State& state, unsigned rows, Tolerance tolerance, F value_of) {
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  std::array<uint64_t, lane_count> results{};
  for (unsigned n = 0; n < lane_count; ++n)
    if (state.active(n) && dpp_writes(i, state, n)) results[n] = value_of(Lane{i, state, n});
  std::array<bool, lane_count> written{};
  for (unsigned n = 0; n < lane_count; ++n) written[n] = state.active(n) && dpp_writes(i, state, n);
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!written[n]) continue;
    state.vectors[to][n] = static_cast<uint32_t>(results[n]);
    if (rows == 2) state.vectors[to + 1U][n] = static_cast<uint32_t>(results[n] >> 32);
  }
  for (unsigned r = 0; r < rows; ++r) state.wrote(static_cast<RegUnit>(to + r), tolerance);
}

bool pairs_of_16(const Instruction& i, State& state) {
  for (const PackedOperation& p : packed) {
    if (!i.is(p.mnemonic)) continue;
    each_lane(i, state, 1, p.type == H ? Tolerance::NanHalf : Tolerance::None, [&](const Lane& l) {
      uint64_t both = 0;
      for (unsigned which = 0; which < 2; ++which) {
        uint64_t v[3] = {};
        for (unsigned n = 0; n < p.sources; ++n) v[n] = half(l, n, which, p.type);
        both |= finished(l, p.type, p.run(l, v[0], v[1], v[2])) << (16 * which);
      }
      return both;
    });
    return true;
  }
  return false;
}

// VOP2, but two halves all the same.
bool accumulated_pairs(const Instruction& i, State& state) {
  if (!i.is("v_pk_fmac_f16")) return false;
  each_lane(i, state, 1, Tolerance::NanHalf, [&](const Lane& l) {
    const uint64_t a = raw_source(l, 0, 1), b = raw_source(l, 1, 1), c = destination(l, Type::U32);
    uint64_t both = 0;
    for (unsigned shift = 0; shift < 32; shift += 16)
      both |= fused(f16, a >> shift & 0xffff, b >> shift & 0xffff, c >> shift & 0xffff, l.rules(H)) << shift;
    return both;
  });
  return true;
}

uint64_t single(const Lane& l, unsigned n, unsigned which) {
  const isa::Modifiers& m = l.instruction.mods;
  const bool upper = ((which != 0 ? m.op_sel_hi : m.op_sel) >> n & 1) != 0;
  uint64_t value = raw_source(l, n, 2);
  value = (upper ? value >> 32 : value) & 0xffffffff;
  if (((which != 0 ? m.neg_hi : m.neg) >> n & 1) != 0) value ^= 0x80000000;
  return value;
}

bool pairs_of_f32(const Instruction& i, State& state) {
  const unsigned kind = i.is("v_pk_add_f32") ? 1 : i.is("v_pk_mul_f32") ? 2 : i.is("v_pk_fma_f32") ? 3 : 0;
  if (kind == 0) return false;
  each_lane(i, state, 2, Tolerance::NanFloat, [&](const Lane& l) {
    uint64_t both = 0;
    for (unsigned which = 0; which < 2; ++which) {
      const uint64_t a = single(l, 0, which), b = single(l, 1, which);
      const Rules rules = l.rules(Type::F32);
      const uint64_t value = kind == 1   ? sum(f32, a, b, rules)
                             : kind == 2 ? product(f32, a, b, rules)
                                         : fused(f32, a, b, single(l, 2, which), rules);
      both |= finished(l, Type::F32, value) << (32 * which);
    }
    return both;
  });
  return true;
}

bool packed_moves(const Instruction& i, State& state) {
  const unsigned select = i.mods.op_sel;
  if (i.is("v_pk_mov_b32")) {
    each_lane(i, state, 2, Tolerance::None, [&](const Lane& l) {
      const uint64_t a = raw_source(l, 0, 2), b = raw_source(l, 1, 2);
      return (a >> (32 * (select & 1)) & 0xffffffff) | (b >> (32 * (select >> 1 & 1)) & 0xffffffff) << 32;
    });
    return true;
  }
  if (i.is("v_pack_b32_f16")) {
    each_lane(i, state, 1, Tolerance::None, [&](const Lane& l) {
      const bool keeps = l.rules(H).keeps_inputs;
      return flushed(f16, source(l, 0, H), keeps) | flushed(f16, source(l, 1, H), keeps) << 16;
    });
    return true;
  }
  return false;
}

// --- v_fma_mix*

uint64_t mix_source(const Lane& l, unsigned n) {
  const isa::Modifiers& m = l.instruction.mods;
  uint64_t value = raw_source(l, n, 1);
  // LLVM gives constants as f16; where f32 is asked for, they are f32.
  if (const auto constant = float_constant(l.instruction, n); constant && (m.op_sel_hi >> n & 1) == 0)
    value = *constant;
  const bool narrow = (m.op_sel_hi >> n & 1) != 0, upper = (m.op_sel >> n & 1) != 0;
  if (narrow) {
    value = value >> (upper ? 16 : 0) & 0xffff;
    value = pack(f32, unpack(f16, value, l.rules(Type::F32).keeps_inputs), {});
  }
  if ((m.neg_hi >> n & 1) != 0) value &= 0x7fffffff; // NEG_HI is ABS here
  if ((m.neg >> n & 1) != 0) value ^= 0x80000000;
  return value;
}

bool mixed(const Instruction& i, State& state) {
  if (!i.base_mnemonic.starts_with("v_fma_mix")) return false;
  const bool low = i.is("v_fma_mixlo_f16"), high = i.is("v_fma_mixhi_f16");
  each_lane(i, state, 1, low || high ? Tolerance::NanHalf : Tolerance::NanFloat, [&](const Lane& l) {
    const uint64_t value =
        fused(f32, mix_source(l, 0), mix_source(l, 1), mix_source(l, 2), l.rules(Type::F32));
    if (!low && !high) return finished(l, Type::F32, value);
    const uint64_t narrow =
        finished(l, H, pack(f16, unpack(f32, value, l.rules(H).keeps_inputs), l.rules(H)));
    const uint64_t before = destination(l, Type::U32);
    return low ? (before & 0xffff0000) | narrow : (before & 0xffff) | narrow << 16;
  });
  return true;
}

// --- dot products of floats, as separate products and sums: one product after the other is added to the
// third source; v_dot2_f32_bf16 adds that last.

bool dot_floats(const Instruction& i, State& state) {
  const bool half_format = i.is("v_dot2_f32_f16") || i.is("v_dot2c_f32_f16");
  if (!half_format && !i.is("v_dot2_f32_bf16") && !i.is("v_dot2c_f32_bf16")) return false;
  const bool accumulates = i.family != isa::Family::Vop3p;
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  const auto& m = i.mods;
  std::array<std::array<uint32_t, 2>, lane_count> results{};
  for (unsigned n = 0; n < lane_count; ++n) {
    results[n][0] = state.vectors[to][n];
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    const Lane l{i, state, n};
    const Rules rules = l.rules(Type::F32);
    // bf16 is the upper half of an f32, and treated so.
    const bool keeps = half_format ? state.target.gfx != isa::Gfx::gfx90a : rules.keeps_inputs;
    const auto part = [&](unsigned s, unsigned which) {
      uint64_t v = raw_source(l, s, 1);
      if (accumulates) return unpack(half_format ? f16 : bf16, v >> (16 * which) & 0xffff, keeps);
      const bool upper = ((which != 0 ? m.op_sel_hi : m.op_sel) >> s & 1) != 0;
      if (is_float_constant(i, s)) v &= 0xffff;
      v = v >> (upper ? 16 : 0) & 0xffff;
      if (((which != 0 ? m.neg_hi : m.neg) >> s & 1) != 0) v ^= 0x8000;
      return unpack(half_format ? f16 : bf16, v, keeps);
    };
    uint64_t third = accumulates ? state.vectors[to][n] : raw_source(l, 2, 1);
    if (!accumulates && (m.neg >> 2 & 1) != 0) third ^= 0x80000000;
    const auto round = [&](const Real& r) { return unpack(f32, pack(f32, r, rules), rules.keeps_inputs); };
    // Products of bf16 may be too large or too small for f32.
    const Real first = round(multiply(part(0, 0), part(1, 0))),
               second = round(multiply(part(0, 1), part(1, 1)));
    const Real start = unpack(f32, third, rules.keeps_inputs);
    Real total;
    if (half_format || accumulates)
      total = add(round(add(start, first, rules.round)), second, rules.round);
    else
      total = add(round(add(first, second, rules.round)), start, rules.round);
    place(l, Type::F32, finished(l, Type::F32, pack(f32, total, rules)), results[n]);
  }
  for (unsigned n = 0; n < lane_count; ++n) state.vectors[to][n] = results[n][0];
  state.wrote(to, Tolerance::NanFloat);
  return true;
}

} // namespace

bool run_packed(const Instruction& i, State& state) {
  return pairs_of_16(i, state) || accumulated_pairs(i, state) || pairs_of_f32(i, state) ||
         packed_moves(i, state) || mixed(i, state) || dot_floats(i, state);
}

} // namespace asmevo::reference
