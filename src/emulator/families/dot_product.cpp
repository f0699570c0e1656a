// Dot products of short vectors within a register, added to an accumulator. The VOP2 forms (v_dot*c) have the
// destination as accumulator.
#include "emulator/families/half_block.h"
#include "emulator/families/integer_lanes.h"
#include "emulator/families/packed_sources.h"

namespace asmevo::emulator {

namespace {

// --- Integers: exact, then wrapped or saturated once.

template <unsigned bits>
constexpr int64_t signed_dot(uint32_t a, uint32_t b, int32_t c) {
  using Sum = std::conditional_t<(bits < 16), int32_t, int64_t>; // two products of 16 bits may need 33
  Sum sum = 0;
  for (unsigned shift = 0; shift < 32; shift += bits)
    sum += Sum{signed_part<bits>(a, shift)} * signed_part<bits>(b, shift);
  return int64_t{sum} + c;
}

template <unsigned bits>
constexpr int64_t unsigned_dot(uint32_t a, uint32_t b, uint32_t c) {
  using Sum = std::conditional_t<(bits < 16), uint32_t, uint64_t>;
  Sum sum = 0;
  for (unsigned shift = 0; shift < 32; shift += bits)
    sum += Sum{unsigned_part<bits>(a, shift)} * unsigned_part<bits>(b, shift);
  return static_cast<int64_t>(uint64_t{sum} + c);
}

// --- Floats: products of two f16 or bf16 are exact in f32; every addition rounds.

using LaneFloats = std::array<float, lanes>;

struct FloatPair {
  LaneFloats low, high;
};

FloatPair from_f16(const Wave& wave, const uint32_t* row) {
  std::array<uint16_t, lanes> low, high;
  for (unsigned l = 0; l < lanes; ++l) {
    low[l] = static_cast<uint16_t>(row[l]);
    high[l] = static_cast<uint16_t>(row[l] >> 16);
  }
  // gfx90a takes denormals for zero, the later targets never do, whatever MODE says (LLVM pull request
  // 205101).
  if (wave.dispatch->target.gfx == isa::Gfx::gfx90a) {
    flush_halves(low);
    flush_halves(high);
  }
  return {widen(low), widen(high)};
}

FloatPair from_bf16(const Wave&, const uint32_t* row) {
  FloatPair pair;
  for (unsigned l = 0; l < lanes; ++l) {
    pair.low[l] = std::bit_cast<float>(row[l] << 16);
    pair.high[l] = std::bit_cast<float>(row[l] & 0xffff'0000);
  }
  return pair;
}

// Accumulator of a float dot product; of VOP3P, neg_lo alone applies to it.
const uint32_t* accumulator(Wave& wave, const MicroOp& op, SourceBuffer& buffer) {
  const uint32_t* from = fetch<uint32_t>(wave, op, 2, buffer).low;
  if (op.instruction->family != isa::Family::Vop3p || (op.mods().neg & 4) == 0) return from;
  for (unsigned l = 0; l < lanes; ++l) buffer.low.lane[l] = from[l] ^ 0x8000'0000;
  return buffer.low.lane;
}

enum class Order : uint8_t { AccumulatorFirst, AccumulatorLast };

template <auto Convert, Order order>
void float_dot(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[3];
  const FloatPair a = Convert(wave, pair_source(wave, op, 0, true, buffers[0]));
  const FloatPair b = Convert(wave, pair_source(wave, op, 1, true, buffers[1]));
  const uint32_t* c = accumulator(wave, op, buffers[2]);
  Results<float> results;
  for (unsigned l = 0; l < lanes; ++l) {
    const float first = a.low[l] * b.low[l], second = a.high[l] * b.high[l], sum = std::bit_cast<float>(c[l]);
    results.set(l, order == Order::AccumulatorFirst ? (sum + first) + second : (first + second) + sum);
  }
  if (op.instruction->family == isa::Family::Vop3p && op.mods().clamp)
    for (uint32_t& v : results.low.lane)
      v = std::bit_cast<uint32_t>(clamp_to_unit(std::bit_cast<float>(v), wave.mode.dx10_clamp()));
  write_result(wave, op, results);
}

constexpr OpcodeRow rows[] = {
    saturating<int32_t, signed_dot<16>>("v_dot2_i32_i16"),
    saturating<int32_t, signed_dot<16>>("v_dot2c_i32_i16"),
    saturating<uint32_t, unsigned_dot<16>>("v_dot2_u32_u16"),
    saturating<int32_t, signed_dot<8>>("v_dot4_i32_i8"),
    saturating<int32_t, signed_dot<8>>("v_dot4c_i32_i8"),
    saturating<uint32_t, unsigned_dot<8>>("v_dot4_u32_u8"),
    saturating<int32_t, signed_dot<4>>("v_dot8_i32_i4"),
    saturating<int32_t, signed_dot<4>>("v_dot8c_i32_i4"),
    saturating<uint32_t, unsigned_dot<4>>("v_dot8_u32_u4"),

    // The orders are those of the CDNA4 manual.
    {"v_dot2_f32_f16", float_dot<from_f16, Order::AccumulatorFirst>},
    {"v_dot2c_f32_f16", float_dot<from_f16, Order::AccumulatorFirst>},
    {"v_dot2_f32_bf16", float_dot<from_bf16, Order::AccumulatorLast>},
    {"v_dot2c_f32_bf16", float_dot<from_bf16, Order::AccumulatorFirst>},
};

} // namespace

OpcodeRows dot_product_rows() {
  return rows;
}

} // namespace asmevo::emulator
