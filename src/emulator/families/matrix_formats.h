// Element formats of matrix operands, and how a row of 64 packed items becomes 64 numbers. Every format but
// f64 and i8 is exactly representable as a float, so floats are what the arithmetic starts from.
#pragma once

#include "emulator/wave.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace asmevo::emulator {

/// What of a wave changes how matrix operands are read and results rounded.
struct MatrixMode {
  bool ocp = false;      // fp8 and bf8 are OCP's (gfx950), else FNUZ (gfx942)
  bool flush32 = false;  // f32 inputs: subnormals count as zero
  bool saturate = false; // overflow gives the largest finite value
  uint8_t negate = 0;    // f64: bit 0 A, 1 B, 2 C
};

/// A float of at most 8 bits.
struct SmallFloat {
  enum class Specials : uint8_t {
    None,
    Fnuz, // the bits of -0 are NaN
    Ocp,  // all ones but the sign is NaN
    Ieee, // largest exponent: Inf and NaN
  };
  unsigned exponent_bits = 0, mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::None;

  constexpr unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr float decode(unsigned raw) const {
    const unsigned magnitude_bits = exponent_bits + mantissa_bits;
    const unsigned mantissa = raw & ((1U << mantissa_bits) - 1);
    const unsigned exponent = raw >> mantissa_bits & ((1U << exponent_bits) - 1);
    const bool negative = (raw >> magnitude_bits & 1) != 0;
    const unsigned magnitude = raw & ((1U << magnitude_bits) - 1);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    if (specials == Specials::Fnuz && negative && magnitude == 0) return nan;
    if (specials == Specials::Ocp && magnitude == (1U << magnitude_bits) - 1) return nan;
    if (specials == Specials::Ieee && exponent == (1U << exponent_bits) - 1) {
      constexpr float infinity = std::numeric_limits<float>::infinity();
      return mantissa != 0 ? nan : negative ? -infinity : infinity;
    }
    auto value = static_cast<float>(exponent == 0 ? mantissa : mantissa | 1U << mantissa_bits);
    int scale = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(mantissa_bits);
    for (; scale > 0; --scale) value *= 2.0F;
    for (; scale < 0; ++scale) value *= 0.5F;
    return negative ? -value : value;
  }
};

inline constexpr SmallFloat e4m3fnuz{4, 3, 8, SmallFloat::Specials::Fnuz};
inline constexpr SmallFloat e5m2fnuz{5, 2, 16, SmallFloat::Specials::Fnuz};
inline constexpr SmallFloat e4m3fn{4, 3, 7, SmallFloat::Specials::Ocp};
inline constexpr SmallFloat e5m2{5, 2, 15, SmallFloat::Specials::Ieee};
inline constexpr SmallFloat e2m3{2, 3, 1}; // fp6
inline constexpr SmallFloat e3m2{3, 2, 3}; // bf6
inline constexpr SmallFloat e2m1{2, 1, 1}; // fp4

template <SmallFloat F>
inline constexpr auto small_float_values = [] {
  std::array<float, size_t{1} << F.bits()> table{};
  for (unsigned raw = 0; raw < table.size(); ++raw) table[raw] = F.decode(raw);
  return table;
}();

/// The raw bits of item `item` of each lane.
template <unsigned Bits>
void unpack_items(const Row* rows, unsigned item, uint32_t* raw) {
  const unsigned bit = item * Bits, shift = bit % 32;
  const Row& low = rows[bit / 32];
  constexpr uint32_t mask = Bits == 32 ? ~uint32_t{0} : (uint32_t{1} << (Bits % 32)) - 1;
  if (shift + Bits > 32) { // six-bit items straddle registers
    const Row& high = rows[bit / 32 + 1];
    for (unsigned l = 0; l < lanes; ++l)
      raw[l] = (low.lane[l] >> shift | high.lane[l] << (32 - shift)) & mask;
  } else {
    for (unsigned l = 0; l < lanes; ++l) raw[l] = low.lane[l] >> shift & mask;
  }
}

// A format says how wide its items are, its least exponent (that of subnormals), and how raw items become
// floats.

// Under DAZ (gfx90a's arithmetic) subnormal items become zero: they are subnormal floats before the
// multiplication.
struct F16 {
  static constexpr unsigned bits = 16;
  static int min_exponent(const MatrixMode&) { return -14; }
  static void convert(const MatrixMode&, const uint32_t* raw, float* out) {
    for (unsigned l = 0; l < lanes; ++l) {
      const uint32_t magnitude = (raw[l] & 0x7fff) << 13; // the value times 2^-112
      const auto scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
      const uint32_t special = magnitude >= 0x0f800000 ? 0x7f800000 | magnitude : 0;
      out[l] = std::bit_cast<float>((special != 0 ? special : scaled) | (raw[l] & 0x8000) << 16);
    }
  }
};

struct Bf16 {
  static constexpr unsigned bits = 16;
  static int min_exponent(const MatrixMode&) { return -126; }
  static void convert(const MatrixMode&, const uint32_t* raw, float* out) {
    for (unsigned l = 0; l < lanes; ++l) out[l] = std::bit_cast<float>(raw[l] << 16);
  }
};

struct F32 {
  static constexpr unsigned bits = 32;
  static int min_exponent(const MatrixMode&) { return -126; }
  static void convert(const MatrixMode& mode, const uint32_t* raw, float* out) {
    const uint32_t least = mode.flush32 ? 0x00800000 : 0; // magnitudes below count as zero
    for (unsigned l = 0; l < lanes; ++l) {
      const uint32_t kept = (raw[l] & 0x7fffffff) < least ? 0x80000000 : 0xffffffff;
      out[l] = std::bit_cast<float>(raw[l] & kept);
    }
  }
};

// f32 cut to 10 mantissa bits. A NaN stays one even if its payload is in the bits that go.
struct Xf32 {
  static constexpr unsigned bits = 32;
  static int min_exponent(const MatrixMode&) { return -126; }
  static void convert(const MatrixMode&, const uint32_t* raw, float* out) {
    for (unsigned l = 0; l < lanes; ++l) {
      const bool nan = (raw[l] & 0x7fffffff) > 0x7f800000;
      out[l] = std::bit_cast<float>(nan ? raw[l] | 0x00400000 : raw[l] & ~uint32_t{0x1fff});
    }
  }
};

/// A format of up to 8 bits, in the variant of the target.
template <SmallFloat Fnuz, SmallFloat Ocp = Fnuz>
struct Small {
  static constexpr unsigned bits = Ocp.bits();
  static int min_exponent(const MatrixMode& mode) { return 1 - (mode.ocp ? Ocp.bias : Fnuz.bias); }
  static void convert(const MatrixMode& mode, const uint32_t* raw, float* out) {
    const float* table = mode.ocp ? small_float_values<Ocp>.data() : small_float_values<Fnuz>.data();
    for (unsigned l = 0; l < lanes; ++l) out[l] = table[raw[l]];
  }
};
using Fp8 = Small<e4m3fnuz, e4m3fn>;
using Bf8 = Small<e5m2fnuz, e5m2>;

/// Items of all lanes as floats, item after item.
template <class Format>
void load_floats(const MatrixMode& mode, const Row* rows, unsigned items, float* values) {
  for (unsigned item = 0; item < items; ++item) {
    alignas(64) uint32_t raw[lanes];
    unpack_items<Format::bits>(rows, item, raw);
    Format::convert(mode, raw, values + size_t{item} * lanes);
  }
}

} // namespace asmevo::emulator
