// The three instructions around which compilers build a correctly rounded division. For n / d with
// Newton-Raphson steps in between to come out right, no step may overflow or lose bits to denormals:
//
//   v_div_scale  multiplies n or d by a power of two where that is in danger (called once for each), and
//   tells in VCC
//                whether the quotient has to be scaled back
//   v_div_fmas   is the last step, fma, and scales back, rounding once
//   v_div_fixup  puts in what the steps cannot give: signs, zeros, infinities, NaNs
//
// The manual's pseudocode of v_div_fmas multiplies by a fixed 2^32 (2^64 for f64). Hardware (and the manuals
// of later chips) multiply by 2^64 or 2^-64 (f64: 128), by which side of 1 the summand is on; only that makes
// divisions right. It says VCC = 0 for a zero operand of v_div_scale where hardware sets it (v_div_fixup
// makes that not matter), asks whether quotients are denormal, where hardware counts the smallest normal
// number too, and scales a large denominator up where quotient and reciprocal are denormal, which would
// overflow: it has to go down.
#pragma once

#include "emulator/families/float_bits.h"
#include "emulator/families/float_parts.h"

#include <algorithm>

namespace asmevo::emulator {

template <class T>
struct DivisionConstants;
template <>
struct DivisionConstants<float> {
  static constexpr int shift = 64, near_overflow = 96, tiny = 23, smallest_normal = -126, lost = -150;
};
template <>
struct DivisionConstants<double> {
  static constexpr int shift = 128, near_overflow = 768, tiny = 53, smallest_normal = -1022, lost = -1075;
};

namespace detail {
// digits * 2^exponent, up to a bias that all have in common; the leading digit is where a normal number has
// it. Inf and NaN go by their fields.
template <class T>
struct Digits {
  int exponent;
  FloatBits<T> digits;
  explicit Digits(T value) {
    using L = FloatLayout<T>;
    const FloatBits<T> size = magnitude<T>(bits_of(value)),
                       below = size & (infinity_bits<T> ^ (sign_mask<T> - 1));
    const int field = exponent_field<T>(size);
    const int up =
        field != 0 ? 0 : std::countl_zero(below) - (std::countl_zero(one_bit<T>) - int{L::mantissa});
    digits = field != 0 ? below | one_bit<T> << L::mantissa : below << up;
    exponent = field != 0 ? field : 1 - up;
  }
};

// Whether |n / d| is at most the smallest normal number.
template <class T>
bool quotient_is_small(T n, T d) {
  const Digits<T> a(n), b(d);
  constexpr int smallest_normal = DivisionConstants<T>::smallest_normal;
  const int exponent = a.exponent - b.exponent;
  return exponent < smallest_normal || (exponent == smallest_normal && a.digits <= b.digits);
}
} // namespace detail

template <class T>
struct DivScale {
  T value{};
  bool scale_back = false; // to VCC
};

/// `value` is the numerator or the denominator, whichever this call is for. Under a plain MXCSR.
template <class T>
DivScale<T> div_scale(const FloatMode& mode, T value, T denominator, T numerator) {
  using C = DivisionConstants<T>;
  value = flushed_input(mode, value);
  denominator = flushed_input(mode, denominator);
  numerator = flushed_input(mode, numerator);
  if (numerator == 0 || denominator == 0) return {from_bits<T>(quiet_nan<T>), true};
  const int n = exponent_field<T>(bits_of(numerator)), d = exponent_field<T>(bits_of(denominator));
  if (n - d >= C::near_overflow) return {value == denominator ? load_exponent(value, C::shift) : value, true};
  if (d == 0) return {load_exponent(value, C::shift), false};
  const bool quotient = detail::quotient_is_small(numerator, denominator);
  if (d == int{FloatLayout<T>::exponent_mask}) return {value, quotient};
  const bool reciprocal = detail::quotient_is_small(T{1}, denominator);
  if (reciprocal && quotient) return {value == denominator ? load_exponent(value, -C::shift) : value, true};
  if (reciprocal) return {load_exponent(value, -C::shift), false};
  if (quotient) return {value == numerator ? load_exponent(value, C::shift) : value, true};
  if (n <= C::tiny) return {load_exponent(value, C::shift), false};
  return {value, false};
}

/// truncated * 2^-shift where that is denormal, rounded once. `truncated` was rounded toward zero; `inexact`:
/// something was lost by that.
template <class T>
T scale_to_denormal(const FloatMode& mode, T truncated, bool inexact) {
  using L = FloatLayout<T>;
  const FloatBits<T> bits = bits_of(truncated), sign = bits & sign_mask<T>;
  const FloatBits<T> digits = (bits & ((one_bit<T> << L::mantissa) - 1)) | one_bit<T> << L::mantissa;
  const int below = 1 + DivisionConstants<T>::shift - exponent_field<T>(bits);
  const int dropped = std::min(below, int{L::mantissa} + 2);
  const FloatBits<T> rest = digits & ((one_bit<T> << dropped) - 1), half = one_bit<T> << (dropped - 1);
  FloatBits<T> result = digits >> dropped;
  const bool lost = inexact || rest != 0;
  switch (uses_mode64<T> ? mode.rounding64() : mode.rounding32()) {
  case Rounding::NearestEven:
    result += rest > half || (rest == half && (inexact || (result & 1) != 0)) ? 1 : 0;
    break;
  case Rounding::Up: result += lost && sign == 0 ? 1 : 0; break;
  case Rounding::Down: result += lost && sign != 0 ? 1 : 0; break;
  case Rounding::TowardZero: break;
  }
  return from_bits<T>(flush_denormal<T>(sign | result, keeps_output_denormals<T>(mode)));
}

/// fma(a, b, c) scaled back, for a lane whose bit is set in VCC. Under the mode's MXCSR.
template <class T>
T div_fmas_scaled(const FloatMode& mode, T a, T b, T c) {
  constexpr int shift = DivisionConstants<T>::shift;
  const T rounded = std::fma(a, b, c);
  const auto factor = [](int n) { return static_cast<T>(power_of_two(n)); };
  if (exponent_field<T>(bits_of(c)) > int{FloatLayout<T>::bias}) return rounded * factor(shift);
  const int field = exponent_field<T>(bits_of(rounded));
  const bool denormal = field > 0 && field <= shift;
  if (!denormal) return rounded * factor(-shift);
  volatile T x = a, y = b, z = c;
  constexpr uint32_t toward_zero = FloatMode::csr_plain | 0x6000, inexact = 0x20;
  const MxcsrScope scope(toward_zero);
  const volatile T truncated = std::fma(x, y, z);
  return scale_to_denormal<T>(mode, truncated, (_mm_getcsr() & inexact) != 0);
}

/// What is left of a quotient too small for any number of the type.
template <class T>
T underflow(const FloatMode& mode, bool negative) {
  const Rounding r = uses_mode64<T> ? mode.rounding64() : mode.rounding32();
  const bool away = (r == Rounding::Up && !negative) || (r == Rounding::Down && negative);
  return from_bits<T>((negative ? sign_mask<T> : 0) | (away && keeps_output_denormals<T>(mode) ? 1U : 0U));
}

/// What becomes of a quotient beyond the largest number.
template <class T>
FloatBits<T> overflow(const FloatMode& mode, bool negative) {
  const Rounding r = uses_mode64<T> ? mode.rounding64() : mode.rounding32();
  const bool toward_zero = r == Rounding::TowardZero || r == (negative ? Rounding::Up : Rounding::Down);
  return (negative ? sign_mask<T> : 0) | (toward_zero ? infinity_bits<T> - 1 : infinity_bits<T>);
}

template <class T>
T div_fixup(const FloatMode& mode, T quotient, T denominator, T numerator) {
  const FloatBits<T> d = bits_of(flushed_input(mode, denominator)),
                     n = bits_of(flushed_input(mode, numerator));
  const FloatBits<T> sign = (d ^ n) & sign_mask<T>, d_size = magnitude<T>(d), n_size = magnitude<T>(n);
  if (is_nan<T>(n)) return from_bits<T>(n | quiet_bit<T>);
  if (is_nan<T>(d)) return from_bits<T>(d | quiet_bit<T>);
  const bool d_infinite = d_size == infinity_bits<T>, n_infinite = n_size == infinity_bits<T>;
  if ((d_size == 0 && n_size == 0) || (d_infinite && n_infinite))
    return from_bits<T>(sign_mask<T> | quiet_nan<T>);
  if (d_size == 0 || n_infinite) return from_bits<T>(sign | infinity_bits<T>);
  if (d_infinite || n_size == 0) return from_bits<T>(sign);
  if constexpr (!std::is_same_v<T, Half>) {
    if (exponent_field<T>(n) - exponent_field<T>(d) < DivisionConstants<T>::lost)
      return underflow<T>(mode, sign != 0);
    // The steps have overflowed, into Inf or from there into NaN. (The manual asks the denominator here,
    // which cannot be.)
    if (exponent_field<T>(bits_of(quotient)) == int{FloatLayout<T>::exponent_mask})
      return from_bits<T>(overflow<T>(mode, sign != 0));
  }
  return from_bits<T>(sign | magnitude<T>(bits_of(quotient)));
}

// --- the instructions

/// VCC or SDST gets the flags of the lanes that EXEC enables, 0 for the others.
template <class T>
void run_div_scale(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[3];
  const auto value = fetch<T>(wave, op, 0, buffers[0]), denominator = fetch<T>(wave, op, 1, buffers[1]),
             numerator = fetch<T>(wave, op, 2, buffers[2]);
  Results<T> results;
  uint64_t flags = 0;
  {
    const MxcsrScope plain(FloatMode::csr_plain);
    for (unsigned l = 0; l < lanes; ++l) {
      const DivScale<T> scaled_lane = div_scale(wave.mode, value[l], denominator[l], numerator[l]);
      results.set(l, scaled_lane.value);
      flags |= uint64_t{scaled_lane.scale_back} << l;
    }
  }
  const uint64_t exec = wave.exec();
  write_result(wave, op, results);
  wave.set_pair(op.scalar_result.index, flags & exec);
}

template <class T>
void run_div_fmas(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[3];
  const auto a = fetch<T>(wave, op, 0, buffers[0]), b = fetch<T>(wave, op, 1, buffers[1]),
             c = fetch<T>(wave, op, 2, buffers[2]);
  Results<T> results;
  {
    const MxcsrScope scope(uses_mode64<T> ? wave.mode.csr64() : wave.mode.csr32());
    for (unsigned l = 0; l < lanes; ++l) results.set(l, std::fma(a[l], b[l], c[l]));
    for (uint64_t rest = wave.vcc() & wave.exec(); rest != 0; rest &= rest - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(rest));
      results.set(l, div_fmas_scaled(wave.mode, a[l], b[l], c[l]));
    }
  }
  write_result(wave, op, results);
}

} // namespace asmevo::emulator
