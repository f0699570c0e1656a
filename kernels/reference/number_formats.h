// The floating-point formats of the kernels' data, each code to the double it stands for and back. For
// references: plain and slow.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace asmevo::reference {

struct NumberFormat {
  /// What the largest exponent and the negative zero mean. Ieee: infinities and NaNs; LastIsNan: only the
  /// largest code of each sign is NaN ("fn"); MinusZeroIsNan: only 0x80.. is NaN, and there is no negative
  /// zero ("fnuz"); Finite: all codes are numbers.
  enum class Specials { Ieee, LastIsNan, MinusZeroIsNan, Finite };
  int exponent_bits, mantissa_bits, bias;
  Specials specials = Specials::Ieee;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits() - 1); }
  /// All bits of the exponent set.
  constexpr uint64_t exponent_mask() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
};

inline constexpr NumberFormat f64{11, 52, 1023}, f32{8, 23, 127}, f16{5, 10, 15}, bf16{8, 7, 127};
using Specials = NumberFormat::Specials;
inline constexpr NumberFormat e4m3{4, 3, 7, Specials::LastIsNan}, e5m2{5, 2, 15},
    e4m3_fnuz{4, 3, 8, Specials::MinusZeroIsNan}, e5m2_fnuz{5, 2, 16, Specials::MinusZeroIsNan},
    e2m3{2, 3, 1, Specials::Finite}, e3m2{3, 2, 3, Specials::Finite}, e2m1{2, 1, 1, Specials::Finite};

inline double decode(const NumberFormat& format, uint64_t code) {
  const double sign = (code & format.sign_bit()) != 0 ? -1 : 1;
  const uint64_t magnitude = code & (format.sign_bit() - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint64_t mantissa = magnitude & ((uint64_t{1} << format.mantissa_bits) - 1);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.specials == Specials::LastIsNan && magnitude == format.sign_bit() - 1) return nan;
  if (format.specials == Specials::MinusZeroIsNan && code == format.sign_bit()) return nan;
  if (format.specials == Specials::Ieee && (magnitude & format.exponent_mask()) == format.exponent_mask())
    return mantissa != 0 ? nan : sign * std::numeric_limits<double>::infinity();
  const uint64_t significand = exponent == 0 ? mantissa : mantissa | uint64_t{1} << format.mantissa_bits;
  return sign * std::ldexp(static_cast<double>(significand),
                           (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
}

/// The distance of neighbouring numbers of the format around a value.
inline double ulp(const NumberFormat& format, double value) {
  const int least = 1 - format.bias;
  const int exponent = value == 0 || !std::isfinite(value) ? least : std::max(least, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

/// The nearest number of an IEEE format, ties to even; too large ones become infinite.
inline uint64_t encode(const NumberFormat& format, double value) {
  const uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return format.exponent_mask() | uint64_t{1} << (format.mantissa_bits - 1);
  if (std::isinf(value)) return sign | format.exponent_mask();
  const double unit = ulp(format, value);
  // Both steps are exact but for the rounding that is wanted; a carry into the exponent is what it should be.
  const auto steps = static_cast<uint64_t>(std::nearbyint(std::abs(value) / unit));
  const int exponent = std::ilogb(unit) + format.mantissa_bits + format.bias; // of the unit's binade
  const uint64_t code = steps + (static_cast<uint64_t>(exponent - 1) << format.mantissa_bits);
  return sign | (code > format.exponent_mask() ? format.exponent_mask() : code);
}

inline double rounded(const NumberFormat& format, double value) {
  return decode(format, encode(format, value));
}

} // namespace asmevo::reference
