// How f16, bf16, xf32, fp8 and bf8 are added up from gfx942 on: products are cut off below a fixed distance
// from the largest, then added. docs/emulator.md, "Matrix arithmetic", says where each step is from. For a
// group of products:
//   1. align to the largest exponent; cut each product toward zero 24 bits below it; add exactly;
//   2. align sum and accumulator to the larger exponent of the two; cut both toward minus infinity:
//      the sum 32 bits below that exponent, the accumulator 24;
//   3. add; keep 32 bits from the leading one on, again toward minus infinity; round to nearest even.
// fp8 and bf8 do step 1 for even and odd products apart, and drop an accumulator that is more than 25 bits
// smaller.
//
// Exponents are those of the encodings: not raised when a product of significands reaches 2, nor lowered for
// subnormals. For example, 1 + 2^-25 + 2^-25 gives 1, both 2^-25 having been cut; but an accumulator of
// -2^-25 takes 2^-24 away from a sum of 1, having been cut toward minus infinity.
#pragma once

#include "emulator/families/matrix_arithmetic.h"

namespace asmevo::emulator {

/// Significands have 12 fraction bits in all formats (13 bits with the leading one), so that a product has
/// the 24 that step 1 keeps. Zeros, and Inf and NaN which are dealt with apart, have significand 0 and an
/// exponent below all others.
struct SplitOperand : FloatOperand {
  static constexpr int16_t zero_exponent = -4096;
  alignas(64) int16_t exponent[most_elements];
  alignas(64) int32_t finite_bits[most_elements]; // of `value`, and 0 for Inf and NaN
  alignas(64) int32_t significand[most_elements]; // of wide formats only
  // Of what is neither 0, Inf nor NaN.
  int32_t largest_exponent = zero_exponent, smallest_exponent = -zero_exponent;

  /// The rest from `value`. `wide`: products may leave the range of f32.
  void split(unsigned elements, int min_exponent, bool wide);
};

namespace detail {

/// The largest exponent among `Count` products, the `first` term and on in steps of `Step`, for W columns.
template <unsigned W, unsigned Count, unsigned Step, class V = Vector<int16_t, W>>
V largest_exponents(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned column) {
  V largest = V{} + static_cast<int16_t>(2 * SplitOperand::zero_exponent);
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step;
    const V e = load_vector<V>(r.b.exponent + r.terms.b[k] + column) + r.a.exponent[r.terms.a[k] + r.row];
    largest = larger(largest, e);
  }
  return largest;
}

/// Step 1 for W columns: `Count` products, in units of 2^(largest - 24).
template <unsigned W, unsigned Count, unsigned Step, class V = Vector<int32_t, W>>
V add_aligned(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned column, const V& largest) {
  V sum{};
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step, at_a = r.terms.a[k] + r.row, at_b = r.terms.b[k] + column;
    const V below =
        largest - (widen(load_vector<Vector<int16_t, W>>(r.b.exponent + at_b)) + r.a.exponent[at_a]);
    const V product = load_vector<V>(r.b.significand + at_b) * r.a.significand[at_a];
    const V sign = product >> 31;
    const V magnitude = ((product ^ sign) - sign) >> smaller(below, V{} + 31);
    sum += (magnitude ^ sign) - sign;
  }
  return sum;
}

/// The same where products are exact as floats and far from the ends of their range: in units of the last
/// place that is kept, a conversion to integers cuts toward zero by itself.
template <unsigned W, unsigned Count, unsigned Step, class V = Vector<int32_t, W>>
V add_aligned_floats(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned column,
                     const V& largest) {
  using Floats = Vector<float, W>;
  const auto units = (Floats)((24 + 127 - larger(largest, V{} - 100)) << 23); // where all are 0, any
  V sum{};
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step;
    const Floats product = load_vector<Floats>(r.b.finite_bits + r.terms.b[k] + column) *
                           std::bit_cast<float>(r.a.finite_bits[r.terms.a[k] + r.row]);
    sum += __builtin_convertvector(product * units, V);
  }
  return sum;
}

/// Whether all products are exact as floats, neither too large nor too small: their exponents are at most 2
/// above and 20 below those of the encodings.
inline bool fit_floats(const SplitOperand& a, const SplitOperand& b) {
  return a.largest_exponent + b.largest_exponent < 126 && a.smallest_exponent + b.smallest_exponent > -100;
}

/// Step 3 for W columns, of which doubles fill one vector: sum * 2^units + accumulator * 2^(exponent - 24),
/// with 32 bits from the leading one.
template <unsigned W>
[[gnu::always_inline]] inline Vector<float, W>
round_together(Vector<int32_t, W> sum, Vector<int32_t, W> units, Vector<int32_t, W> accumulator,
               Vector<int32_t, W> exponent) {
  using Doubles = Vector<double, W>;
  using Longs = Vector<int64_t, W>;
  constexpr int64_t dropped = (int64_t{1} << (52 - 31)) - 1; // of a double's mantissa
  // Exact: the two do not lie more than 40 bits apart.
  const Doubles total = fused(to_doubles(sum), power_of_two<W>(units),
                              to_doubles(accumulator) * power_of_two<W>(exponent - 24));
  Longs bits = (Longs)total;
  bits += (bits < 0) & dropped; // toward minus infinity: negative magnitudes grow
  bits &= ~dropped;
  return __builtin_convertvector((Doubles)bits, Vector<float, W>);
}

template <unsigned W>
[[gnu::always_inline]] inline Vector<float, W>
round_total(const Vector<int32_t, W>& sum, const Vector<int32_t, W>& units,
            const Vector<int32_t, W>& accumulator, const Vector<int32_t, W>& exponent) {
  if constexpr (W * sizeof(double) <= vector_bytes) {
    return round_together<W>(sum, units, accumulator, exponent);
  } else {
    const auto half = [&](bool upper) {
      return round_total<W / 2>(half_of<W, int32_t>(sum, upper), half_of<W, int32_t>(units, upper),
                                half_of<W, int32_t>(accumulator, upper),
                                half_of<W, int32_t>(exponent, upper));
    };
    return both_halves<W, float>(half(false), half(true));
  }
}

} // namespace detail

template <class FormatA, class FormatB, unsigned Group, bool EvenOdd = false>
struct AlignedSums {
  using Result = float;
  static constexpr uint32_t csr = FloatMode::csr_plain;
  using Operand = SplitOperand;

  static void load(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items, unsigned which) {
    if (which == 0)
      load_as<FormatA>(o, mode, rows, items);
    else
      load_as<FormatB>(o, mode, rows, items);
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, float* sums) {
    // A product that is no f32 counts as infinite, even if the sum would be finite. |product| < 2^(exponent +
    // 2).
    const bool overflow = r.a.largest_exponent + r.b.largest_exponent >= 127;
    const bool rare = r.saturate || r.a.specials || r.b.specials || overflow;
    const bool as_floats = is_narrow || detail::fit_floats(r.a, r.b);
    for (unsigned k = 0; k < r.terms.count; k += Group) {
      float before[N];
      if (rare) std::copy_n(sums, N, before);
      if (as_floats)
        add_groups<N, true>(r, k, sums);
      else
        add_groups<N, false>(r, k, sums);
      if (rare) settle_specials(with_values(r), 0x1p128, k, Group, N, before, sums);
    }
  }

 private:
  template <unsigned N>
  static constexpr unsigned width = N < detail::vector_bytes / 4 ? N : detail::vector_bytes / 4;

  // bf16 and xf32 have the exponents of f32: products may leave its range.
  template <class Format>
  static constexpr bool is_wide = std::is_same_v<Format, Bf16> || std::is_same_v<Format, Xf32>;
  static constexpr bool is_narrow = !is_wide<FormatA> && !is_wide<FormatB>;

  template <class Format>
  static void load_as(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items) {
    load_floats<Format>(mode, rows, items, o.value);
    o.split(items * lanes, Format::min_exponent(mode), !is_narrow);
  }

  // Products of a group that are added before all others: the even and the odd ones, or all.
  static constexpr unsigned parts = EvenOdd ? 2 : 1;

  template <unsigned N, bool as_floats>
  static void add_groups(const RowTimesColumns<Operand>& r, unsigned k, float* sums) {
    using namespace detail;
    // Exponents take half the room: those of two runs of columns are found at once.
    constexpr unsigned run = width<N>, both = N < 2 * run ? N : 2 * run;
    for (unsigned j = 0; j < N; j += both) {
      Vector<int16_t, both> largest[parts];
      for (unsigned part = 0; part < parts; ++part)
        largest[part] = largest_exponents<both, Group / parts, parts>(r, k + part, r.column + j);
      for (unsigned half = 0; half < both / run; ++half) {
        Vector<int32_t, run> exponents[parts];
        for (unsigned part = 0; part < parts; ++part)
          if constexpr (both == run)
            exponents[part] = widen(largest[part]);
          else
            exponents[part] = widen(half_of<both, int16_t>(largest[part], half != 0));
        add_run<run, as_floats>(r, k, r.column + j + half * run, exponents, sums + j + half * run);
      }
    }
  }

  template <unsigned W, bool as_floats, class V = detail::Vector<int32_t, W>>
  static void add_run(const RowTimesColumns<Operand>& r, unsigned k, unsigned column, const V* exponents,
                      float* sums) {
    using namespace detail;
    const V first = add_terms<W, as_floats>(r, k, column, exponents[0]);
    if constexpr (!EvenOdd) {
      add_to<W>(first, exponents[0], sums);
    } else {
      const V second = add_terms<W, as_floats>(r, k + 1, column, exponents[1]);
      const V most = larger(exponents[0], exponents[1]);
      add_to<W>((first >> smaller(most - exponents[0], V{} + 31)) +
                    (second >> smaller(most - exponents[1], V{} + 31)),
                most, sums);
    }
  }

  template <unsigned W, bool as_floats, class V = detail::Vector<int32_t, W>>
  static V add_terms(const RowTimesColumns<Operand>& r, unsigned first, unsigned column, const V& largest) {
    if constexpr (as_floats)
      return detail::add_aligned_floats<W, Group / parts, parts>(r, first, column, largest);
    else
      return detail::add_aligned<W, Group / parts, parts>(r, first, column, largest);
  }

  // Steps 2 and 3: products' sum, in units of 2^(their exponent - 24).
  template <unsigned W, class V = detail::Vector<int32_t, W>>
  static void add_to(V sum, const V& exponent_p, float* sums) {
    using namespace detail;
    const V bits = load_vector<V>(sums), field = bits >> 23 & 0xff, zero{};
    const V significand = (bits & 0x7fffff) | ((field != 0) & 0x800000);
    const V exponent_c = larger(field, zero + 1) - 127;
    const V exponent = larger(exponent_p, exponent_c);

    // Units are 2^(the sum's exponent - 24), but nothing stays below 2^(exponent - 32).
    const V below = exponent - exponent_p;
    sum >>= smaller(larger(below - 8, zero), zero + 31);
    const V units = larger(exponent_p - 24, exponent - 32);
    // Results below 2^-126 keep what 2^-126 would: nothing below 2^-157, the second lowest place here.
    sum &= ~((exponent == -126) & (below >= 8) & 1);

    const V sign = bits >> 31;
    V accumulator = ((significand << 1 ^ sign) - sign) >> smaller(exponent - exponent_c, zero + 31);
    if constexpr (EvenOdd) accumulator &= ~(exponent_c < exponent - 25);

    V rounded = (V)round_total<W>(sum, units, accumulator, exponent);
    // An accumulator of Inf or NaN stays.
    const V quiet = bits | (((bits & 0x7fffff) != 0) & 0x400000);
    rounded = field == 0xff ? quiet : rounded;
    store_vector(sums, rounded);
  }
};

} // namespace asmevo::emulator
