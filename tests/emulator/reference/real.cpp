#include "emulator/reference/real.h"

namespace asmevo::reference {

namespace {

int leading(Wide digits) {
  const auto high = static_cast<uint64_t>(digits >> 64), low = static_cast<uint64_t>(digits);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

// digits / 2^shift; what is lost shows in the lowest digit.
Wide shifted_right(Wide digits, int shift) {
  if (shift <= 0) return digits << -shift;
  if (shift > 126) return digits != 0 ? 1 : 0;
  const Wide kept = digits >> shift;
  return kept | ((kept << shift) != digits ? 1 : 0);
}

// digits / 2^shift, rounded to an integer.
Wide rounded(Wide digits, int shift, bool negative, Round round) {
  if (shift <= 0) return digits << -shift;
  const Wide floor = shift > 127 ? 0 : digits >> shift;
  const Wide rest = shift > 127 ? digits : digits - (floor << shift);
  if (rest == 0) return floor;
  switch (round) {
  case Round::TowardZero: return floor;
  case Round::Up: return negative ? floor : floor + 1;
  case Round::Down: return negative ? floor + 1 : floor;
  case Round::NearestEven: break;
  }
  if (shift > 127) return 0; // less than a half: digits stay below 2^127
  const Wide half = Wide{1} << (shift - 1);
  if (rest != half) return rest > half ? floor + 1 : floor;
  return floor + (floor & 1);
}

Real with_sign(Real r, bool negative) {
  r.negative = negative;
  return r;
}

} // namespace

int Real::magnitude() const {
  return leading(digits) + exponent;
}

Real nan() {
  return {.kind = Real::Kind::Nan};
}
Real integer(uint64_t value) {
  if (value == 0) return {};
  return {.kind = Real::Kind::Finite, .digits = value};
}
Real integer(int64_t value) {
  return with_sign(
      integer(value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
      value < 0);
}

Real unpack(Format f, uint64_t bits, bool keeps_denormals) {
  Real r{.negative = (bits & f.sign_bit()) != 0};
  const uint64_t fraction = bits & f.fraction_mask();
  const auto field = static_cast<int>((bits & f.infinity()) >> f.fraction_bits);
  if ((bits & f.infinity()) == f.infinity()) {
    r.kind = fraction != 0 ? Real::Kind::Nan : Real::Kind::Infinite;
  } else if (field == 0) {
    if (fraction != 0 && keeps_denormals) {
      r.kind = Real::Kind::Finite;
      r.digits = fraction;
      r.exponent = f.least_exponent() - f.fraction_bits;
    }
  } else {
    r.kind = Real::Kind::Finite;
    r.digits = fraction | uint64_t{1} << f.fraction_bits;
    r.exponent = field - f.bias() - f.fraction_bits;
  }
  return r;
}

uint64_t pack(Format f, const Real& r, const Rules& rules) {
  const uint64_t sign = r.negative ? f.sign_bit() : 0;
  if (r.nan()) return f.infinity() | f.quiet_bit();
  if (r.infinite()) return sign | f.infinity();
  if (r.zero()) return sign;
  const int precise =
      r.magnitude() - f.fraction_bits; // power of the last place, were there no least exponent
  const int coarse = f.least_exponent() - f.fraction_bits;
  if (precise < coarse && !rules.keeps_outputs && !rules.flushes_rounded) {
    // Small means: small once rounded as if exponents had no end.
    const Wide digits = rounded(r.digits, precise - r.exponent, r.negative, rules.round);
    if (leading(digits) + precise < f.least_exponent()) return sign;
  }
  const int last = precise > coarse ? precise : coarse;
  Wide digits = rounded(r.digits, last - r.exponent, r.negative, rules.round);
  if (digits == 0) return sign;
  int exponent = last;
  if (digits >> (f.fraction_bits + 1) != 0) digits >>= 1, ++exponent; // a power of two
  const bool denormal = digits >> f.fraction_bits == 0;
  if (denormal && !rules.keeps_outputs) return sign;
  const int field = denormal ? 0 : exponent + f.fraction_bits + f.bias();
  if (field >= (1 << f.exponent_bits) - 1) {
    const bool toward_zero = rules.round == Round::TowardZero || (rules.round == Round::Up && r.negative) ||
                             (rules.round == Round::Down && !r.negative);
    return sign | (toward_zero || rules.saturates ? f.largest() : f.infinity());
  }
  return sign | uint64_t(field) << f.fraction_bits | (static_cast<uint64_t>(digits) & f.fraction_mask());
}

Real multiply(const Real& a, const Real& b) {
  const bool negative = a.negative != b.negative;
  if (a.nan() || b.nan()) return nan();
  if (a.infinite() || b.infinite()) {
    if (a.zero() || b.zero()) return nan();
    return {.kind = Real::Kind::Infinite, .negative = negative};
  }
  if (a.zero() || b.zero()) return {.negative = negative};
  return {.kind = Real::Kind::Finite,
          .negative = negative,
          .digits = a.digits * b.digits,
          .exponent = a.exponent + b.exponent};
}

Real add(const Real& a, const Real& b, Round round) {
  if (a.nan() || b.nan()) return nan();
  if (a.infinite()) return b.infinite() && a.negative != b.negative ? nan() : a;
  if (b.infinite()) return b;
  if (a.zero() && b.zero()) return {.negative = a.negative == b.negative ? a.negative : round == Round::Down};
  if (a.zero()) return b;
  if (b.zero()) return a;
  // Both with the leading digit at 125; the smaller one moves down.
  const Real& large = a.magnitude() >= b.magnitude() ? a : b;
  const Real& small = &large == &a ? b : a;
  constexpr int top = 125;
  const Wide first = large.digits << (top - leading(large.digits));
  const Wide second =
      shifted_right(small.digits << (top - leading(small.digits)), large.magnitude() - small.magnitude());
  Real r{.kind = Real::Kind::Finite, .negative = large.negative, .exponent = large.magnitude() - top};
  if (large.negative == small.negative) {
    r.digits = first + second;
  } else if (first >= second) {
    r.digits = first - second;
  } else {
    r.digits = second - first;
    r.negative = small.negative;
  }
  if (r.digits == 0) return {.negative = round == Round::Down};
  return r;
}

Real scale(Real r, int64_t power) {
  constexpr int64_t most = 100000;
  r.exponent += static_cast<int>(power > most ? most : power < -most ? -most : power);
  return r;
}

Real to_integer(const Real& r, Round round) {
  if (r.kind != Real::Kind::Finite || r.exponent >= 0) return r;
  const Wide digits = rounded(r.digits, -r.exponent, r.negative, round);
  if (digits == 0) return {.negative = r.negative};
  return {.kind = Real::Kind::Finite, .negative = r.negative, .digits = digits};
}

int64_t saturated(const Real& r, int64_t least, int64_t most) {
  if (r.nan() || r.zero()) return 0;
  if (r.infinite() || r.magnitude() > 62) return r.negative ? least : most;
  const Real whole = to_integer(r, Round::TowardZero);
  if (whole.zero()) return 0;
  const auto digits = static_cast<int64_t>(whole.exponent > 0 ? whole.digits << whole.exponent
                                                              : whole.digits >> -whole.exponent);
  const int64_t value = whole.negative ? -digits : digits;
  return value < least ? least : value > most ? most : value;
}

int compare(const Real& a, const Real& b) {
  if (a.nan() || b.nan()) return 2;
  if (a.infinite() && b.infinite() && a.negative == b.negative) return 0;
  const Real difference = add(a, -b, Round::NearestEven);
  if (difference.zero()) return 0;
  return difference.negative ? -1 : 1;
}

uint64_t sum(Format f, uint64_t a, uint64_t b, const Rules& rules) {
  return pack(f, add(unpack(f, a, rules.keeps_inputs), unpack(f, b, rules.keeps_inputs), rules.round), rules);
}
uint64_t product(Format f, uint64_t a, uint64_t b, const Rules& rules) {
  return pack(f, multiply(unpack(f, a, rules.keeps_inputs), unpack(f, b, rules.keeps_inputs)), rules);
}
uint64_t fused(Format f, uint64_t a, uint64_t b, uint64_t c, const Rules& rules) {
  const Real p = multiply(unpack(f, a, rules.keeps_inputs), unpack(f, b, rules.keeps_inputs));
  return pack(f, add(p, unpack(f, c, rules.keeps_inputs), rules.round), rules);
}
uint64_t flushed(Format f, uint64_t a, bool keeps) {
  return !keeps && (a & f.infinity()) == 0 ? a & f.sign_bit() : a;
}

} // namespace asmevo::reference
