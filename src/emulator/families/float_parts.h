// Fractions, exponents, scaling: instructions that take a float apart or put it together.
#pragma once

#include "emulator/families/float_bits.h"

#include <cmath>

namespace asmevo::emulator {

/// value = mantissa * 2^exponent with 0.5 <= |mantissa| < 1, denormals included. Zero, Inf and NaN are their
/// own mantissa and have exponent 0.
struct Parts {
  double mantissa;
  int exponent;
};

/// MXCSR's DAZ makes a denormal double zero.
inline Parts parts(double value) {
  const auto given = std::bit_cast<uint64_t>(value);
  const bool denormal = exponent_field<double>(given) == 0;
  const auto bits = denormal ? std::bit_cast<uint64_t>(value * 0x1p54) : given;
  const int field = exponent_field<double>(bits);
  const bool none = field == 0 || field == 0x7ff;
  constexpr uint64_t exponent_bits = infinity_bits<double>, half = uint64_t{1022} << 52;
  const auto mantissa = std::bit_cast<double>((bits & ~exponent_bits) | half);
  const uint64_t itself = is_nan<double>(bits) ? bits | quiet_bit<double> : bits;
  return {none ? std::bit_cast<double>(itself) : mantissa, none ? 0 : field - 1022 - (denormal ? 54 : 0)};
}

/// mantissa * 2^exponent, rounded once: two factors, of which only the second can round. |exponent| may be
/// anything.
inline double scaled(const Parts& p, int64_t exponent) {
  const auto e = static_cast<int>(exponent < -1300 ? -1300 : exponent > 1300 ? 1300 : exponent);
  const int first = e / 2;
  return p.mantissa * power_of_two(first) * power_of_two(e - first);
}

inline double load_exponent(double value, int by) {
  const Parts p = parts(value);
  return scaled(p, int64_t{p.exponent} + by);
}

/// The product is exact in a double; the conversion rounds it.
inline float load_exponent(float value, int by) {
  const int n = by < -400 ? -400 : by > 400 ? 400 : by;
  return static_cast<float>(static_cast<double>(value) * power_of_two(n));
}

inline Half load_exponent(const FloatMode& mode, Half value, int16_t by) {
  const int n = by < -60 ? -60 : by > 60 ? 60 : by;
  return to_half(mode, input(mode, value) * std::bit_cast<float>(static_cast<uint32_t>(n + 127) << 23));
}

/// x - floor(x), kept below 1: for tiny negative x the difference would round to 1.
template <class T>
T fraction(T value) {
  constexpr T below_one = std::is_same_v<T, float> ? T{0x1.fffffep-1F} : T{0x1.fffffffffffffp-1};
  const T difference = value - std::floor(value);
  return difference > below_one ? below_one : difference;
}

} // namespace asmevo::emulator
