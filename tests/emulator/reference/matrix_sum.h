// Sums of products as matrix instructions make them, and the small formats they take.
#pragma once

#include "emulator/reference/real.h"

#include <span>

namespace asmevo::reference {

struct MatrixFormat {
  enum class Kind : uint8_t { F64, F32, Xf32, F16, Bf16, Fp8, Bf8, Small, I8 } kind = Kind::F32;
  unsigned bits = 32; // of an item
  int exponent_bits = 0, fraction_bits = 0, bias = 0;
  bool fnuz = false; // no infinities, no -0, whose bits are the one NaN
};

/// A factor taken apart: significand * 2^(exponent - fraction_bits). Denormals and zeros have the least
/// normal exponent and are not normalised.
struct Part {
  enum class Kind : uint8_t { Finite, Infinite, Nan } kind = Kind::Finite;
  bool negative = false;
  int64_t significand = 0;
  int exponent = 0;
};
Part part_of(const MatrixFormat&, uint64_t bits);

/// CDNA3: groups of `group` products, each cut to 24 bits below the largest; fp8 and bf8 do it for even and
/// odd k apart.
uint32_t grouped_sum(const MatrixFormat& a, const MatrixFormat& b, std::span<const uint64_t> row,
                     std::span<const uint64_t> column, uint32_t start, unsigned group, bool saturates);
/// CDNA2: f32 sums of pairs of products, of pairs of pairs, and then with the accumulator. Denormals are 0.
uint32_t pairwise_sum(const MatrixFormat&, std::span<const uint64_t> row, std::span<const uint64_t> column,
                      uint32_t start, unsigned group, bool saturates);

} // namespace asmevo::reference
