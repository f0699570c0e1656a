// How matrix instructions add up products. Each struct here is one way; it says what it makes of an operand's
// registers once per instruction (Operand), and adds one row of A times a run of N columns of B to N
// accumulators (add_row).
//
// A prepared operand keeps the registers' order: element (item, lane) is at item * 64 + lane. So the N
// columns that share a k are neighbours, and the inner loops run over columns.
#pragma once

#include "emulator/families/matrix_formats.h"

#include <algorithm>
#include <cmath>

namespace asmevo::emulator {

inline constexpr unsigned most_items = 32; // of an operand in a lane
inline constexpr unsigned most_elements = most_items * lanes;

/// Which elements a row multiplies: its k-th is at `a[k] + row` of A, and the run of columns at `b[k] +
/// column` of B.
struct Terms {
  const uint16_t* a = nullptr;
  const uint16_t* b = nullptr;
  unsigned count = 0;
};

/// A row of A and a run of columns of B.
template <class Operand>
struct RowTimesColumns {
  const Operand& a;
  const Operand& b;
  unsigned row = 0, column = 0;
  Terms terms;
  bool saturate = false;
};

// --- f32, f64: one fused multiply-add after another, k ascending.

template <class T>
struct FusedChain {
  using Result = T;
  static constexpr uint32_t csr = FloatMode::csr_plain;
  struct Operand {
    alignas(64) T value[most_elements];
  };

  static void load(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items, unsigned which) {
    if constexpr (sizeof(T) == 4) {
      load_floats<F32>(mode, rows, items, o.value);
    } else {
      const uint64_t sign = uint64_t{mode.negate >> which & 1U} << 63;
      for (unsigned item = 0; item < items; ++item)
        for (unsigned l = 0; l < lanes; ++l)
          o.value[item * lanes + l] = std::bit_cast<double>(
              (rows[2 * item].lane[l] | uint64_t{rows[2 * item + 1].lane[l]} << 32) ^ sign);
    }
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, T* sums) {
    if (sizeof(T) == 4 && r.saturate) return add_row_saturating<N>(r, sums);
    T sum[N];
    std::copy_n(sums, N, sum);
    for (unsigned k = 0; k < r.terms.count; ++k) {
      const T a = r.a.value[r.terms.a[k] + r.row];
      const T* b = r.b.value + r.terms.b[k] + r.column;
      for (unsigned j = 0; j < N; ++j) sum[j] = std::fma(a, b[j], sum[j]);
    }
    std::copy_n(sum, N, sums);
  }

 private:
  template <unsigned N>
  static void add_row_saturating(const RowTimesColumns<Operand>& r, T* sums) {
    for (unsigned k = 0; k < r.terms.count; ++k)
      for (unsigned j = 0; j < N; ++j) {
        const T a = r.a.value[r.terms.a[k] + r.row], b = r.b.value[r.terms.b[k] + r.column + j];
        const bool finite = std::isfinite(a) && std::isfinite(b) && std::isfinite(sums[j]);
        sums[j] = std::fma(a, b, sums[j]);
        if (finite && std::isinf(sums[j])) sums[j] = std::copysign(std::numeric_limits<T>::max(), sums[j]);
      }
  }
};

// --- i8: exact, wraps around or saturates.

struct IntegerSum {
  using Result = int32_t;
  static constexpr uint32_t csr = FloatMode::csr_plain;
  struct Operand {
    alignas(64) int32_t value[most_elements];
  };

  static void load(Operand& o, const MatrixMode&, const Row* rows, unsigned items, unsigned) {
    for (unsigned item = 0; item < items; ++item) {
      alignas(64) uint32_t raw[lanes];
      unpack_items<8>(rows, item, raw);
      for (unsigned l = 0; l < lanes; ++l) o.value[item * lanes + l] = static_cast<int8_t>(raw[l]);
    }
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, int32_t* sums) {
    int32_t sum[N] = {}; // 128 products of 14 bits and sign
    for (unsigned k = 0; k < r.terms.count; ++k) {
      const int32_t a = r.a.value[r.terms.a[k] + r.row];
      const int32_t* b = r.b.value + r.terms.b[k] + r.column;
      for (unsigned j = 0; j < N; ++j) sum[j] += a * b[j];
    }
    for (unsigned j = 0; j < N; ++j) {
      const int64_t exact = int64_t{sums[j]} + sum[j];
      constexpr int64_t least = INT32_MIN, most = INT32_MAX;
      sums[j] = static_cast<int32_t>(r.saturate ? std::clamp(exact, least, most) : exact);
    }
  }
};

// --- f16 and bf16 of gfx90a: products rounded to f32, added in pairs, each group's sum to the accumulator;
// subnormals flushed everywhere. From MMA-Sim's model of CDNA2 (not seen on hardware here); the flushing is
// in AMD's notes on MI200.

template <class Format, unsigned Group>
struct Pairwise {
  using Result = float;
  static constexpr uint32_t csr = FloatMode::csr_plain | 0x8040; // FTZ, DAZ
  struct Operand {
    alignas(64) float value[most_elements];
  };

  static void load(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items, unsigned) {
    load_floats<Format>(mode, rows, items, o.value);
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, float* sums) {
    for (unsigned k = 0; k < r.terms.count; k += Group)
      for (unsigned j = 0; j < N; ++j) sums[j] += tree<Group>(r, k, j);
  }

 private:
  template <unsigned Count>
  static float tree(const RowTimesColumns<Operand>& r, unsigned k, unsigned j) {
    if constexpr (Count == 1)
      return r.a.value[r.terms.a[k] + r.row] * r.b.value[r.terms.b[k] + r.column + j];
    else
      return tree<Count / 2>(r, k, j) + tree<Count / 2>(r, k + Count / 2, j);
  }
};

// --- f16, bf16, xf32, fp8, bf8 from gfx942 on: products are cut off below a fixed distance from the largest,
// then added. In detail (and where each step is from): docs/emulator.md, "Matrix arithmetic". In short, for a
// group of products:
//   1. align to the largest exponent, cut each toward zero 24 bits below it, add exactly;
//   2. align sum and accumulator to the larger exponent of the two; cut toward minus infinity, 32 bits below
//   it the sum,
//      24 bits below the accumulator;
//   3. add; keep 32 bits from the leading one on, again toward minus infinity; round to nearest even.
// fp8 and bf8 do step 1 for even and odd products apart, and drop an accumulator that is more than 25 bits
// smaller.
//
// Exponents are those of the encoding: not raised when a product of significands reaches 2, nor lowered for
// subnormals.

/// Significands have 12 fraction bits in all formats (13 bits with the leading one), so that a product has
/// the 24 that step 1 keeps. Zeros, and Inf and NaN which are dealt with apart, have significand 0 and an
/// exponent below all others.
struct SplitOperand {
  static constexpr int32_t zero_exponent = -4096;
  alignas(64) float value[most_elements];
  alignas(64) int32_t significand[most_elements];
  alignas(64) int32_t exponent[most_elements];
  int32_t largest_exponent = zero_exponent;
  bool specials = false; // has Inf or NaN

  /// From `value`.
  void split(unsigned elements, int min_exponent);
};

/// Puts right what Inf, NaN, products of 2^128 and more, and saturation change in one group's `columns` sums.
void settle_specials(const RowTimesColumns<SplitOperand>&, unsigned first, unsigned count, unsigned columns,
                     const float* before, float* sums);

namespace detail {

template <class T, unsigned W>
struct VectorType {
  typedef T type
      __attribute__((vector_size(W * sizeof(T)))); // NOLINT(modernize-use-using): needs the attribute
};
template <class T, unsigned W>
using Vector = typename VectorType<T, W>::type;

template <class V, class T>
V load_vector(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
V smaller(V a, V b) {
  return a < b ? a : b;
}
template <class V>
V larger(V a, V b) {
  return a > b ? a : b;
}

/// 2^e as doubles.
inline Vector<double, 4> power_of_two(Vector<int32_t, 4> e) {
  return (Vector<double, 4>)(__builtin_convertvector(e + 1023, Vector<int64_t, 4>) << 52);
}

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

/// Step 3 for four columns: (sum * 2^up + accumulator * 2^8) * 2^(exponent - 32), with 32 bits from the
/// leading one.
inline Vector<float, 4> round_total(Vector<int32_t, 4> sum, Vector<int32_t, 4> up,
                                    Vector<int32_t, 4> accumulator, Vector<int32_t, 4> exponent) {
  using Doubles = Vector<double, 4>;
  using Longs = Vector<int64_t, 4>;
  constexpr int64_t dropped = (int64_t{1} << (52 - 31)) - 1; // of a double's mantissa
  const Doubles total = __builtin_convertvector(sum, Doubles) * power_of_two(up) +
                        __builtin_convertvector(accumulator, Doubles) * 256.0; // exact: below 2^39
  Longs bits = (Longs)total;
  bits += (bits < 0) & dropped; // toward minus infinity: negative magnitudes grow
  bits &= ~dropped;
  return __builtin_convertvector((Doubles)bits * power_of_two(exponent - 32), Vector<float, 4>);
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
    const bool rare =
        r.saturate || r.a.specials || r.b.specials ||
        r.a.largest_exponent + r.b.largest_exponent >= 127; // products are below 2^(exponent + 2)
    for (unsigned k = 0; k < r.terms.count; k += Group) {
      float before[N];
      if (rare) [[unlikely]]
        std::copy_n(sums, N, before);
      for (unsigned j = 0; j < N; j += width<N>) add_group<width<N>>(r, k, r.column + j, sums + j);
      if (rare) [[unlikely]]
        settle_specials(r, k, Group, N, before, sums);
    }
  }

 private:
  template <unsigned N>
  static constexpr unsigned width = N < 8 ? N : 8;

  template <class Format>
  static void load_as(Operand& o, const MatrixMode& mode, const Row* rows, unsigned items) {
    load_floats<Format>(mode, rows, items, o.value);
    o.split(items * lanes, Format::min_exponent(mode));
  }

  template <unsigned W, class V = detail::Vector<int32_t, W>>
  static detail::AlignedSum<V> add_products(const RowTimesColumns<Operand>& r, unsigned k, unsigned column) {
    using namespace detail;
    if constexpr (!EvenOdd) {
      return add_aligned<W, Group, 1>(r, k, column);
    } else {
      const auto even = add_aligned<W, Group / 2, 2>(r, k, column);
      const auto odd = add_aligned<W, Group / 2, 2>(r, k + 1, column);
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

    // The sum has units of 2^(its exponent - 24); at 2^(exponent - 32) it is shifted to the right by below
    // - 8.
    const V below = exponent - products.exponent;
    V sum = products.sum >> smaller(larger(below - 8, zero), zero + 31);
    const V up = larger(8 - below, zero);
    // Results below 2^-126 keep what 2^-126 would: nothing below 2^-157, the second lowest place here.
    sum &= ~((exponent == -126) & (below >= 8) & 1);

    V accumulator = (bits < 0 ? -significand : significand) * 2 >> smaller(exponent - exponent_c, zero + 31);
    if constexpr (EvenOdd) accumulator &= ~(exponent_c < exponent - 25);

    V rounded;
    for (unsigned at = 0; at < W; at += 4) {
      const auto part = [&](const V& v) {
        return load_vector<Vector<int32_t, 4>>(reinterpret_cast<const int32_t*>(&v) + at);
      };
      const auto four = round_total(part(sum), part(up), part(accumulator), part(exponent));
      __builtin_memcpy(reinterpret_cast<int32_t*>(&rounded) + at, &four, sizeof four);
    }
    // An accumulator of Inf or NaN stays.
    const V quiet = bits | (((bits & 0x7fffff) != 0) & 0x400000);
    rounded = field == 0xff ? quiet : rounded;
    __builtin_memcpy(sums, &rounded, sizeof rounded);
  }
};

} // namespace asmevo::emulator
