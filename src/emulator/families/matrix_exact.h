// The exact sum of products, rounded once to the nearest float, ties to even: what is assumed where nobody
// has measured how the hardware adds (v_smfmac_*, gfx950's f8f6f4 and scaled forms).
//
// A sum is kept as two doubles, which nearly always hold it without error; columns where they did not are
// summed again with as many doubles as it takes.
#pragma once

#include "emulator/families/exact_sum.h"
#include "emulator/families/matrix_arithmetic.h"

namespace asmevo::emulator {

inline constexpr unsigned most_exact_terms = 80; // 64 products of the largest sparse forms, C

namespace detail {

using Doubles = Vector<double, 4>;

// a + b = sum + error, exactly (Knuth).
struct TwoSum {
  Doubles sum, error;
  TwoSum(Doubles a, Doubles b) : sum(a + b) {
    const Doubles b_in_sum = sum - a;
    error = (a - (sum - b_in_sum)) + (b - b_in_sum);
  }
};

// The last bit of `sum` made to say that something more follows ("round to odd"): rounding that to a float is
// the same as rounding the exact value.
inline Doubles round_to_odd(Doubles sum, Doubles rest) {
  using Longs = Vector<int64_t, 4>;
  Longs bits = (Longs)sum;
  const Longs inexact = rest != 0.0, opposite = ((Longs)rest ^ bits) < 0;
  bits += inexact & opposite; // one less in magnitude
  bits |= inexact & 1;
  return (Doubles)bits;
}

/// Four columns' sums.
class ExactTotals {
 public:
  explicit ExactTotals(Vector<float, 4> start) : sum_(__builtin_convertvector(start, Doubles)) {}

  void add(Doubles term) {
    const TwoSum first(sum_, term);
    const TwoSum second(rest_, first.error);
    sum_ = first.sum;
    rest_ = second.sum;
    lost_ |= second.error != 0.0;
  }

  /// `terms_of(j, double*)` writes all terms of column j and returns how many: for the columns that need more
  /// doubles.
  template <class TermsOf>
  Vector<float, 4> round(TermsOf terms_of) const {
    const TwoSum both(sum_, rest_);
    auto rounded = __builtin_convertvector(round_to_odd(both.sum, both.error), Vector<float, 4>);
    for (unsigned j = 0; j < 4; ++j) {
      if (lost_[j] == 0) [[likely]]
        continue;
      double terms[most_exact_terms];
      rounded[j] = round_exact_sum(terms, terms_of(j, terms));
    }
    return rounded;
  }

 private:
  Doubles sum_, rest_{};
  Vector<int64_t, 4> lost_{};
};

} // namespace detail

/// Copies accumulators and puts 0 in place of Inf and NaN. True: there were some.
inline bool set_specials_aside(float* sums, unsigned count, float* before) {
  bool any = false;
  for (unsigned j = 0; j < count; ++j) {
    before[j] = sums[j];
    const bool special = !std::isfinite(sums[j]);
    sums[j] = special ? 0 : sums[j];
    any |= special;
  }
  return any;
}

struct ExactOperand : FloatOperand {
  alignas(64) double finite[most_elements]; // Inf and NaN count as 0 here

  /// From `value`.
  void set_finite(unsigned elements) {
    bool any_special = false;
    for (unsigned n = 0; n < elements; ++n) {
      const bool ordinary = std::isfinite(value[n]);
      finite[n] = ordinary ? double{value[n]} : 0;
      any_special |= !ordinary;
    }
    specials = any_special;
  }
};

template <class FormatA, class FormatB>
struct ExactSum {
  using Result = float;
  static constexpr uint32_t csr = FloatMode::csr_plain;
  using Operand = ExactOperand;

  static void load(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items, unsigned which) {
    if (which == 0)
      load_floats<FormatA>(mode, rows, items, o.value);
    else
      load_floats<FormatB>(mode, rows, items, o.value);
    o.set_finite(items * lanes);
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, float* sums) {
    float before[N];
    const bool rare = set_specials_aside(sums, N, before) || r.saturate || r.a.specials || r.b.specials;
    for (unsigned j = 0; j < N; j += 4) add_four(r, j, sums + j);
    if (rare) settle_specials(with_values(r), HUGE_VAL, 0, r.terms.count, N, before, sums);
  }

 private:
  static void add_four(const RowTimesColumns<Operand>& r, unsigned j, float* sums) {
    using namespace detail;
    const auto start = load_vector<Vector<float, 4>>(sums);
    ExactTotals totals(start);
    for (unsigned k = 0; k < r.terms.count; ++k) totals.add(product(r, k, j));
    const auto rounded = totals.round([&](unsigned column, double* terms) {
      for (unsigned k = 0; k < r.terms.count; ++k) terms[k] = product(r, k, j)[column];
      terms[r.terms.count] = double{start[column]};
      return r.terms.count + 1;
    });
    detail::store_vector(sums, rounded);
  }
  static detail::Doubles product(const RowTimesColumns<Operand>& r, unsigned k, unsigned j) {
    return detail::load_vector<detail::Doubles>(r.b.finite + r.terms.b[k] + r.column + j) *
           r.a.finite[r.terms.a[k] + r.row];
  }
};

} // namespace asmevo::emulator
