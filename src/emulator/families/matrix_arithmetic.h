// How matrix instructions add up products. An arithmetic is a struct that says what it makes of an operand's
// registers, once per instruction (Operand, load), and that adds one row of A times a run of N columns of B
// to N accumulators (add_row). Here are the simple ones; matrix_aligned.h and matrix_exact.h have the others.
//
// A prepared operand keeps the registers' order: element (item, lane) is at item * 64 + lane. So the columns
// that share a k are neighbours, and the inner loops run over columns.
#pragma once

#include "emulator/families/matrix_formats.h"
#include "emulator/families/matrix_simd.h"

#include <algorithm>
#include <cmath>

namespace asmevo::emulator {

inline constexpr unsigned most_items = 32; // of an operand in a lane
inline constexpr unsigned most_elements = most_items * lanes;

/// Which elements meet: a row's k-th is at `a[k] + row` of A, its run of columns at `b[k] + column` of B.
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

template <class T>
struct Elements {
  alignas(64) T value[most_elements];
};

/// Operands of arithmetics that deal with Inf and NaN apart.
struct FloatOperand : Elements<float> {
  bool specials = false; // there is an Inf or NaN
};

/// What Inf, NaN, products of `least_infinite` or more, and saturation change in sums: `count` terms from the
/// `first` on were added to the accumulators `before`.
void settle_specials(const RowTimesColumns<FloatOperand>&, double least_infinite, unsigned first,
                     unsigned count, unsigned columns, const float* before, float* sums);

template <class Operand>
RowTimesColumns<FloatOperand> with_values(const RowTimesColumns<Operand>& r) {
  return {r.a, r.b, r.row, r.column, r.terms, r.saturate};
}

// --- f32, f64: one fused multiply-add after another, k ascending.

template <class T>
struct FusedChain {
  using Result = T;
  static constexpr uint32_t csr = FloatMode::csr_plain;
  using Operand = Elements<T>;

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
    constexpr unsigned width = std::min<unsigned>(N, 32 / sizeof(T));
    using V = detail::Vector<T, width>;
    V parts[N / width];
    for (unsigned n = 0; n < N / width; ++n) parts[n] = detail::load_vector<V>(sums + n * width);
    for (unsigned k = 0; k < r.terms.count; ++k) {
      const V a = detail::broadcast<V>(r.a.value[r.terms.a[k] + r.row]);
      const T* b = r.b.value + r.terms.b[k] + r.column;
      for (unsigned n = 0; n < N / width; ++n)
        parts[n] = detail::fused(a, detail::load_vector<V>(b + n * width), parts[n]);
    }
    for (unsigned n = 0; n < N / width; ++n) detail::store_vector(sums + n * width, parts[n]);
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
  using Operand = Elements<int32_t>;

  static void load(Operand& o, const MatrixMode&, const Row* rows, unsigned items, unsigned) {
    for (unsigned item = 0; item < items; ++item) {
      alignas(64) uint32_t raw[lanes];
      unpack_items<8>(rows, item, raw);
      for (unsigned l = 0; l < lanes; ++l) o.value[item * lanes + l] = static_cast<int8_t>(raw[l]);
    }
  }

  template <unsigned N>
  static void add_row(const RowTimesColumns<Operand>& r, int32_t* sums) {
    constexpr unsigned width = N < 8 ? N : 8;
    using V = detail::Vector<int32_t, width>;
    using U = detail::Vector<uint32_t, width>; // wraps around
    V parts[N / width]{};                      // of at most 128 products of 14 bits and sign
    for (unsigned k = 0; k < r.terms.count; ++k) {
      const int32_t a = r.a.value[r.terms.a[k] + r.row];
      const int32_t* b = r.b.value + r.terms.b[k] + r.column;
      for (unsigned n = 0; n < N / width; ++n) parts[n] += detail::load_vector<V>(b + n * width) * a;
    }
    for (unsigned n = 0; n < N / width; ++n) {
      int32_t* to = sums + n * width;
      if (r.saturate)
        saturating_add(to, parts[n], width);
      else
        detail::store_vector(to, detail::load_vector<U>(to) + (U)parts[n]);
    }
  }

 private:
  template <class V>
  static void saturating_add(int32_t* sums, const V& more, unsigned count) {
    for (unsigned j = 0; j < count; ++j) {
      constexpr int64_t least = INT32_MIN, most = INT32_MAX;
      sums[j] = static_cast<int32_t>(std::clamp(int64_t{sums[j]} + more[j], least, most));
    }
  }
};

// --- f16 and bf16 of gfx90a: products rounded to f32, added in pairs, each group's sum to the accumulator;
// subnormals flushed everywhere. From MMA-Sim's model of CDNA2, not compared with hardware here; the flushing
// is in AMD's notes on MI200.

template <class Format, unsigned Group>
struct Pairwise {
  using Result = float;
  static constexpr uint32_t csr = FloatMode::csr_plain | 0x8040; // FTZ, DAZ
  using Operand = Elements<float>;

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

} // namespace asmevo::emulator
