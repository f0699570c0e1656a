// Floating-point numbers as bits: what the float families share. Everything here is free of branches, so that
// loops over lanes vectorise, and depends on MXCSR only where it says so.
#pragma once

#include "emulator/families/half.h"
#include "emulator/float_mode.h"
#include "emulator/lanes.h"

#include <bit>
#include <cstdint>

namespace asmevo::emulator {

template <class T>
struct FloatLayout;
template <>
struct FloatLayout<float> {
  using Bits = uint32_t;
  static constexpr unsigned mantissa = 23, exponent_mask = 0xff, bias = 127;
};
template <>
struct FloatLayout<double> {
  using Bits = uint64_t;
  static constexpr unsigned mantissa = 52, exponent_mask = 0x7ff, bias = 1023;
};
template <>
struct FloatLayout<Half> {
  using Bits = uint32_t; // wider than the number: 32-bit lanes vectorise best
  static constexpr unsigned mantissa = 10, exponent_mask = 0x1f, bias = 15;
};

template <class T>
using FloatBits = typename FloatLayout<T>::Bits;

template <class T>
inline constexpr FloatBits<T> one_bit = 1;
template <class T>
inline constexpr FloatBits<T> infinity_bits =
    FloatBits<T>{FloatLayout<T>::exponent_mask} << FloatLayout<T>::mantissa;
template <class T>
inline constexpr FloatBits<T> sign_mask =
    FloatBits<T>{FloatLayout<T>::exponent_mask + 1} << FloatLayout<T>::mantissa;
template <class T>
inline constexpr FloatBits<T> quiet_bit = one_bit<T> << (FloatLayout<T>::mantissa - 1);
template <class T>
inline constexpr FloatBits<T> quiet_nan = infinity_bits<T> | quiet_bit<T>;

template <class T>
FloatBits<T> bits_of(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return value.bits;
  else
    return std::bit_cast<FloatBits<T>>(value);
}
template <class T>
T from_bits(FloatBits<T> bits) {
  if constexpr (std::is_same_v<T, Half>)
    return Half{static_cast<uint16_t>(bits)};
  else
    return std::bit_cast<T>(bits);
}

template <class T>
FloatBits<T> magnitude(FloatBits<T> bits) {
  return bits & (sign_mask<T> - 1);
}
template <class T>
bool is_nan(FloatBits<T> bits) {
  return magnitude<T>(bits) > infinity_bits<T>;
}
template <class T>
bool is_signalling(FloatBits<T> bits) {
  return both(is_nan<T>(bits), (bits & quiet_bit<T>) == 0);
}
/// The exponent field.
template <class T>
int exponent_field(FloatBits<T> bits) {
  return static_cast<int>(bits >> FloatLayout<T>::mantissa & FloatLayout<T>::exponent_mask);
}

/// What arithmetic computes with.
inline float number(float value) {
  return value;
}
inline double number(double value) {
  return value;
}
inline float number(Half value) {
  return to_float(value);
}

template <class T>
bool keeps_input_denormals(const FloatMode& mode) {
  return uses_mode64<T> ? mode.keeps_input_denormals64() : mode.keeps_input_denormals32();
}
template <class T>
bool keeps_output_denormals(const FloatMode& mode) {
  return uses_mode64<T> ? mode.keeps_output_denormals64() : mode.keeps_output_denormals32();
}

/// Zero of the same sign for a denormal, unless they are kept.
template <class T>
FloatBits<T> flush_denormal(FloatBits<T> bits, bool keep) {
  const FloatBits<T> smallest = keep ? 0 : one_bit<T> << FloatLayout<T>::mantissa;
  return choose(magnitude<T>(bits) < smallest, bits & sign_mask<T>, bits);
}
template <class T>
T flushed_input(const FloatMode& mode, T value) {
  return from_bits<T>(flush_denormal<T>(bits_of(value), keeps_input_denormals<T>(mode)));
}
/// For instructions that compute nothing (min, max, med3): both sides of MODE at once.
template <class T>
T flushed(const FloatMode& mode, T value) {
  return from_bits<T>(flush_denormal<T>(
      bits_of(value), both(keeps_input_denormals<T>(mode), keeps_output_denormals<T>(mode))));
}

/// 2^n as a double; -1022 <= n <= 1023.
inline double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

} // namespace asmevo::emulator
