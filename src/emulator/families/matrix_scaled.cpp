#include "emulator/families/matrix_scaled.h"

#include <fmt/format.h>

#include <immintrin.h>

namespace asmevo::emulator {

namespace {

constexpr unsigned scaled_run = 32;               // values of k that share a scale
constexpr int scale_bias = 127, scale_nan = 0xff; // E8M0

// Products are at most 8 bits long, but those of two bf8 (e5m2) range over 2^-32 .. 2^31: more than a double
// can add up exactly. So bf8 values are split at 1, and products of parts, which then have few enough bits,
// summed apart.
struct ScaledOperand {
  alignas(64) float value[most_elements];
  alignas(64) double high[most_elements], low[most_elements]; // Inf and NaN count as 0 here
  bool has_low = false;
  bool specials = false;
  // Of row r, k in [32 q, 32 q + 32): at r + rows * q, which is the lane it comes from.
  alignas(64) int32_t scale[lanes]; // exponent
  uint64_t scale_is_nan = 0;

  void split(unsigned elements, bool wide_range) {
    bool any_special = false;
    for (unsigned n = 0; n < elements; ++n) {
      const bool finite = std::isfinite(value[n]);
      const double v = finite ? double{value[n]} : 0;
      high[n] = !wide_range || std::abs(v) >= 1 ? v : 0;
      low[n] = v - high[n];
      any_special |= !finite;
    }
    has_low = wide_range;
    specials = any_special;
  }
};

// The value of CBSZ and BLGP.
enum ElementFormat : uint8_t { fp8, bf8, fp6, bf6, fp4 };

constexpr unsigned bits_of(unsigned format) {
  return format <= bf8 ? 8 : format <= bf6 ? 6 : 4;
}

void load_factor(ScaledOperand& o, const MatrixMode& mode, const Row* rows, unsigned items, unsigned format) {
  switch (format) {
  case fp8: load_floats<Small<e4m3fn>>(mode, rows, items, o.value); break;
  case bf8: load_floats<Small<e5m2>>(mode, rows, items, o.value); break;
  case fp6: load_floats<Small<e2m3>>(mode, rows, items, o.value); break;
  case bf6: load_floats<Small<e3m2>>(mode, rows, items, o.value); break;
  default: load_floats<Small<e2m1>>(mode, rows, items, o.value); break;
  }
  o.split(items * lanes, format == bf8);
}

void load_scales(ScaledOperand& o, const Wave& wave, const Place& from, unsigned byte) {
  o.scale_is_nan = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    // An inline constant's exponent field is the scale.
    const uint32_t bits = from.vector()   ? wave.vectors[from.index].lane[l] >> 8 * byte
                          : from.scalar() ? wave.scalar32(from) >> 8 * byte
                                          : static_cast<uint32_t>(from.value) >> 23;
    const auto field = static_cast<int32_t>(bits & 0xff);
    o.scale[l] = field - scale_bias;
    if (field == scale_nan) o.scale_is_nan |= uint64_t{1} << l;
  }
}

void set_scales_to_one(ScaledOperand& o) {
  std::fill_n(o.scale, lanes, 0);
  o.scale_is_nan = 0;
}

// --- the sum

using Doubles = detail::Vector<double, 4>;
using Longs = detail::Vector<int64_t, 4>;
using Ints = detail::Vector<int32_t, 4>;

Doubles fused(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}

// a + b = sum + error, exactly (Knuth).
struct TwoSum {
  Doubles sum, error;
  TwoSum(Doubles a, Doubles b) : sum(a + b) {
    const Doubles b_in_sum = sum - a;
    error = (a - (sum - b_in_sum)) + (b - b_in_sum);
  }
};

// What is summed for four columns: C, and for each run of a scale up to three exact sums of products of
// parts.
struct ScaledTerms {
  static constexpr unsigned most = 1 + 3 * 4;
  Doubles term[most];
  unsigned count = 0;
  void add(Doubles t) { term[count++] = t; }
};

// The last bit of `sum` made to say that something more follows ("round to odd"); rounding that to a float is
// the same as rounding the exact value.
Doubles round_to_odd(Doubles sum, Doubles rest) {
  Longs bits = (Longs)sum;
  const Longs inexact = rest != 0.0, opposite = ((Longs)rest ^ bits) < 0;
  bits += inexact & opposite; // one less in magnitude
  bits |= inexact & 1;
  return (Doubles)bits;
}

// As two doubles without error in nearly all cases; the others go through round_exact_sum.
detail::Vector<float, 4> round_terms(const ScaledTerms& terms) {
  Doubles sum = terms.term[0], rest{};
  Longs lost{};
  for (unsigned n = 1; n < terms.count; ++n) {
    const TwoSum first(sum, terms.term[n]);
    const TwoSum second(rest, first.error);
    sum = first.sum;
    rest = second.sum;
    lost |= second.error != 0.0;
  }
  const TwoSum both(sum, rest);
  auto rounded = __builtin_convertvector(round_to_odd(both.sum, both.error), detail::Vector<float, 4>);
  for (unsigned j = 0; j < 4; ++j) {
    if (lost[j] == 0) [[likely]]
      continue;
    double column[ScaledTerms::most];
    for (unsigned n = 0; n < terms.count; ++n) column[n] = terms.term[n][j];
    rounded[j] = round_exact_sum(column, terms.count);
  }
  return rounded;
}

struct ScaledRow : RowTimesColumns<ScaledOperand> {
  unsigned rows_a = 0, columns_b = 0;
};

template <bool Low>
void add_products(const ScaledRow& r, unsigned first_k, unsigned column, Doubles scale, ScaledTerms& terms) {
  Doubles high{}, middle{}, low{};
  for (unsigned k = first_k; k < first_k + scaled_run; ++k) {
    const unsigned at_a = r.terms.a[k] + r.row, at_b = r.terms.b[k] + column;
    const Doubles a = Doubles{} + r.a.high[at_a], b = detail::load_vector<Doubles>(r.b.high + at_b);
    high = fused(a, b, high);
    if constexpr (Low) {
      const Doubles a_low = Doubles{} + r.a.low[at_a], b_low = detail::load_vector<Doubles>(r.b.low + at_b);
      middle = fused(a_low, b, fused(a, b_low, middle));
      low = fused(a_low, b_low, low);
    }
  }
  terms.add(high * scale);
  if constexpr (Low) {
    terms.add(middle * scale);
    terms.add(low * scale);
  }
}

void add_four(const ScaledRow& r, unsigned column, float* sums) {
  const auto c = detail::load_vector<detail::Vector<float, 4>>(sums);
  ScaledTerms terms;
  terms.add(__builtin_convertvector(c, Doubles));
  for (unsigned run = 0; run * scaled_run < r.terms.count; ++run) {
    const Ints exponent =
        detail::load_vector<Ints>(r.b.scale + run * r.columns_b + column) + r.a.scale[run * r.rows_a + r.row];
    const Doubles scale = detail::power_of_two(exponent);
    if (r.a.has_low || r.b.has_low)
      add_products<true>(r, run * scaled_run, column, scale, terms);
    else
      add_products<false>(r, run * scaled_run, column, scale, terms);
  }
  const auto rounded = round_terms(terms);
  __builtin_memcpy(sums, &rounded, sizeof rounded);
}

// --- Inf, NaN, saturation

bool scale_is_nan(const ScaledRow& r, unsigned column) {
  bool nan = false;
  for (unsigned run = 0; run * scaled_run < r.terms.count; ++run)
    nan |= (r.a.scale_is_nan >> (run * r.rows_a + r.row) & 1) != 0 ||
           (r.b.scale_is_nan >> (run * r.columns_b + column) & 1) != 0;
  return nan;
}

void settle_column(const ScaledRow& r, unsigned column, float before, float& sum) {
  float special = std::isfinite(before) ? 0 : before;
  for (unsigned k = 0; k < r.terms.count; ++k) {
    const float product = r.a.value[r.terms.a[k] + r.row] * r.b.value[r.terms.b[k] + column];
    if (!std::isfinite(product)) special += product;
  }
  if (scale_is_nan(r, column)) special = std::numeric_limits<float>::quiet_NaN();
  if (special != 0)
    sum = special; // true of NaN too
  else if (r.saturate && std::isinf(sum))
    sum = std::copysign(std::numeric_limits<float>::max(), sum);
}

template <unsigned N>
void add_scaled_row(const ScaledRow& r, float* sums) {
  float before[N];
  std::copy_n(sums, N, before);
  for (unsigned j = 0; j < N; j += 4) add_four(r, j, sums + j);
  const bool rare = r.saturate || r.a.specials || r.b.specials || (r.a.scale_is_nan | r.b.scale_is_nan) != 0;
  for (unsigned j = 0; j < N; ++j)
    if (rare || !std::isfinite(before[j])) [[unlikely]]
      settle_column(r, j, before[j], sums[j]);
}

// --- the instruction

template <FactorLayout L>
const uint16_t* places_in_factor(unsigned format) {
  constexpr FactorLayout halves{L.rows, L.k, 1, KOrder::Halves};
  return bits_of(format) == 8 ? element_places<halves>.data() : element_places<L>.data();
}

template <MatrixShape S>
void multiply(Wave& wave, const MicroOp& op, ScaledOperand& a, ScaledOperand& b) {
  const isa::Modifiers& m = op.mods();
  if (m.cbsz > fp4 || m.blgp > fp4)
    return wave.fail({.kind = FaultKind::Illegal,
                      .pc = op.pc,
                      .text = fmt::format("{} of element formats {} and {}, which do not exist",
                                          op.instruction->mnemonic, m.cbsz, m.blgp)});
  const MatrixMode mode = matrix_mode(wave);
  load_factor(a, mode, wave.vectors + op.source[0].index, layout_of_a(S).items(), m.cbsz);
  load_factor(b, mode, wave.vectors + op.source[1].index, layout_of_b(S).items(), m.blgp);
  Accumulators<float, S> sums;
  sums.load(wave, op.source[2]);
  const Terms terms{places_in_factor<layout_of_a(S)>(m.cbsz), places_in_factor<layout_of_b(S)>(m.blgp), S.k};
  for (unsigned row = 0; row < S.m; ++row)
    add_scaled_row<S.n>({{a, b, row, 0, terms, mode.saturate}, S.m, S.n}, sums.row(0, row));
  sums.store(wave, op.result);
}

template <MatrixShape S>
void mixed_mfma(Wave& wave, const MicroOp& op) {
  const MxcsrScope scope(FloatMode::csr_plain);
  ScaledOperand a, b;
  set_scales_to_one(a);
  set_scales_to_one(b);
  multiply<S>(wave, op, a, b);
}

template <MatrixShape S>
void scaled_mfma(Wave& wave, const MicroOp& op) {
  const MxcsrScope scope(FloatMode::csr_plain);
  const isa::Modifiers& m = op.mods();
  const auto byte_of = [&](unsigned source) {
    return (m.op_sel >> source & 1U) | (m.op_sel_hi >> source & 1U) << 1;
  };
  ScaledOperand a, b;
  load_scales(a, wave, op.source[3], byte_of(0));
  load_scales(b, wave, op.source[4], byte_of(1));
  multiply<S>(wave, op, a, b);
}

constexpr MatrixShape small_shape{16, 16, 128}, large_shape{32, 32, 64};

} // namespace

// Terms as an expansion: parts of growing magnitude, each below half a unit of the next one's last place
// (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997). The two topmost decide the rounding.
float round_exact_sum(const double* terms, unsigned count) {
  double part[16];
  unsigned parts = 0;
  for (unsigned n = 0; n < count; ++n) {
    double x = terms[n];
    unsigned kept = 0;
    for (unsigned p = 0; p < parts; ++p) {
      const double sum = x + part[p], part_in_sum = sum - x;
      const double error = (x - (sum - part_in_sum)) + (part[p] - part_in_sum);
      if (error != 0) part[kept++] = error;
      x = sum;
    }
    part[kept++] = x;
    parts = kept;
  }
  const double rest = parts > 1 ? part[parts - 2] : 0;
  const Doubles odd = round_to_odd(Doubles{} + part[parts - 1], Doubles{} + rest);
  return static_cast<float>(odd[0]);
}

void mixed_mfma_16x16x128(Wave& wave, const MicroOp& op) {
  mixed_mfma<small_shape>(wave, op);
}
void mixed_mfma_32x32x64(Wave& wave, const MicroOp& op) {
  mixed_mfma<large_shape>(wave, op);
}
void scaled_mfma_16x16x128(Wave& wave, const MicroOp& op) {
  scaled_mfma<small_shape>(wave, op);
}
void scaled_mfma_32x32x64(Wave& wave, const MicroOp& op) {
  scaled_mfma<large_shape>(wave, op);
}

} // namespace asmevo::emulator
