// Conversions to and from fp8, bf8, fp6, bf6, fp4 and bf16. gfx942's fp8 and bf8 are FNUZ (no Inf, no -0, one
// NaN), those of gfx950 OCP's; the others exist on gfx950 only.
//
// Results round to nearest even whatever MODE says, denormals count. What is too large becomes Inf, or NaN
// where the format has no Inf, or with MODE.FP16_OVFL the largest number; fp6, bf6 and fp4 have neither and
// saturate always. Inf and NaN among the operands become Inf or NaN in any case.
//
// v_cvt_scalef32_*: to a small format the number is divided by the scale, from one it is multiplied.
#include "emulator/families/half.h"
#include "emulator/families/small_float_codec.h"
#include "emulator/lanes.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

bool is_ocp(const Wave& wave) {
  return wave.dispatch->target.gfx == isa::Gfx::gfx950;
}

template <Handler Fnuz, Handler Ocp>
void by_target(Wave& wave, const MicroOp& op) {
  (is_ocp(wave) ? Ocp : Fnuz)(wave, op);
}

// --- what is converted

struct FromF32 {
  static constexpr unsigned bits = 32, mantissa = 23;
  static double value(uint32_t raw) { return static_cast<double>(std::bit_cast<float>(raw)); }
};
struct FromF16 {
  static constexpr unsigned bits = 16, mantissa = 10;
  static double value(uint32_t raw) {
    return static_cast<double>(to_float(Half{static_cast<uint16_t>(raw)}));
  }
};
struct FromBf16 {
  static constexpr unsigned bits = 16, mantissa = 7;
  static double value(uint32_t raw) { return static_cast<double>(std::bit_cast<float>(raw << 16)); }
};

// --- what a small number becomes

struct ToF32 {
  static constexpr unsigned bits = 32;
  static uint32_t code(const FloatMode&, double value) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
};
template <SmallFloat F>
struct ToSixteen {
  static constexpr unsigned bits = 16;
  static uint32_t code(const FloatMode& mode, double value) { return encode<F>(value, mode.fp16_overflow()); }
};
using ToF16 = ToSixteen<e5m10>;
using ToBf16 = ToSixteen<e8m7>;

// --- results in part of a register

// The function's result goes to the half or the byte that op_sel names; the rest of the register stays.
template <unsigned Bits, auto F>
void into_part(Wave& wave, const MicroOp& op) {
  const unsigned op_sel = op.mods().op_sel;
  const unsigned shift = Bits == 16 ? (op_sel >> 3 & 1) * 16 : (op_sel >> 2 & 3) * 8;
  constexpr uint32_t mask = (1U << Bits) - 1;
  const MxcsrScope plain(FloatMode::csr_plain);
  const Row& before = wave.vectors[op.result.index];
  Results<uint32_t> results;
  detail::run_lanes<F>(wave, op, [&](unsigned l, uint32_t part) {
    results.set(l, (before.lane[l] & ~(mask << shift)) | (part & mask) << shift);
  });
  write_result(wave, op, results);
}

template <auto F>
void plainly(Wave& wave, const MicroOp& op) {
  const MxcsrScope plain(FloatMode::csr_plain);
  lanewise<F>(wave, op);
}

// --- one or two numbers, no scale

template <SmallFloat F>
float decoded(uint32_t raw) {
  return small_float_values<F>[raw & 0xff];
}
template <SmallFloat F>
uint64_t decoded_pair(uint32_t raw) {
  return std::bit_cast<uint32_t>(decoded<F>(raw)) | uint64_t{std::bit_cast<uint32_t>(decoded<F>(raw >> 8))}
                                                        << 32;
}

template <SmallFloat F>
uint32_t packed(const FloatMode& mode, float a, float b) {
  const auto code = [&](float v) { return encode<F>(static_cast<double>(v), mode.fp16_overflow()); };
  return code(a) | code(b) << F.bits();
}
template <SmallFloat F>
uint32_t stochastic(const FloatMode& mode, float a, uint32_t seed) {
  return encode<F>(static_cast<double>(a), mode.fp16_overflow(), {.stochastic = true, .seed = seed});
}

// --- scaled, to a small format

template <SmallFloat F, class From>
uint32_t divided(const FloatMode& mode, uint32_t raw, const Scale& scale, SmallRounding how = {}) {
  how.source_mantissa = From::mantissa;
  return encode<F>(From::value(raw) * scale.inverse, mode.fp16_overflow(), how);
}

template <SmallFloat F>
uint32_t divided_pair_f32(const FloatMode& mode, float a, float b, float scale) {
  const Scale s(scale);
  return divided<F, FromF32>(mode, bits_of(a), s) | divided<F, FromF32>(mode, bits_of(b), s) << F.bits();
}
template <SmallFloat F, class From>
uint32_t divided_pair(const FloatMode& mode, uint32_t pair, float scale) {
  const Scale s(scale);
  return divided<F, From>(mode, pair & 0xffff, s) | divided<F, From>(mode, pair >> 16, s) << F.bits();
}

template <SmallFloat F>
uint32_t divided_stochastic_f32(const FloatMode& mode, float a, uint32_t seed, float scale) {
  return divided<F, FromF32>(mode, bits_of(a), Scale(scale), {.stochastic = true, .seed = seed});
}
template <SmallFloat F, class From>
uint32_t divided_stochastic(const FloatMode& mode, uint16_t a, uint32_t seed, float scale) {
  return divided<F, From>(mode, a, Scale(scale), {.stochastic = true, .seed = seed});
}

// Pairs step the seed for their second number.
template <SmallFloat F, class From, class Pair>
uint32_t divided_stochastic_pair(const FloatMode& mode, Pair pair, uint32_t seed, float scale) {
  const Scale s(scale);
  const auto first = static_cast<uint32_t>(pair) & (From::bits == 16 ? 0xffffU : ~0U);
  const auto second = static_cast<uint32_t>(pair >> From::bits);
  return divided<F, From>(mode, first, s, {.stochastic = true, .seed = seed}) |
         divided<F, From>(mode, second, s, {.stochastic = true, .seed = next_random(seed)}) << F.bits();
}

// --- scaled, from a small format

// op_sel[1:0] names the byte, or with pairs of bytes op_sel[0] the half, of the source.
unsigned source_shift(const MicroOp& op, bool half) {
  return half ? (op.mods().op_sel & 1) * 16 : (op.mods().op_sel & 3) * 8;
}

template <SmallFloat F>
double multiplied(uint32_t raw, const Scale& scale) {
  constexpr uint32_t mask = (1U << F.bits()) - 1;
  return static_cast<double>(small_float_values<F>[raw & mask]) * scale.factor;
}

template <SmallFloat F, class To>
void scale_one(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[2];
  const auto raw = fetch<uint32_t>(wave, op, 0, buffers[0]);
  const auto scale = fetch<float>(wave, op, 1, buffers[1]);
  const unsigned shift = source_shift(op, false),
                 to_shift = To::bits == 16 ? (op.mods().op_sel >> 3 & 1) * 16 : 0;
  constexpr uint32_t mask = To::bits == 16 ? 0xffffU : ~0U;
  const MxcsrScope plain(FloatMode::csr_plain);
  const Row& before = wave.vectors[op.result.index];
  Results<uint32_t> results;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t code = To::code(wave.mode, multiplied<F>(raw[l] >> shift, Scale(scale[l])));
    results.set(l, (before.lane[l] & ~(mask << to_shift)) | code << to_shift);
  }
  write_result(wave, op, results);
}

// The two numbers of a byte (fp4) or of a half.
template <SmallFloat F, class To>
void scale_pair(Wave& wave, const MicroOp& op) {
  using Result = std::conditional_t<To::bits == 32, uint64_t, uint32_t>;
  SourceBuffer buffers[2];
  const auto raw = fetch<uint32_t>(wave, op, 0, buffers[0]);
  const auto scale = fetch<float>(wave, op, 1, buffers[1]);
  const unsigned shift = source_shift(op, F.bits() == 8);
  const MxcsrScope plain(FloatMode::csr_plain);
  Results<Result> results;
  for (unsigned l = 0; l < lanes; ++l) {
    const Scale s(scale[l]);
    const uint32_t pair = raw[l] >> shift;
    const Result low = To::code(wave.mode, multiplied<F>(pair, s));
    const Result high = To::code(wave.mode, multiplied<F>(pair >> F.bits(), s));
    results.set(l, low | high << To::bits);
  }
  write_result(wave, op, results);
}

// --- 32 numbers of six bits, dense in six registers

// Puts an item of each lane into dense rows that start as zeros.
template <unsigned Bits>
void pack_item(Row* rows, unsigned item, unsigned lane, uint32_t code) {
  const unsigned bit = item * Bits, shift = bit % 32;
  rows[bit / 32].lane[lane] |= code << shift;
  if (shift + Bits > 32) rows[bit / 32 + 1].lane[lane] |= code >> (32 - shift);
}

void write_rows(Wave& wave, const MicroOp& op, const Row* rows, unsigned count) {
  const uint64_t mask = write_mask(wave, op);
  for (unsigned i = 0; i < count; ++i) write_row(wave.vectors[op.result.index + i], rows[i], mask);
}

template <class From>
uint32_t source_item(const Row* rows, unsigned item, unsigned lane) {
  if constexpr (From::bits == 32)
    return rows[item].lane[lane];
  else
    return rows[item / 2].lane[lane] >> (item % 2 * 16) & 0xffff;
}

template <SmallFloat F, class From, bool Stochastic = false>
void divide_32(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[2];
  const Row* source = wave.vectors + op.source[0].index;
  const auto seeds = fetch<uint32_t>(wave, op, 1, buffers[0]);
  const auto scale = fetch<float>(wave, op, Stochastic ? 2 : 1, buffers[1]);
  const MxcsrScope plain(FloatMode::csr_plain);
  Row rows[6] = {};
  for (unsigned l = 0; l < lanes; ++l) {
    const Scale s(scale[l]);
    SmallRounding how{.stochastic = Stochastic, .seed = Stochastic ? seeds[l] : 0};
    for (unsigned item = 0; item < 32; ++item, how.seed = next_random(how.seed))
      pack_item<6>(rows, item, l, divided<F, From>(wave.mode, source_item<From>(source, item, l), s, how));
  }
  write_rows(wave, op, rows, 6);
}

// Two sources of 16 floats each, taken in turns.
template <SmallFloat F>
void divide_twice_16(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer;
  const Row* sources[] = {wave.vectors + op.source[0].index, wave.vectors + op.source[1].index};
  const auto scale = fetch<float>(wave, op, 2, buffer);
  const MxcsrScope plain(FloatMode::csr_plain);
  Row rows[6] = {};
  for (unsigned l = 0; l < lanes; ++l) {
    const Scale s(scale[l]);
    for (unsigned item = 0; item < 32; ++item)
      pack_item<6>(rows, item, l, divided<F, FromF32>(wave.mode, sources[item % 2][item / 2].lane[l], s));
  }
  write_rows(wave, op, rows, 6);
}

template <SmallFloat F, class To>
void multiply_32(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer;
  const Row* source = wave.vectors + op.source[0].index;
  const auto scale = fetch<float>(wave, op, 1, buffer);
  const MxcsrScope plain(FloatMode::csr_plain);
  Row rows[To::bits] = {}; // 32 results
  uint32_t raw[lanes];
  for (unsigned item = 0; item < 32; ++item) {
    unpack_items<6>(source, item, raw);
    for (unsigned l = 0; l < lanes; ++l)
      pack_item<To::bits>(rows, item, l, To::code(wave.mode, multiplied<F>(raw[l], Scale(scale[l]))));
  }
  write_rows(wave, op, rows, To::bits);
}

constexpr OpcodeRow rows[] = {
    {"v_cvt_f32_fp8", by_target<lanewise<decoded<e4m3fnuz>>, lanewise<decoded<e4m3fn>>>},
    {"v_cvt_f32_bf8", by_target<lanewise<decoded<e5m2fnuz>>, lanewise<decoded<e5m2>>>},
    {"v_cvt_pk_f32_fp8", by_target<lanewise<decoded_pair<e4m3fnuz>>, lanewise<decoded_pair<e4m3fn>>>},
    {"v_cvt_pk_f32_bf8", by_target<lanewise<decoded_pair<e5m2fnuz>>, lanewise<decoded_pair<e5m2>>>},
    {"v_cvt_pk_fp8_f32", by_target<into_part<16, packed<e4m3fnuz>>, into_part<16, packed<e4m3fn>>>},
    {"v_cvt_pk_bf8_f32", by_target<into_part<16, packed<e5m2fnuz>>, into_part<16, packed<e5m2>>>},
    {"v_cvt_sr_fp8_f32", by_target<into_part<8, stochastic<e4m3fnuz>>, into_part<8, stochastic<e4m3fn>>>},
    {"v_cvt_sr_bf8_f32", by_target<into_part<8, stochastic<e5m2fnuz>>, into_part<8, stochastic<e5m2>>>},

    {"v_cvt_f32_bf16", lanewise<[](uint16_t a) { return std::bit_cast<float>(uint32_t{a} << 16); }>},
    {"v_cvt_pk_bf16_f32", plainly<packed<e8m7>>},
    {"v_cvt_sr_bf16_f32", into_part<16, stochastic<e8m7>>},
    {"v_cvt_sr_f16_f32", into_part<16, stochastic<e5m10>>},

    {"v_cvt_scalef32_pk_fp8_f32", into_part<16, divided_pair_f32<e4m3fn>>},
    {"v_cvt_scalef32_pk_fp8_f16", into_part<16, divided_pair<e4m3fn, FromF16>>},
    {"v_cvt_scalef32_pk_fp8_bf16", into_part<16, divided_pair<e4m3fn, FromBf16>>},
    {"v_cvt_scalef32_pk_bf8_f32", into_part<16, divided_pair_f32<e5m2>>},
    {"v_cvt_scalef32_pk_bf8_f16", into_part<16, divided_pair<e5m2, FromF16>>},
    {"v_cvt_scalef32_pk_bf8_bf16", into_part<16, divided_pair<e5m2, FromBf16>>},
    {"v_cvt_scalef32_pk_fp4_f32", into_part<8, divided_pair_f32<e2m1>>},
    {"v_cvt_scalef32_pk_fp4_f16", into_part<8, divided_pair<e2m1, FromF16>>},
    {"v_cvt_scalef32_pk_fp4_bf16", into_part<8, divided_pair<e2m1, FromBf16>>},

    {"v_cvt_scalef32_sr_fp8_f32", into_part<8, divided_stochastic_f32<e4m3fn>>},
    {"v_cvt_scalef32_sr_fp8_f16", into_part<8, divided_stochastic<e4m3fn, FromF16>>},
    {"v_cvt_scalef32_sr_fp8_bf16", into_part<8, divided_stochastic<e4m3fn, FromBf16>>},
    {"v_cvt_scalef32_sr_bf8_f32", into_part<8, divided_stochastic_f32<e5m2>>},
    {"v_cvt_scalef32_sr_bf8_f16", into_part<8, divided_stochastic<e5m2, FromF16>>},
    {"v_cvt_scalef32_sr_bf8_bf16", into_part<8, divided_stochastic<e5m2, FromBf16>>},
    {"v_cvt_scalef32_sr_pk_fp4_f32", into_part<8, divided_stochastic_pair<e2m1, FromF32, uint64_t>>},
    {"v_cvt_scalef32_sr_pk_fp4_f16", into_part<8, divided_stochastic_pair<e2m1, FromF16, uint32_t>>},
    {"v_cvt_scalef32_sr_pk_fp4_bf16", into_part<8, divided_stochastic_pair<e2m1, FromBf16, uint32_t>>},

    {"v_cvt_scalef32_f32_fp8", scale_one<e4m3fn, ToF32>},
    {"v_cvt_scalef32_f32_bf8", scale_one<e5m2, ToF32>},
    {"v_cvt_scalef32_f16_fp8", scale_one<e4m3fn, ToF16>},
    {"v_cvt_scalef32_f16_bf8", scale_one<e5m2, ToF16>},
    {"v_cvt_scalef32_pk_f32_fp8", scale_pair<e4m3fn, ToF32>},
    {"v_cvt_scalef32_pk_f32_bf8", scale_pair<e5m2, ToF32>},
    {"v_cvt_scalef32_pk_f32_fp4", scale_pair<e2m1, ToF32>},
    {"v_cvt_scalef32_pk_f16_fp8", scale_pair<e4m3fn, ToF16>},
    {"v_cvt_scalef32_pk_f16_bf8", scale_pair<e5m2, ToF16>},
    {"v_cvt_scalef32_pk_f16_fp4", scale_pair<e2m1, ToF16>},
    {"v_cvt_scalef32_pk_bf16_fp8", scale_pair<e4m3fn, ToBf16>},
    {"v_cvt_scalef32_pk_bf16_bf8", scale_pair<e5m2, ToBf16>},
    {"v_cvt_scalef32_pk_bf16_fp4", scale_pair<e2m1, ToBf16>},

    {"v_cvt_scalef32_2xpk16_fp6_f32", divide_twice_16<e2m3>},
    {"v_cvt_scalef32_2xpk16_bf6_f32", divide_twice_16<e3m2>},
    {"v_cvt_scalef32_pk32_fp6_f16", divide_32<e2m3, FromF16>},
    {"v_cvt_scalef32_pk32_fp6_bf16", divide_32<e2m3, FromBf16>},
    {"v_cvt_scalef32_pk32_bf6_f16", divide_32<e3m2, FromF16>},
    {"v_cvt_scalef32_pk32_bf6_bf16", divide_32<e3m2, FromBf16>},
    {"v_cvt_scalef32_sr_pk32_fp6_f32", divide_32<e2m3, FromF32, true>},
    {"v_cvt_scalef32_sr_pk32_fp6_f16", divide_32<e2m3, FromF16, true>},
    {"v_cvt_scalef32_sr_pk32_fp6_bf16", divide_32<e2m3, FromBf16, true>},
    {"v_cvt_scalef32_sr_pk32_bf6_f32", divide_32<e3m2, FromF32, true>},
    {"v_cvt_scalef32_sr_pk32_bf6_f16", divide_32<e3m2, FromF16, true>},
    {"v_cvt_scalef32_sr_pk32_bf6_bf16", divide_32<e3m2, FromBf16, true>},
    {"v_cvt_scalef32_pk32_f32_fp6", multiply_32<e2m3, ToF32>},
    {"v_cvt_scalef32_pk32_f32_bf6", multiply_32<e3m2, ToF32>},
    {"v_cvt_scalef32_pk32_f16_fp6", multiply_32<e2m3, ToF16>},
    {"v_cvt_scalef32_pk32_f16_bf6", multiply_32<e3m2, ToF16>},
    {"v_cvt_scalef32_pk32_bf16_fp6", multiply_32<e2m3, ToBf16>},
    {"v_cvt_scalef32_pk32_bf16_bf6", multiply_32<e3m2, ToBf16>},
};

} // namespace

OpcodeRows small_float_rows() {
  return rows;
}

} // namespace asmevo::emulator
