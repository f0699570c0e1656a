// Conversions from and to fp8, bf8 and bf16.
#include "emulator/reference/matrix_sum.h"
#include "emulator/reference/vector.h"

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::RegUnit;
using isa::Role;

MatrixFormat small_format(const State& state, bool fp8) {
  const bool fnuz = state.target.gfx != isa::Gfx::gfx950;
  if (fp8) return {MatrixFormat::Kind::Fp8, 8, 4, 3, fnuz ? 8 : 7, fnuz};
  return {MatrixFormat::Kind::Bf8, 8, 5, 2, fnuz ? 16 : 15, fnuz};
}

uint64_t widened(const MatrixFormat& f, uint64_t bits) {
  const Part p = part_of(f, bits);
  if (p.kind == Part::Kind::Nan) return pack(f32, nan(), {});
  Real r{.kind = Real::Kind::Finite,
         .negative = p.negative,
         .digits = static_cast<uint64_t>(p.significand),
         .exponent = p.exponent - f.fraction_bits};
  if (p.kind == Part::Kind::Infinite) r.kind = Real::Kind::Infinite;
  if (p.kind == Part::Kind::Finite && p.significand == 0) r = {.negative = p.negative};
  return pack(f32, r, {});
}

// To nearest even. Beyond the largest: that, where MODE says so; else infinity, or NaN where there is none.
uint64_t narrowed(const MatrixFormat& f, const Real& r, bool saturates) {
  const bool ieee = f.kind == MatrixFormat::Kind::Bf8 && !f.fnuz;
  const uint64_t sign = r.negative ? 0x80 : 0;
  const uint64_t quiet = f.fnuz ? 0x80 : sign | (ieee ? 0x7e : 0x7f);
  const uint64_t infinite = ieee ? sign | 0x7c : quiet;
  const uint64_t largest = sign | (f.fnuz ? 0x7f : ieee ? 0x7b : 0x7e);
  if (r.nan()) return quiet;
  if (r.infinite()) return infinite; // no overflow
  if (r.zero()) return f.fnuz ? 0 : sign;
  const int last = std::max(r.magnitude(), 1 - f.bias) - f.fraction_bits;
  const Real whole = to_integer(scale(r, -last), Round::NearestEven);
  if (whole.zero()) return f.fnuz ? 0 : sign;
  // The significand and the exponent above it count on as one number.
  const uint64_t digits =
      static_cast<uint64_t>(whole.exponent > 0 ? whole.digits << whole.exponent : whole.digits);
  const uint64_t code =
      digits + (static_cast<uint64_t>(last + f.fraction_bits + f.bias - 1) << f.fraction_bits);
  if (code > (largest & 0x7f)) return saturates ? largest : infinite;
  return sign | code;
}

bool widen(const Instruction& i, State& state) {
  const bool two = i.is("v_cvt_pk_f32_fp8") || i.is("v_cvt_pk_f32_bf8");
  const bool fp8 = i.base_mnemonic.ends_with("fp8");
  if (!two && !i.is("v_cvt_f32_fp8") && !i.is("v_cvt_f32_bf8")) return false;
  const MatrixFormat f = small_format(state, fp8);
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  std::array<uint64_t, lane_count> results{};
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    uint64_t bits = raw_source({i, state, n}, 0, 1);
    if (i.extension == isa::Extension::Sdwa)
      bits >>= two ? (i.mods.src0_sel == 5 ? 16 : 0) : i.mods.src0_sel < 4 ? 8 * i.mods.src0_sel : 0;
    const Lane l{i, state, n};
    results[n] = finished(l, Type::F32, widened(f, bits & 0xff));
    if (two) results[n] |= finished(l, Type::F32, widened(f, bits >> 8 & 0xff)) << 32;
  }
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    state.vectors[to][n] = static_cast<uint32_t>(results[n]);
    if (two) state.vectors[to + 1U][n] = static_cast<uint32_t>(results[n] >> 32);
  }
  state.wrote(to, Tolerance::NanFloat);
  if (two) state.wrote(static_cast<RegUnit>(to + 1), Tolerance::NanFloat);
  return true;
}

bool narrow(const Instruction& i, State& state) {
  const bool fp8 = i.is("v_cvt_pk_fp8_f32");
  if (!fp8 && !i.is("v_cvt_pk_bf8_f32")) return false;
  const MatrixFormat f = small_format(state, fp8);
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const Lane l{i, state, n};
    const auto part = [&](unsigned s) {
      return narrowed(f, unpack(f32, source(l, s, Type::F32)), l.mode().fp16_overflow());
    };
    const uint64_t both = part(0) | part(1) << 8;
    std::array<uint32_t, 2> rows = {state.vectors[to][n], 0};
    rows[0] = (i.mods.op_sel & 8) != 0 ? (rows[0] & 0xffff) | static_cast<uint32_t>(both) << 16
                                       : (rows[0] & 0xffff0000) | static_cast<uint32_t>(both);
    state.vectors[to][n] = rows[0];
  }
  state.wrote(to);
  return true;
}

bool bfloats(const Instruction& i, State& state) {
  const bool two = i.is("v_cvt_pk_bf16_f32");
  if (!two && !i.is("v_cvt_f32_bf16")) return false;
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  std::array<uint32_t, lane_count> rows = state.vectors[to];
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    const Lane l{i, state, n};
    std::array<uint32_t, 2> placed = {rows[n], 0};
    if (two) {
      const auto part = [&](unsigned s) {
        return pack(bf16, unpack(f32, source(l, s, Type::F32)), {.saturates = l.mode().fp16_overflow()});
      };
      placed[0] = static_cast<uint32_t>(part(0) | part(1) << 16);
    } else {
      place(l, Type::F32, finished(l, Type::F32, source(l, 0, Type::F16) << 16), placed); // signs as f16's
    }
    rows[n] = placed[0];
  }
  state.vectors[to] = rows;
  state.wrote(to, two ? Tolerance::NanBfloat : Tolerance::NanFloat);
  return true;
}

} // namespace

bool run_small_floats(const Instruction& i, State& state) {
  return widen(i, state) || narrow(i, state) || bfloats(i, state);
}

} // namespace asmevo::reference
