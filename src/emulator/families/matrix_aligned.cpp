#include "emulator/families/matrix_aligned.h"

namespace asmevo::emulator {

namespace {

using FloatBits [[gnu::may_alias]] = int32_t;

struct Extremes {
  int32_t special = 0, largest = SplitOperand::zero_exponent;
};

// 64 elements each: loops of known length over arrays that do not overlap, so that they vectorise.

Extremes split_block(const FloatBits* __restrict value, int16_t* __restrict exponent,
                     int32_t* __restrict finite_bits, int min_exponent) {
  int32_t special = 0, largest = SplitOperand::zero_exponent;
  for (unsigned n = 0; n < lanes; ++n) {
    const int32_t bits = value[n], magnitude = bits & 0x7fffffff;
    const int32_t field = magnitude >> 23;
    const int32_t own_exponent = (field > 1 ? field : 1) - 127;
    // Subnormals of the format are normal floats: they have the exponent that they stand with in the format.
    const int32_t e = own_exponent > min_exponent ? own_exponent : min_exponent;
    const int32_t own = magnitude != 0 && field != 0xff ? e : SplitOperand::zero_exponent;
    exponent[n] = static_cast<int16_t>(own);
    finite_bits[n] = field == 0xff ? 0 : bits;
    special |= field == 0xff ? 1 : 0;
    largest = largest > own ? largest : own;
  }
  return {special, largest};
}

// Of formats whose exponents are those of f32.
void find_significands(const int32_t* __restrict finite_bits, int32_t* __restrict significand) {
  for (unsigned n = 0; n < lanes; ++n) {
    const int32_t bits = finite_bits[n];
    const int32_t mantissa = (bits & 0x7fffff) | ((bits & 0x7f800000) != 0 ? 0x800000 : 0);
    const int32_t sign = bits >> 31;
    significand[n] = ((mantissa >> 11) ^ sign) - sign; // no bit is lost
  }
}

int32_t smallest_of(const int16_t* exponent) {
  int16_t smallest = -SplitOperand::zero_exponent;
  for (unsigned n = 0; n < lanes; ++n) {
    const int16_t e = exponent[n] == SplitOperand::zero_exponent
                          ? static_cast<int16_t>(-SplitOperand::zero_exponent)
                          : exponent[n];
    smallest = smallest < e ? smallest : e;
  }
  return smallest;
}

} // namespace

void SplitOperand::split(unsigned elements, int min_exponent, bool wide) {
  Extremes all;
  smallest_exponent = -zero_exponent;
  for (unsigned n = 0; n < elements; n += lanes) {
    const auto* const bits = reinterpret_cast<const FloatBits*>(value) + n;
    const Extremes some = split_block(bits, exponent + n, finite_bits + n, min_exponent);
    all.special |= some.special;
    all.largest = std::max(all.largest, some.largest);
    if (!wide) continue;
    find_significands(finite_bits + n, significand + n);
    smallest_exponent = std::min(smallest_exponent, smallest_of(exponent + n));
  }
  specials = all.special != 0;
  largest_exponent = all.largest;
}

} // namespace asmevo::emulator
