// f16 arithmetic on a host without it. An f16 widens exactly; operations run in float, or in double where a
// float's rounding could show, and the result is rounded once more. For +, -, *, / and sqrt two roundings
// give what one gives (a float has 2 * 11 + 2 bits), also in the directed modes, since both round the same
// way.
//
// Rounding follows MXCSR, which lanewise<> sets from MODE's 16- and 64-bit fields for functions of Half.
// Denormals do not: an f16 denormal is a normal float, so MODE's flushing is done here.
#pragma once

#include "emulator/float_mode.h"
#include "emulator/lanes.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace asmevo::emulator {

// Truth values without the branches of && and ||.
inline bool both(bool a, bool b) {
  return a & b;
}
inline bool either(bool a, bool b) {
  return a | b;
}

/// condition ? a : b of unsigned integers. Where several conditions depend on each other compilers make
/// branches of ?:, and a loop with branches does not vectorise.
template <class T>
T choose(bool condition, T a, T b) {
  const T mask = T{0} - T{condition};
  return (a & mask) | (b & ~mask);
}

/// Exact; a NaN stays a NaN, signalling or not.
inline float to_float(Half half) {
  const uint32_t sign = (half.bits & 0x8000U) << 16, magnitude = half.bits & 0x7fffU;
  constexpr uint32_t rebias = (127 - 15) << 23;
  // Inf and NaN: the rest of the way up to a float's exponent 255.
  const uint32_t normal = (magnitude << 13) + rebias + (magnitude >= 0x7c00 ? rebias : 0);
  // Below the smallest normal: an integer multiple of 2^-24.
  const auto denormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F);
  return std::bit_cast<float>(sign | (magnitude < 0x400 ? denormal : normal));
}

/// How a result becomes an f16, where MXCSR does not say it.
struct HalfRounding {
  Rounding direction = Rounding::NearestEven;
  bool clamp_overflow = false; // MODE.FP16_OVFL: the largest finite value, whatever the direction
  bool keep_denormals = true;

  static HalfRounding of(const FloatMode& mode) {
    return {mode.rounding64(), mode.fp16_overflow(), mode.keeps_output_denormals64()};
  }
};

namespace detail {
// `rounded` is a multiple of the f16's last place, or too large; its bits without sign. `sign` is bit 31.
inline Half encode_half(uint32_t sign, uint32_t rounded, bool infinite, bool nan, const HalfRounding& how) {
  constexpr uint32_t infinity = 0x7c00, largest = 0x7bff;
  // Adding 0.5 puts the last place of a denormal, 2^-24, into the float's last place.
  const uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(rounded) + 0.5F) - 0x3f000000;
  uint32_t result = choose(rounded >= 0x38800000, (rounded - 0x38000000) >> 13, denormal);
  result = choose(both(result < 0x400, !how.keep_denormals), 0U, result);
  const Rounding inward = sign != 0 ? Rounding::Up : Rounding::Down;
  const bool cut = either(how.direction == Rounding::TowardZero, how.direction == inward);
  const bool toward_zero = either(how.clamp_overflow, cut);
  result = choose(rounded >= 0x47800000, choose(toward_zero, largest, infinity), result); // 2^16
  result = choose(infinite, infinity, result);
  result = choose(nan, 0x7e00U, result);
  return Half{static_cast<uint16_t>(sign >> 16 | result)};
}
} // namespace detail

/// `how.direction` must be what MXCSR says.
inline Half to_half(float value, const HalfRounding& how) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits & 0x8000'0000U, magnitude = bits & 0x7fff'ffffU;
  // Adding and taking away 2^13 times the power of two below the value leaves 11 bits of it, or less below
  // 2^-14.
  constexpr uint32_t least = (127 - 14) << 23, most = (127 + 16) << 23, thirteen = 13 << 23;
  uint32_t power = magnitude & 0x7f80'0000U;
  power = power < least ? least : power;
  power = power > most ? most : power;
  const auto magic = std::bit_cast<float>(sign | (power + thirteen));
  const auto rounded = std::bit_cast<uint32_t>((value + magic) - magic) & 0x7fff'ffffU;
  return detail::encode_half(sign, rounded, magnitude == 0x7f80'0000U, magnitude > 0x7f80'0000U, how);
}

/// The same from a double, rounded once.
inline Half to_half(double value, const HalfRounding& how) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = bits & (uint64_t{1} << 63), magnitude = bits & ~(uint64_t{1} << 63);
  constexpr uint64_t infinity = uint64_t{0x7ff} << 52, least = uint64_t{1023 - 14} << 52,
                     most = uint64_t{1023 + 16} << 52, forty_two = uint64_t{42} << 52;
  uint64_t power = magnitude & infinity;
  power = power < least ? least : power;
  power = power > most ? most : power;
  const auto magic = std::bit_cast<double>(sign | (power + forty_two));
  const auto rounded = static_cast<float>((value + magic) - magic);
  return detail::encode_half(static_cast<uint32_t>(sign >> 32),
                             std::bit_cast<uint32_t>(rounded) & 0x7fff'ffffU, magnitude == infinity,
                             magnitude > infinity, how);
}

template <class T>
Half to_half(const FloatMode& mode, T value) {
  return to_half(value, HalfRounding::of(mode));
}

/// A source of an arithmetic instruction: a denormal counts as zero where MODE says so.
inline float input(const FloatMode& mode, Half half) {
  const unsigned smallest = mode.keeps_input_denormals64() ? 0 : 0x400;
  const unsigned bits = (half.bits & 0x7fffU) < smallest ? half.bits & 0x8000U : half.bits;
  return to_float(Half{static_cast<uint16_t>(bits)});
}

} // namespace asmevo::emulator
