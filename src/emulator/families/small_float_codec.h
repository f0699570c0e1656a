// Numbers into and out of formats of at most 16 bits: fp8, bf8, fp6, bf6, fp4, and bf16 and f16 where MODE's
// rounding does not apply. Everything goes through double, in which each value and each scale (a power of two
// from 2^-127 to 2^127) is exact. Under a plain MXCSR.
#pragma once

#include "emulator/families/float_bits.h"
#include "emulator/families/matrix_formats.h"

#include <limits>

namespace asmevo::emulator {

inline constexpr SmallFloat e5m10{5, 10, 15, SmallFloat::Specials::Ieee}; // f16
inline constexpr SmallFloat e8m7{8, 7, 127, SmallFloat::Specials::Ieee};  // bf16

/// Codes without the sign.
template <SmallFloat F>
struct SmallFloatCodes {
  static constexpr unsigned sign = 1U << (F.exponent_bits + F.mantissa_bits);
  static constexpr unsigned infinity = ((1U << F.exponent_bits) - 1) << F.mantissa_bits; // Ieee
  static constexpr unsigned largest = F.specials == SmallFloat::Specials::Ieee  ? infinity - 1
                                      : F.specials == SmallFloat::Specials::Ocp ? sign - 2
                                                                                : sign - 1;
  static constexpr int least_exponent = 1 - F.bias;
  static constexpr int greatest_exponent = static_cast<int>(largest >> F.mantissa_bits) - F.bias;

  /// Formats without NaN give the largest number.
  static constexpr unsigned nan(bool negative) {
    switch (F.specials) {
    case SmallFloat::Specials::Fnuz: return sign;
    case SmallFloat::Specials::Ocp: return (sign - 1) | (negative ? sign : 0);
    case SmallFloat::Specials::Ieee: return infinity | (1U << (F.mantissa_bits - 1)) | (negative ? sign : 0);
    case SmallFloat::Specials::None: break;
    }
    return largest | (negative ? sign : 0);
  }
  /// What infinity becomes, and what is too large when it is not to saturate.
  static constexpr unsigned overflow(bool negative) {
    return F.specials == SmallFloat::Specials::Ieee ? infinity | (negative ? sign : 0) : nan(negative);
  }
};

/// How a number becomes a code. Stochastic: random bits are added below the last place kept, then the rest is
/// cut off. They are the upper bits of the seed, as many as the source format's mantissa has beyond the
/// result's; where the result is subnormal the source is shifted first, so they reach no lower (ROCm's
/// software version of the conversion).
struct SmallRounding {
  bool stochastic = false;
  uint32_t seed = 0;
  unsigned source_mantissa = 23;
};

template <SmallFloat F>
uint32_t encode(double value, bool saturate, const SmallRounding& how = {}) {
  using Codes = SmallFloatCodes<F>;
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const double size = std::fabs(value);
  if (value != value) return Codes::nan(negative);
  if (size == std::numeric_limits<double>::infinity()) return Codes::overflow(negative);
  const int own = exponent_field<double>(bits) - 1023;
  const int exponent = std::min(std::max(own, Codes::least_exponent), Codes::greatest_exponent + 2);
  uint64_t steps; // in units of the last place
  constexpr int mantissa = F.mantissa_bits;
  if (!how.stochastic) {
    constexpr double magic = 0x1p52;
    steps =
        static_cast<uint64_t>(std::min((size * power_of_two(mantissa - exponent) + magic) - magic, 0x1p20));
  } else {
    const int source = static_cast<int>(how.source_mantissa), shift = std::max(exponent - own, 0);
    const auto digits =
        static_cast<uint64_t>(std::min(size * power_of_two(source - std::min(own, exponent)), 0x1p40));
    const uint64_t aligned = own < Codes::least_exponent ? (shift < 40 ? digits >> shift : 0) : digits;
    steps = (aligned + (how.seed >> (32 - source + mantissa))) >> (source - mantissa);
  }
  uint64_t code = (static_cast<uint64_t>(exponent - Codes::least_exponent) << mantissa) + steps;
  if (code > Codes::largest) {
    if (!saturate && F.specials != SmallFloat::Specials::None) return Codes::overflow(negative);
    code = Codes::largest;
  }
  const bool signed_zero = F.specials != SmallFloat::Specials::Fnuz; // whose -0 is NaN
  return static_cast<uint32_t>(code) | (negative && (code != 0 || signed_zero) ? Codes::sign : 0);
}

/// The scale operand of v_cvt_scalef32_*: only its exponent counts; 255 is NaN (as in E8M0), 0 is 2^-127.
struct Scale {
  double factor, inverse;
  explicit Scale(float operand) {
    const int field = exponent_field<float>(bits_of(operand));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    factor = field == 255 ? nan : power_of_two(field - 127);
    inverse = field == 255 ? nan : power_of_two(127 - field);
  }
};

/// What v_prng_b32 gives; conversions of several numbers step their seed with it.
inline uint32_t next_random(uint32_t value) {
  return value << 1 ^ (value >> 31) * 197;
}

} // namespace asmevo::emulator
