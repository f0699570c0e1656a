// f16 values in bulk: the host converts eight at a time to f32 and back, exactly one way and rounding by
// MXCSR the other. Arithmetic on f16 is done in f32, whose 24 bits are enough to round sums and products of
// 11-bit numbers twice (Figueroa's condition, p >= 2q + 2); fused multiply-add needs `fma_to_half`.
#pragma once

#include "emulator/float_mode.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <immintrin.h>

namespace asmevo::emulator {

inline constexpr uint32_t half_sign = 0x8000, half_infinity = 0x7c00, half_largest = 0x7bff,
                          half_quiet = 0x200, half_smallest_normal = 0x400, half_one = 0x3c00;

constexpr bool half_is_nan(uint32_t bits) {
  return (bits & 0x7fff) > half_infinity;
}
constexpr bool half_is_signalling(uint32_t bits) {
  return half_is_nan(bits) && (bits & half_quiet) == 0;
}

/// Denormals become zeros of the same sign.
template <size_t n>
void flush_halves(std::array<uint16_t, n>& halves) {
  for (uint16_t& h : halves)
    h = static_cast<uint16_t>((h & 0x7fff) < half_smallest_normal ? h & half_sign : h);
}

/// Exact, denormals too.
template <size_t n>
std::array<float, n> widen(const std::array<uint16_t, n>& halves) {
  static_assert(n % 8 == 0);
  std::array<float, n> wide;
  for (size_t i = 0; i < n; i += 8) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves.data() + i));
    _mm256_storeu_ps(wide.data() + i, _mm256_cvtph_ps(eight));
  }
  return wide;
}

/// Rounds as MXCSR says; denormal results are kept.
template <size_t n>
std::array<uint16_t, n> narrow(const std::array<float, n>& wide) {
  static_assert(n % 8 == 0);
  std::array<uint16_t, n> halves;
  for (size_t i = 0; i < n; i += 8) {
    const __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(wide.data() + i), _MM_FROUND_CUR_DIRECTION);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves.data() + i), eight);
  }
  return halves;
}

/// What MODE and the clamp bit make of f16 results that `narrow` gave for `wide`.
template <size_t n>
void finish_halves(std::array<uint16_t, n>& halves, const std::array<float, n>& wide, const FloatMode& mode,
                   bool clamp) {
  if (!mode.keeps_output_denormals64()) flush_halves(halves);
  if (mode.fp16_overflow())
    for (size_t i = 0; i < n; ++i)
      if ((halves[i] & 0x7fff) == half_infinity && std::isfinite(wide[i])) --halves[i];
  if (!clamp) return;
  for (uint16_t& h : halves) {
    const bool nan = half_is_nan(h);
    const uint32_t in_unit = (h & half_sign) != 0 ? 0 : h > half_one ? half_one : h;
    h = static_cast<uint16_t>(nan ? (mode.dx10_clamp() ? 0 : h) : in_unit);
  }
}

/// a * b + c of f16 values, such that rounding the result to f16 gives what rounding the exact value once
/// would. The product is exact; the sum is rounded to odd (where it is inexact, its last bit says so), which
/// the second rounding cannot mistake for a tie. Only for MXCSR's round to nearest: in the other modes
/// rounding twice does no harm.
inline float fma_to_half(float a, float b, float c) {
  const float product = a * b, sum = product + c;
  const float c_part = sum - product, error = (product - (sum - c_part)) + (c - c_part);
  const auto bits = std::bit_cast<uint32_t>(sum);
  const bool inexact = error > 0 || error < 0; // false for NaN
  const uint32_t toward = (error > 0) == (sum > 0) ? 1U : ~0U;
  return std::bit_cast<float>(inexact && (bits & 1) == 0 ? bits + toward : bits);
}

} // namespace asmevo::emulator
