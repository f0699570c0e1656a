// Floating point by integers: a number is a sign, digits and a power of two, operations are exact, and one
// function rounds. Nothing here depends on how the host rounds or treats denormals.
#pragma once

#include <cstdint>

namespace asmevo::reference {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 Signed;

struct Format {
  int exponent_bits = 0, fraction_bits = 0;
  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int least_exponent() const { return 1 - bias(); } // of normal numbers
  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits() - 1); }
  constexpr uint64_t fraction_mask() const { return (uint64_t{1} << fraction_bits) - 1; }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
  constexpr uint64_t quiet_bit() const { return uint64_t{1} << (fraction_bits - 1); }
  constexpr uint64_t largest() const { return infinity() - 1; }
  constexpr uint64_t one() const { return uint64_t(bias()) << fraction_bits; }
};
inline constexpr Format f16{5, 10}, bf16{8, 7}, f32{8, 23}, f64{11, 52};

enum class Round : uint8_t { NearestEven, Up, Down, TowardZero };

/// How operands are taken and results rounded.
struct Rules {
  Round round = Round::NearestEven;
  bool keeps_inputs = true, keeps_outputs = true; // denormals
  bool saturates = false;                         // the largest number in place of an overflow
  /// What counts as a denormal result: f16 by what it is once rounded; others as if exponents had no end.
  bool flushes_rounded = false;
};

/// digits * 2^exponent. The lowest digit may stand for "and something below" where digits are many more than
/// any format has.
struct Real {
  enum class Kind : uint8_t { Zero, Finite, Infinite, Nan } kind = Kind::Zero;
  bool negative = false;
  Wide digits = 0;
  int exponent = 0;

  bool zero() const { return kind == Kind::Zero; }
  bool finite() const { return kind == Kind::Finite || kind == Kind::Zero; }
  bool infinite() const { return kind == Kind::Infinite; }
  bool nan() const { return kind == Kind::Nan; }
  /// Of the leading digit; only for Finite.
  int magnitude() const;
  Real operator-() const {
    Real r = *this;
    r.negative = !negative;
    return r;
  }
};

Real nan();
Real integer(int64_t value);
Real integer(uint64_t value);
Real unpack(Format, uint64_t bits, bool keeps_denormals = true);
uint64_t pack(Format, const Real&, const Rules&);

Real multiply(const Real&, const Real&);
/// The direction decides the sign of a sum that is zero.
Real add(const Real&, const Real&, Round);
Real scale(Real, int64_t power);
/// To an integer, in the direction given.
Real to_integer(const Real&, Round);
/// The integer nearest to a number that is one already; limits where it is beyond; NaN is 0.
int64_t saturated(const Real&, int64_t least, int64_t most);
/// -1, 0, 1; 2 where one is NaN. Zeros are equal.
int compare(const Real&, const Real&);

inline bool is_nan(Format f, uint64_t bits) {
  return (bits & ~f.sign_bit()) > f.infinity();
}
inline bool is_signalling(Format f, uint64_t bits) {
  return is_nan(f, bits) && (bits & f.quiet_bit()) == 0;
}

// The operations on bits: operands by the rules, one rounding.
uint64_t sum(Format, uint64_t a, uint64_t b, const Rules&);
uint64_t product(Format, uint64_t a, uint64_t b, const Rules&);
uint64_t fused(Format, uint64_t a, uint64_t b, uint64_t c, const Rules&);
/// a with a denormal for zero where the rules say so.
uint64_t flushed(Format, uint64_t a, bool keeps);

} // namespace asmevo::reference
