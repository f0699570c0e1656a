// VOP3P on pairs of f16, v_pack_b32_f16, and v_fma_mix* whose sources are f32 or f16 as op_sel_hi says.
#include "emulator/families/half_block.h"
#include "emulator/families/packed_sources.h"

namespace asmevo::emulator {

namespace {

Halves<uint16_t> half_source(Wave& wave, const MicroOp& op, unsigned index) {
  SourceBuffer buffer;
  auto halves = as_halves<uint16_t>(pair_source(wave, op, index, true, buffer));
  if (!wave.mode.keeps_input_denormals64()) [[unlikely]]
    flush_halves(halves);
  return halves;
}

// --- Arithmetic, in f32. Nearest: what F must be where MODE rounds to nearest.

template <auto F, size_t... I>
void apply(const std::array<Halves<float>, sizeof...(I)>& sources, Halves<float>& results,
           std::index_sequence<I...>) {
  for (size_t n = 0; n < results.size(); ++n) results[n] = F(sources[I][n]...);
}

template <auto F, auto Nearest, size_t count>
void half_arithmetic(Wave& wave, const MicroOp& op, const std::array<Halves<float>, count>& sources) {
  constexpr auto indices = std::make_index_sequence<count>();
  Halves<float> wide;
  Halves<uint16_t> results;
  {
    const MxcsrScope scope(wave.mode.csr64());
    if (wave.mode.rounding64() == Rounding::NearestEven)
      apply<Nearest>(sources, wide, indices);
    else
      apply<F>(sources, wide, indices);
    results = narrow(wide);
  }
  const bool vop3p = op.instruction->family == isa::Family::Vop3p;
  finish_halves(results, wide, wave.mode, vop3p && op.mods().clamp);
  write_halves(wave, op, results);
}

template <auto F>
void of_two(Wave& wave, const MicroOp& op) {
  half_arithmetic<F, F, 2>(wave, op, {widen(half_source(wave, op, 0)), widen(half_source(wave, op, 1))});
}

float fused(float a, float b, float c) {
  return std::fma(a, b, c);
}

void multiply_add(Wave& wave, const MicroOp& op) {
  half_arithmetic<fused, fma_to_half, 3>(
      wave, op,
      {widen(half_source(wave, op, 0)), widen(half_source(wave, op, 1)), widen(half_source(wave, op, 2))});
}

// v_pk_fmac_f16 is VOP2: its third source is the destination.
void multiply_accumulate(Wave& wave, const MicroOp& op) {
  auto sum = as_halves<uint16_t>(wave.vectors[op.result.index].lane);
  if (!wave.mode.keeps_input_denormals64()) flush_halves(sum);
  half_arithmetic<fused, fma_to_half, 3>(
      wave, op, {widen(half_source(wave, op, 0)), widen(half_source(wave, op, 1)), widen(sum)});
}

// --- Minimum and maximum, on the bits

// In the order of the numbers, -0 below +0.
int16_t order(uint16_t bits) {
  return static_cast<int16_t>((bits & half_sign) != 0 ? bits ^ 0x7fff : bits);
}

template <bool greatest>
uint16_t better(uint16_t a, uint16_t b) {
  return (order(a) > order(b)) == greatest ? a : b;
}

uint16_t quieted(uint16_t bits) {
  return static_cast<uint16_t>(bits | half_quiet);
}

// v_min_f16, v_max_f16: a number wins over a NaN, but with IEEE set a signalling NaN over everything.
template <bool greatest>
uint16_t number_of_two(bool ieee, uint16_t a, uint16_t b) {
  const uint16_t number = half_is_nan(a) ? b : half_is_nan(b) ? a : better<greatest>(a, b);
  const uint16_t signalling = half_is_signalling(a) ? quieted(a) : quieted(b);
  return ieee && (half_is_signalling(a) || half_is_signalling(b)) ? signalling : number;
}

// v_minimum, v_maximum of IEEE 754-2019: a NaN wins over everything.
template <bool greatest>
uint16_t propagate_of_two(bool, uint16_t a, uint16_t b) {
  return half_is_nan(a) ? quieted(a) : half_is_nan(b) ? quieted(b) : better<greatest>(a, b);
}

template <auto F, size_t sources>
void select_half(Wave& wave, const MicroOp& op) {
  const bool ieee = wave.mode.ieee();
  Halves<uint16_t> results = half_source(wave, op, 0);
  for (unsigned i = 1; i < sources; ++i) {
    const Halves<uint16_t> other = half_source(wave, op, i);
    for (size_t n = 0; n < results.size(); ++n) results[n] = F(ieee, results[n], other[n]);
  }
  // A selected infinity is none that overflowed.
  finish_halves(results, widen(results), wave.mode, op.mods().clamp);
  write_halves(wave, op, results);
}

// --- v_fma_mix*

using LaneFloats = std::array<float, lanes>;
using LaneHalves = std::array<uint16_t, lanes>;

// LLVM gives a float constant as f16; where op_sel_hi asks for f32, it is the constant's f32.
uint32_t float_constant(const MicroOp& op, unsigned index) {
  constexpr uint32_t first_code = 240;
  constexpr float values[] = {0.5F, -0.5F, 1, -1, 2, -2, 4, -4, 0.15915494F};
  const uint32_t code = op.instruction->words[1] >> (9 * index) & 0x1ff;
  if (code < first_code || code >= first_code + std::size(values))
    return static_cast<uint32_t>(op.source[index].value);
  return std::bit_cast<uint32_t>(values[code - first_code]);
}

LaneFloats mixed_source(const Wave& wave, const MicroOp& op, unsigned index) {
  const isa::Modifiers& m = op.mods();
  Row buffer;
  const Place& place = op.source[index];
  const uint32_t* from = plain_row(wave, place, buffer);
  LaneFloats values;
  if ((m.op_sel_hi >> index & 1) == 0) {
    if (place.kind == Place::Kind::Constant)
      for (uint32_t& v : buffer.lane) v = float_constant(op, index);
    __builtin_memcpy(values.data(), from, sizeof values);
  } else {
    const unsigned shift = 16 * (m.op_sel >> index & 1);
    LaneHalves halves;
    for (unsigned l = 0; l < lanes; ++l) halves[l] = static_cast<uint16_t>(from[l] >> shift);
    // It is the f32 part of MODE that decides (LLVM pull request 205101, measured on gfx90a and gfx950).
    if (!wave.mode.keeps_input_denormals32()) flush_halves(halves);
    values = widen(halves);
  }
  const bool absolute = (m.neg_hi >> index & 1) != 0, negate = (m.neg >> index & 1) != 0;
  if (absolute)
    for (float& v : values) v = std::fabs(v);
  if (negate)
    for (float& v : values) v = -v;
  return values;
}

LaneFloats mixed_sum(const Wave& wave, const MicroOp& op) {
  const LaneFloats a = mixed_source(wave, op, 0), b = mixed_source(wave, op, 1),
                   c = mixed_source(wave, op, 2);
  LaneFloats sum;
  for (unsigned l = 0; l < lanes; ++l) sum[l] = std::fma(a[l], b[l], c[l]);
  return sum;
}

void mix(Wave& wave, const MicroOp& op) {
  LaneFloats sum = mixed_sum(wave, op);
  if (op.mods().clamp)
    for (float& v : sum) v = clamp_to_unit(v, wave.mode.dx10_clamp());
  write_row(wave.vectors[op.result.index], std::bit_cast<Row>(sum), wave.exec());
}

// Rounds to f32 first, then to f16; the other half of the register stays.
template <bool high>
void mix_to_half(Wave& wave, const MicroOp& op) {
  const LaneFloats sum = mixed_sum(wave, op);
  LaneHalves halves;
  {
    const MxcsrScope scope(wave.mode.csr64());
    halves = narrow(sum);
  }
  finish_halves(halves, sum, wave.mode, op.mods().clamp);
  Row& to = wave.vectors[op.result.index];
  Row results;
  for (unsigned l = 0; l < lanes; ++l)
    results.lane[l] =
        high ? (to.lane[l] & 0xffff) | uint32_t{halves[l]} << 16 : (to.lane[l] & 0xffff'0000) | halves[l];
  write_row(to, results, wave.exec());
}

// VOP3, with op_sel, neg and abs of its own.
uint32_t pack(const FloatMode& mode, Half low, Half high) {
  std::array<uint16_t, 2> pair{low.bits, high.bits};
  if (!mode.keeps_input_denormals64()) flush_halves(pair);
  return pair[0] | uint32_t{pair[1]} << 16;
}

constexpr OpcodeRow rows[] = {
    {"v_pk_add_f16", of_two<[](float a, float b) { return a + b; }>},
    {"v_pk_mul_f16", of_two<[](float a, float b) { return a * b; }>},
    {"v_pk_fma_f16", multiply_add},
    {"v_pk_fmac_f16", multiply_accumulate},
    {"v_pk_min_f16", select_half<number_of_two<false>, 2>},
    {"v_pk_max_f16", select_half<number_of_two<true>, 2>},
    {"v_pk_minimum3_f16", select_half<propagate_of_two<false>, 3>},
    {"v_pk_maximum3_f16", select_half<propagate_of_two<true>, 3>},
    {"v_pack_b32_f16", lanewise<pack>},
    {"v_fma_mix_f32", mix},
    {"v_fma_mixlo_f16", mix_to_half<false>},
    {"v_fma_mixhi_f16", mix_to_half<true>},
};

} // namespace

OpcodeRows packed_half_rows() {
  return rows;
}

} // namespace asmevo::emulator
