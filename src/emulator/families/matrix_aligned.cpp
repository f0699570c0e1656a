#include "emulator/families/matrix_aligned.h"

namespace asmevo::emulator {

namespace {

using FloatBits [[gnu::may_alias]] = int32_t;

/// 64 elements: a loop of known length over arrays that do not overlap, so that it vectorises.
struct Block {
  const FloatBits* __restrict value;
  int32_t* __restrict significand; // or the bits of finite values
  int32_t* __restrict exponent;
};

struct Extremes {
  int32_t special = 0, largest = SplitOperand::zero_exponent;
};

template <bool as_floats>
Extremes split_block(const Block& block, int min_exponent) {
  const auto [value, significand, exponent] = block;
  int32_t any_special = 0, largest = SplitOperand::zero_exponent;
  for (unsigned n = 0; n < lanes; ++n) {
    const int32_t bits = value[n];
    const int32_t field = bits >> 23 & 0xff;
    const int32_t mantissa = (bits & 0x7fffff) | (field != 0 ? 0x800000 : 0);
    const int32_t own_exponent = (field > 1 ? field : 1) - 127;
    const int32_t e = own_exponent > min_exponent ? own_exponent : min_exponent;
    // Subnormals of the format are normal floats: shifted back to where they stand in the format. No bit is
    // lost.
    const int32_t shift = 11 + (e - own_exponent);
    const int32_t magnitude = field == 0xff ? 0 : mantissa >> (shift < 31 ? shift : 31);
    const int32_t own = magnitude != 0 ? e : SplitOperand::zero_exponent;
    significand[n] = as_floats ? (field == 0xff ? 0 : bits) : bits < 0 ? -magnitude : magnitude;
    exponent[n] = own;
    any_special |= field == 0xff ? 1 : 0;
    largest = largest > own ? largest : own;
  }
  return {any_special, largest};
}

} // namespace

void SplitOperand::split(unsigned elements, int min_exponent, bool as_floats) {
  Extremes all;
  int32_t* const to = as_floats ? finite_bits : significand;
  for (unsigned n = 0; n < elements; n += lanes) {
    const Block block{reinterpret_cast<const FloatBits*>(value) + n, to + n, exponent + n};
    const Extremes some =
        as_floats ? split_block<true>(block, min_exponent) : split_block<false>(block, min_exponent);
    all.special |= some.special;
    all.largest = std::max(all.largest, some.largest);
  }
  specials = all.special != 0;
  largest_exponent = all.largest;
}

} // namespace asmevo::emulator
