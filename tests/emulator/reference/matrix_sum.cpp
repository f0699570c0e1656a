#include "emulator/reference/matrix_sum.h"

#include <algorithm>
#include <array>

namespace asmevo::reference {

namespace {

constexpr int none = -1000; // the exponent of no product at all
constexpr MatrixFormat single{MatrixFormat::Kind::Xf32, 32, 8, 23, 127};

int64_t floor_shift(int64_t v, int by) {
  if (by <= 0) return v << -by;
  return v >> (by > 63 ? 63 : by);
}
int64_t cut_shift(int64_t v, int by) {
  return v < 0 ? -floor_shift(-v, by) : floor_shift(v, by);
}

struct Term {
  int64_t digits = 0; // signed, times 2^(exponent - fraction bits of both)
  int exponent = none;
};

// Infinities and NaNs of products and accumulator together.
struct Specials {
  bool plus = false, minus = false, nan = false, true_infinity = false;
  void infinity(bool negative) { (negative ? minus : plus) = true; }
  bool any() const { return plus || minus || nan; }
  uint32_t result(bool saturates) const {
    if (nan || (plus && minus)) return 0x7fc00000;
    const uint32_t sign = minus ? 0x80000000 : 0;
    return sign | (saturates && !true_infinity ? 0x7f7fffff : 0x7f800000);
  }
};

Term multiply(const Part& x, const Part& y, int fraction_bits, Specials& specials) {
  const bool negative = x.negative != y.negative;
  if (x.kind == Part::Kind::Nan || y.kind == Part::Kind::Nan) {
    specials.nan = true;
  } else if (x.kind == Part::Kind::Infinite || y.kind == Part::Kind::Infinite) {
    const bool zero = (x.kind == Part::Kind::Finite && x.significand == 0) ||
                      (y.kind == Part::Kind::Finite && y.significand == 0);
    if (zero) specials.nan = true;
    specials.true_infinity = true;
    specials.infinity(negative);
  } else if (x.significand != 0 && y.significand != 0) {
    const int64_t digits = x.significand * y.significand;
    const int exponent = x.exponent + y.exponent;
    // A product that is no f32 counts as infinite.
    if (63 - __builtin_clzll(static_cast<uint64_t>(digits)) + exponent - fraction_bits >= 128)
      specials.infinity(negative);
    return {negative ? -digits : digits, exponent};
  }
  return {};
}

// Products cut 24 bits below the largest's exponent; in units of that.
struct Cut {
  int64_t sum = 0;
  int exponent = none;
};
Cut cut_sum(std::span<const Term> terms, unsigned first, unsigned step, int fraction_bits) {
  Cut c;
  for (size_t n = first; n < terms.size(); n += step) c.exponent = std::max(c.exponent, terms[n].exponent);
  if (c.exponent == none) return c;
  for (size_t n = first; n < terms.size(); n += step)
    if (terms[n].exponent != none)
      c.sum += cut_shift(terms[n].digits, (c.exponent - 24) - (terms[n].exponent - fraction_bits));
  return c;
}

// Everything behind the accumulator's meeting the sum: `sum` in units of 2^(exponent - 24).
uint32_t accumulate(const Cut& products, const Part& c, bool drops, bool saturates) {
  const int most = std::max(products.exponent, c.exponent);
  // Units of 2^(most - 32).
  int64_t total = products.exponent == none ? 0 : floor_shift(products.sum, most - products.exponent - 8);
  if (!drops || c.exponent >= most - 25) {
    const int64_t digits = c.negative ? -c.significand : c.significand;
    total += floor_shift(digits, (most - 24) - (c.exponent - 23)) << 8;
  }
  if (total == 0) return 0;
  const uint64_t size = static_cast<uint64_t>(total < 0 ? -total : total);
  const int leading = std::max(63 - __builtin_clzll(size) + most - 32, -126);
  const int drop = leading - 31 - (most - 32);
  int exponent = most - 32;
  if (drop > 0) total = floor_shift(total, drop), exponent += drop;
  const Real value{.kind = total == 0 ? Real::Kind::Zero : Real::Kind::Finite,
                   .negative = total < 0,
                   .digits = static_cast<uint64_t>(total < 0 ? -total : total),
                   .exponent = exponent};
  return static_cast<uint32_t>(pack(f32, value, {.saturates = saturates}));
}

} // namespace

Part part_of(const MatrixFormat& f, uint64_t bits) {
  Part p;
  const uint64_t sign = uint64_t{1} << (f.bits - 1), fraction_mask = (uint64_t{1} << f.fraction_bits) - 1;
  const auto field = static_cast<int>((bits & (sign - 1)) >> f.fraction_bits);
  const int top = (1 << f.exponent_bits) - 1;
  p.negative = (bits & sign) != 0;
  p.significand = static_cast<int64_t>(bits & fraction_mask);
  p.exponent = std::max(field, 1) - f.bias;
  if (field != 0) p.significand |= int64_t{1} << f.fraction_bits;
  if (f.fnuz) {
    if (bits == sign) p.kind = Part::Kind::Nan;
  } else if (f.kind == MatrixFormat::Kind::Fp8) {
    if ((bits & 0x7f) == 0x7f) p.kind = Part::Kind::Nan;
  } else if (field == top && f.kind != MatrixFormat::Kind::Small) {
    p.kind = (bits & fraction_mask) != 0 ? Part::Kind::Nan : Part::Kind::Infinite;
  }
  if (f.kind == MatrixFormat::Kind::Xf32) p.significand &= ~int64_t{0x1fff};
  return p;
}

uint32_t grouped_sum(const MatrixFormat& a, const MatrixFormat& b, std::span<const uint64_t> row,
                     std::span<const uint64_t> column, uint32_t start, unsigned group, bool saturates) {
  const bool eight = a.bits == 8;
  const int fraction_bits = a.fraction_bits + b.fraction_bits;
  uint32_t total = start;
  for (size_t first = 0; first < row.size(); first += group) {
    const size_t count = std::min<size_t>(group, row.size() - first);
    std::array<Term, 16> terms;
    Specials specials;
    for (size_t n = 0; n < count; ++n)
      terms[n] = multiply(part_of(a, row[first + n]), part_of(b, column[first + n]), fraction_bits, specials);
    MatrixFormat whole = single; // the accumulator keeps all its bits
    whole.kind = MatrixFormat::Kind::F32;
    const Part c = part_of(whole, total);
    if (c.kind == Part::Kind::Nan) specials.nan = true;
    if (c.kind == Part::Kind::Infinite) specials.true_infinity = true, specials.infinity(c.negative);
    if (specials.any()) {
      total = specials.result(saturates);
      continue;
    }
    const std::span<const Term> used(terms.data(), count);
    Cut products;
    if (eight) {
      const Cut even = cut_sum(used, 0, 2, fraction_bits), odd = cut_sum(used, 1, 2, fraction_bits);
      products.exponent = std::max(even.exponent, odd.exponent);
      for (const Cut& half : {even, odd})
        if (half.exponent != none) products.sum += floor_shift(half.sum, products.exponent - half.exponent);
    } else {
      products = cut_sum(used, 0, 1, fraction_bits);
    }
    total = accumulate(products, c, eight, saturates);
  }
  return total;
}

uint32_t pairwise_sum(const MatrixFormat& f, std::span<const uint64_t> row, std::span<const uint64_t> column,
                      uint32_t start, unsigned group, bool saturates) {
  const Format narrow = f.kind == MatrixFormat::Kind::F16 ? f16 : bf16;
  const Rules rules{.keeps_inputs = false, .keeps_outputs = false, .saturates = saturates};
  const auto product_at = [&](size_t k) {
    const Real exact = multiply(unpack(narrow, row[k], false), unpack(narrow, column[k], false));
    return pack(f32, exact, rules);
  };
  uint64_t total = start;
  for (size_t k = 0; k < row.size(); k += group) {
    uint64_t sum_of_group = sum(f32, product_at(k), product_at(k + 1), rules);
    if (group == 4)
      sum_of_group = sum(f32, sum_of_group, sum(f32, product_at(k + 2), product_at(k + 3), rules), rules);
    total = sum(f32, total, sum_of_group, rules);
  }
  return static_cast<uint32_t>(total);
}

} // namespace asmevo::reference
