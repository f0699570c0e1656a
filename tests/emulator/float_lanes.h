// For tests of float instructions: operands into lanes, results out, and arithmetic on the host in a chosen
// direction.
#pragma once

#include "emulator/float_mode.h"
#include "one_instruction.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace asmevo::emulator {

inline uint32_t bits32(float f) {
  return std::bit_cast<uint32_t>(f);
}
inline float f32(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint64_t bits64(double d) {
  return std::bit_cast<uint64_t>(d);
}
inline double f64(uint64_t bits) {
  return std::bit_cast<double>(bits);
}

/// MODE with these directions (MODE's encoding) and everything else as compilers ask for.
inline uint32_t mode_rounding(unsigned direction32, unsigned direction64) {
  return FloatMode::usual | direction32 | direction64 << 2;
}

/// The host's constant for MODE's direction.
inline int host_rounding(unsigned direction) {
  constexpr int all[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  return all[direction];
}

/// Computes on the host in a direction.
template <class F>
auto rounded(unsigned direction, F compute) {
  std::fesetround(host_rounding(direction));
  volatile auto result = compute(); // between the two calls
  std::fesetround(FE_TONEAREST);
  return result;
}

/// x rounded to f16's bits, by integers: the reference for what instructions round.
inline uint16_t reference_half(double x, unsigned direction = 0) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  const double size = std::fabs(x);
  if (std::isinf(x)) return static_cast<uint16_t>(sign | 0x7c00);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  // Outward and inward swap for negative numbers, whose size is rounded here.
  const unsigned of_size = sign == 0 || direction == 0 || direction == 3 ? direction : 3 - direction;
  const double steps = rounded(of_size, [&] {
    volatile double s = std::ldexp(size, 10 - exponent);
    return std::nearbyint(s);
  });
  const double result = std::ldexp(steps, exponent - 10);
  if (result >= 65536) return static_cast<uint16_t>(sign | (of_size == 0 || of_size == 1 ? 0x7c00 : 0x7bff));
  if (result < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(result * 0x1p24));
  const int e = std::ilogb(result);
  return static_cast<uint16_t>(sign | ((e + 15) << 10) |
                               (static_cast<int>(std::ldexp(result, 10 - e)) & 0x3ff));
}

inline double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  return sign * std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
}

inline bool half_nan(uint32_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}

/// Random bits, with the values at which things change mixed in.
class Operands {
 public:
  explicit Operands(uint64_t seed) : random_(seed) {}
  uint32_t next32() {
    static constexpr uint32_t edges[] = {0,           0x8000'0000, 1,           0x8000'0001, 0x007f'ffff,
                                         0x0080'0000, 0x7f7f'ffff, 0x7f80'0000, 0xff80'0000, 0x7fc0'0000,
                                         0x3f80'0000, 0xbf80'0000, 0x3f7f'ffff, 0x4b80'0000, 0x7e80'0000,
                                         0x0100'0000, 0x3f00'0000, 0x4f00'0000};
    return random_() % 8 == 0 ? edges[random_() % std::size(edges)] : static_cast<uint32_t>(random_());
  }
  uint64_t next64() {
    static constexpr uint64_t edges[] = {0,
                                         uint64_t{1} << 63,
                                         1,
                                         0x000f'ffff'ffff'ffff,
                                         0x0010'0000'0000'0000,
                                         0x7fef'ffff'ffff'ffff,
                                         0x7ff0'0000'0000'0000,
                                         0xfff0'0000'0000'0000,
                                         0x7ff8'0000'0000'0000,
                                         0x3ff0'0000'0000'0000,
                                         0x7fd0'0000'0000'0001,
                                         0x0030'0000'0000'0000};
    return random_() % 8 == 0 ? edges[random_() % std::size(edges)] : random_();
  }
  uint16_t next16() { return static_cast<uint16_t>(random_()); }
  /// Between 2^low and 2^high, either sign.
  float within(int low, int high) {
    const auto span = static_cast<uint64_t>(high - low);
    const int exponent = low + static_cast<int>(random_() % span);
    const float size = std::ldexp(1 + static_cast<float>(random_() >> 41) * 0x1p-23F, exponent);
    return (random_() & 1) != 0 ? -size : size;
  }
  uint64_t raw() { return random_(); }

 private:
  std::mt19937_64 random_;
};

/// Equal, or NaN both.
inline bool same32(uint32_t a, uint32_t b) {
  return a == b || (std::isnan(f32(a)) && std::isnan(f32(b)));
}
inline bool same64(uint64_t a, uint64_t b) {
  return a == b || (std::isnan(f64(a)) && std::isnan(f64(b)));
}
inline bool same16(uint32_t a, uint32_t b) {
  return (a & 0xffff) == (b & 0xffff) || (half_nan(a) && half_nan(b));
}

/// Runs again from the start, with the registers as they are.
inline void run_in_mode(Snippet& s, uint32_t mode) {
  s.wave().pc = Snippet::code_address;
  s.wave().set_mode(mode);
  run(s);
}

} // namespace asmevo::emulator
