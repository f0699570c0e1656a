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
  static constexpr int32_t zero_exponent = -4096;
  alignas(64) int32_t significand[most_elements];
  alignas(64) int32_t exponent[most_elements];
  alignas(64) int32_t finite_bits[most_elements]; // of `value`, and 0 for Inf and NaN
  int32_t largest_exponent = zero_exponent;

  /// From `value`: `finite_bits`, or `significand`, and `exponent`.
  void split(unsigned elements, int min_exponent, bool as_floats);
};

namespace detail {

template <class V>
struct AlignedSum {
  V sum, exponent; // in units of 2^(exponent - 24)
};

/// Step 1 for W columns: `Count` products, from the `first` term in steps of `Step`.
template <unsigned W, unsigned Count, unsigned Step, class V = Vector<int32_t, W>>
AlignedSum<V> add_aligned(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned column) {
  V largest = V{} + 2 * SplitOperand::zero_exponent;
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step;
    const V e = load_vector<V>(r.b.exponent + r.terms.b[k] + column) + r.a.exponent[r.terms.a[k] + r.row];
    largest = larger(largest, e);
  }
  V sum{};
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step, at_a = r.terms.a[k] + r.row, at_b = r.terms.b[k] + column;
    const V below = largest - (load_vector<V>(r.b.exponent + at_b) + r.a.exponent[at_a]);
    const V product = load_vector<V>(r.b.significand + at_b) * r.a.significand[at_a];
    const V sign = product >> 31;
    const V magnitude = ((product ^ sign) - sign) >> smaller(below, V{} + 31);
    sum += (magnitude ^ sign) - sign;
  }
  return {sum, largest};
}

/// The same for formats whose products are exact as floats and far from the ends of their range: in units of
/// the last place that is kept, a conversion to integers cuts toward zero by itself.
template <unsigned W, unsigned Count, unsigned Step, class V = Vector<int32_t, W>>
AlignedSum<V> add_aligned_floats(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned column) {
  using Floats = Vector<float, W>;
  V largest = V{} + 2 * SplitOperand::zero_exponent;
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step;
    const V e = load_vector<V>(r.b.exponent + r.terms.b[k] + column) + r.a.exponent[r.terms.a[k] + r.row];
    largest = larger(largest, e);
  }
  const auto units = (Floats)((24 + 127 - larger(largest, V{} - 100)) << 23); // where all are 0, any
  V sum{};
  for (unsigned n = 0; n < Count; ++n) {
    const unsigned k = first + n * Step;
    const Floats product = load_vector<Floats>(r.b.finite_bits + r.terms.b[k] + column) *
                           std::bit_cast<float>(r.a.finite_bits[r.terms.a[k] + r.row]);
    sum += __builtin_convertvector(product * units, V);
  }
  return {sum, largest};
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
  const Doubles total = __builtin_convertvector(sum, Doubles) * power_of_two<W>(units) +
                        __builtin_convertvector(accumulator, Doubles) * power_of_two<W>(exponent - 24);
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
    for (unsigned k = 0; k < r.terms.count; k += Group) {
      float before[N];
      if (rare) std::copy_n(sums, N, before);
      for (unsigned j = 0; j < N; j += width<N>) add_group<width<N>>(r, k, r.column + j, sums + j);
      if (rare) settle_specials(with_values(r), 0x1p128, k, Group, N, before, sums);
    }
  }

 private:
  template <unsigned N>
  static constexpr unsigned width = N < detail::vector_bytes / 4 ? N : detail::vector_bytes / 4;

  // bf16 and xf32 have the exponents of f32: products may leave its range.
  template <class Format>
  static constexpr bool is_narrow = !std::is_same_v<Format, Bf16> && !std::is_same_v<Format, Xf32>;

  template <class Format>
  static void load_as(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items) {
    load_floats<Format>(mode, rows, items, o.value);
    o.split(items * lanes, Format::min_exponent(mode), is_narrow<FormatA> && is_narrow<FormatB>);
  }

  template <unsigned W, unsigned Count, unsigned Step>
  static auto add_terms(const RowTimesColumns<Operand>& r, unsigned first, unsigned column) {
    if constexpr (is_narrow<FormatA> && is_narrow<FormatB>)
      return detail::add_aligned_floats<W, Count, Step>(r, first, column);
    else
      return detail::add_aligned<W, Count, Step>(r, first, column);
  }

  template <unsigned W, class V = detail::Vector<int32_t, W>>
  static detail::AlignedSum<V> add_products(const RowTimesColumns<Operand>& r, unsigned k, unsigned column) {
    using namespace detail;
    if constexpr (!EvenOdd) {
      return add_terms<W, Group, 1>(r, k, column);
    } else {
      const auto even = add_terms<W, Group / 2, 2>(r, k, column);
      const auto odd = add_terms<W, Group / 2, 2>(r, k + 1, column);
      const V exponent = larger(even.exponent, odd.exponent);
      return {(even.sum >> smaller(exponent - even.exponent, V{} + 31)) +
                  (odd.sum >> smaller(exponent - odd.exponent, V{} + 31)),
              exponent};
    }
  }

  template <unsigned W>
  static void add_group(const RowTimesColumns<Operand>& r, unsigned k, unsigned column, float* sums) {
    using namespace detail;
    using V = Vector<int32_t, W>;
    const auto products = add_products<W>(r, k, column);

    const V bits = load_vector<V>(sums), field = bits >> 23 & 0xff, zero{};
    const V significand = (bits & 0x7fffff) | ((field != 0) & 0x800000);
    const V exponent_c = larger(field, zero + 1) - 127;
    const V exponent = larger(products.exponent, exponent_c);

    // Units are 2^(the sum's exponent - 24), but nothing stays below 2^(exponent - 32).
    const V below = exponent - products.exponent;
    V sum = products.sum >> smaller(larger(below - 8, zero), zero + 31);
    const V units = larger(products.exponent - 24, exponent - 32);
    // Results below 2^-126 keep what 2^-126 would: nothing below 2^-157, the second lowest place here.
    sum &= ~((exponent == -126) & (below >= 8) & 1);

    V accumulator = (bits < 0 ? -significand : significand) * 2 >> smaller(exponent - exponent_c, zero + 31);
    if constexpr (EvenOdd) accumulator &= ~(exponent_c < exponent - 25);

    V rounded = (V)round_total<W>(sum, units, accumulator, exponent);
    // An accumulator of Inf or NaN stays.
    const V quiet = bits | (((bits & 0x7fffff) != 0) & 0x400000);
    rounded = field == 0xff ? quiet : rounded;
    store_vector(sums, rounded);
  }
};

} // namespace asmevo::emulator
