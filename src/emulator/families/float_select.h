// min, max, med3 and their relatives for every float type. Two sets of NaN rules: v_min and v_max return the
// other operand (IEEE 754-2008 minNum; a signalling NaN wins, quieted, where MODE.IEEE is set), v_minimum3
// and v_maximum3 return the NaN (IEEE 754-2019). -0 is less than +0 in both. GFX9 applies MODE's denormal
// flushing to all of them.
#pragma once

#include "emulator/families/float_bits.h"

namespace asmevo::emulator {

enum class Extreme : uint8_t { Least, Greatest };

namespace detail {
// The smaller or greater of two numbers; with a NaN, something.
template <Extreme Which, class T>
FloatBits<T> ordered(T a, T b) {
  const FloatBits<T> x = bits_of(a), y = bits_of(b);
  constexpr bool greatest = Which == Extreme::Greatest;
  const bool first = greatest ? number(a) > number(b) : number(a) < number(b);
  // Equal numbers differ in the sign of zero at most.
  const FloatBits<T> same = greatest ? x & y : x | y;
  return choose(number(a) == number(b), same, choose(first, x, y));
}
} // namespace detail

template <Extreme Which, class T>
T extreme(const FloatMode& mode, T a, T b) {
  a = flushed(mode, a);
  b = flushed(mode, b);
  const FloatBits<T> x = bits_of(a), y = bits_of(b);
  FloatBits<T> result = detail::ordered<Which>(a, b);
  result = choose(is_nan<T>(y), x, result);
  result = choose(is_nan<T>(x), y, result);
  const bool signalling = either(is_signalling<T>(x), is_signalling<T>(y));
  return from_bits<T>(choose(both(mode.ieee(), signalling), quiet_nan<T>, result));
}

template <Extreme Which, class T>
T extreme3(const FloatMode& mode, T a, T b, T c) {
  return extreme<Which>(mode, extreme<Which>(mode, a, b), c);
}

/// With a NaN among the operands, their minimum.
template <class T>
T median(const FloatMode& mode, T a, T b, T c) {
  a = flushed(mode, a); // or none would be the greatest
  b = flushed(mode, b);
  c = flushed(mode, c);
  const T greatest = extreme3<Extreme::Greatest>(mode, a, b, c);
  const bool is_a = number(greatest) == number(a), is_b = number(greatest) == number(b);
  const T rest_first = from_bits<T>(choose(is_a, bits_of(b), bits_of(a)));
  const T rest_second = from_bits<T>(choose(is_a | is_b, bits_of(c), bits_of(b)));
  const T result = extreme<Extreme::Greatest>(mode, rest_first, rest_second);
  const bool nan = either(either(is_nan<T>(bits_of(a)), is_nan<T>(bits_of(b))), is_nan<T>(bits_of(c)));
  return from_bits<T>(choose(nan, bits_of(extreme3<Extreme::Least>(mode, a, b, c)), bits_of(result)));
}

template <Extreme Which, class T>
T nan_propagating_extreme(const FloatMode& mode, T a, T b) {
  a = flushed(mode, a);
  b = flushed(mode, b);
  const bool nan = either(is_nan<T>(bits_of(a)), is_nan<T>(bits_of(b)));
  return from_bits<T>(choose(nan, quiet_nan<T>, detail::ordered<Which>(a, b)));
}

template <Extreme Which, class T>
T nan_propagating_extreme3(const FloatMode& mode, T a, T b, T c) {
  return nan_propagating_extreme<Which>(mode, nan_propagating_extreme<Which>(mode, a, b), c);
}

} // namespace asmevo::emulator
