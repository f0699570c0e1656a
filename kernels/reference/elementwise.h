// What the rows of samples/elementwise.hip must be, in double precision, and how far off they may be.
#pragma once

#include "reference/number_formats.h"

#include <cmath>
#include <string>
#include <vector>

namespace asmevo::reference {

struct Expected {
  std::string name;
  double value = 0;
  double ulps = 0;     // of the format
  double absolute = 0; // allowed besides
  bool defined = true; // false: the operation has no result for this operand
};

/// One row for each `put` of arithmetic<T>. Results that are rounded once are the nearest number.
inline std::vector<Expected> arithmetic(const NumberFormat& format, double a, double b) {
  // Where double is wider than the format, its own rounding moves a tie by next to nothing; bf16 is rounded
  // to f32 first.
  const double nearest = format.bits() == 16 && format.exponent_bits == 8 ? 0.51 : 0.5 + 1e-6;
  const double half_quotient = format.bits() == 16 ? 1 : nearest; // f16 goes through v_rcp_f32, v_sqrt_f16
  const bool fits_int = std::abs(a) < 0x1p31, fits_uint = std::abs(b) < 0x1p32;
  return {
      {"add", a + b, nearest},
      {"subtract", a - b, nearest},
      {"multiply", a * b, nearest},
      {"divide", a / b, half_quotient},
      {"fma", std::fma(a, b, a), nearest},
      {"sqrt", std::sqrt(std::abs(a)), half_quotient},
      {"min", std::fmin(a, b)},
      {"max", std::fmax(a, b)},
      {"floor", std::floor(a)},
      {"ceil", std::ceil(a)},
      {"trunc", std::trunc(a)},
      {"roundeven", std::nearbyint(a)},
      {"copysign", std::copysign(a, b)},
      {"select", a < b ? -a : b},
      {"int", fits_int ? std::trunc(a) : 0, nearest, 0, fits_int},
      {"uint", fits_uint ? std::trunc(std::abs(b)) : 0, nearest, 0, fits_uint},
  };
}

/// One row for each `put` of functions<T>, for arguments of less than 100.
inline std::vector<Expected> functions(const NumberFormat& format, double a) {
  const double positive = std::abs(a), few = format.bits() == 16 ? 2 : 4;
  // v_sin takes turns: the argument is rounded once more.
  const double angle = std::abs(a) * std::ldexp(1.0, -format.mantissa_bits),
               least = format.bits() == 16 ? 0x1p-9 : 0x1p-20;
  return {
      {"exp", std::exp(a), few},
      {"exp2", std::exp2(a), few},
      {"log", std::log(positive), few},
      {"log2", std::log2(positive), few},
      {"log10", std::log10(positive), few},
      {"sin", std::sin(a), 0, angle + least, std::isfinite(a)},
      {"cos", std::cos(a), 0, angle + least, std::isfinite(a)},
  };
}

/// Whether a result is good enough. NaNs are equal to each other.
inline bool close_enough(const NumberFormat& format, const Expected& expected, double got) {
  if (!expected.defined) return true;
  const double nearest = rounded(format, expected.value);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got);
  if (got == nearest) return true;
  const double allowed = expected.ulps * ulp(format, expected.value) + expected.absolute;
  if (std::isinf(got) || std::isinf(nearest)) {
    // At the edge of the range: as if the exponent went on.
    const double largest = decode(format, format.exponent_mask() - 1);
    return expected.ulps > 0.51 && std::signbit(got) == std::signbit(nearest) &&
           std::abs(expected.value) >= largest - allowed && std::abs(expected.value) <= largest + 2 * allowed;
  }
  return std::abs(got - expected.value) <= allowed;
}

} // namespace asmevo::reference
