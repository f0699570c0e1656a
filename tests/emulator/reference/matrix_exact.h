// Sums without any rounding, and small formats that only the exact matrix instructions have.
#pragma once

#include "emulator/reference/matrix_sum.h"

#include <array>

namespace asmevo::reference {

/// A sum of integers times powers of two, from 2^-512 to 2^500.
class ExactSum {
 public:
  void add(int64_t digits, int exponent);
  /// The sum with the leading digits exact, and a trace of the others.
  Real value() const;

 private:
  static constexpr int least = -512;
  std::array<uint32_t, 33> words_{}; // two's complement
};

/// Products and an f32 accumulator, rounded once.
class ExactDot {
 public:
  explicit ExactDot(uint32_t start);
  void add(const Part& a, const Part& b, int fraction_bits, int scale);
  void make_nan() { nan_ = true; }
  uint32_t result(bool saturates) const;

 private:
  ExactSum sum_;
  bool nan_ = false, plus_ = false, minus_ = false;
};

} // namespace asmevo::reference
