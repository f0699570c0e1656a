#include "emulator/families/matrix_scaled.h"

#include "emulator/families/matrix_exact.h"
#include "emulator/families/matrix_operands.h"

#include <fmt/format.h>

namespace asmevo::emulator {

namespace {

constexpr unsigned scaled_run = 32;               // values of k that share a scale
constexpr int scale_bias = 127, scale_nan = 0xff; // E8M0

// Products are at most 8 bits long, but those of two bf8 (e5m2) range over 2^-32 .. 2^31: more than a double
// can add up exactly. So bf8 values are split at 1, and products of parts, which then have few enough bits,
// summed apart.
struct ScaledOperand : FloatOperand {
  alignas(64) double high[most_elements], low[most_elements]; // Inf and NaN count as 0 here
  bool has_low = false;
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

using Doubles = detail::Doubles;
using Ints = detail::Vector<int32_t, 4>;
using Floats = detail::Vector<float, 4>;

// What is summed for four columns: C, and for each run of a scale up to three exact sums of products of
// parts.
struct ScaledTerms {
  Doubles term[1 + 3 * 4];
  unsigned count = 0;
  void add(Doubles t) { term[count++] = t; }

  Floats round(Floats start) const {
    detail::ExactTotals totals(start);
    for (unsigned n = 0; n < count; ++n) totals.add(term[n]);
    return totals.round([&](unsigned column, double* terms) {
      terms[0] = double{start[column]};
      for (unsigned n = 0; n < count; ++n) terms[n + 1] = term[n][column];
      return count + 1;
    });
  }
};

struct ScaledRow : RowTimesColumns<ScaledOperand> {
  unsigned rows_a = 0, columns_b = 0;
};

// Columns that are summed side by side: so many that additions need not wait for each other.
constexpr unsigned vectors_abreast = 4, columns_abreast = 4 * vectors_abreast;

template <bool Low>
void add_products(const ScaledRow& r, unsigned first_k, unsigned column, ScaledTerms* terms) {
  Doubles high[vectors_abreast]{}, middle[vectors_abreast]{}, low[vectors_abreast]{};
  for (unsigned k = first_k; k < first_k + scaled_run; ++k) {
    const unsigned at_a = r.terms.a[k] + r.row, at_b = r.terms.b[k] + column;
    const Doubles a = detail::broadcast<Doubles>(r.a.high[at_a]),
                  a_low = detail::broadcast<Doubles>(r.a.low[at_a]);
    for (unsigned n = 0; n < vectors_abreast; ++n) {
      const auto b = detail::load_vector<Doubles>(r.b.high + at_b + 4 * n);
      high[n] = detail::fused(a, b, high[n]);
      if constexpr (Low) {
        const auto b_low = detail::load_vector<Doubles>(r.b.low + at_b + 4 * n);
        middle[n] = detail::fused(a_low, b, detail::fused(a, b_low, middle[n]));
        low[n] = detail::fused(a_low, b_low, low[n]);
      }
    }
  }
  const unsigned run = first_k / scaled_run;
  for (unsigned n = 0; n < vectors_abreast; ++n) {
    const Ints exponent = detail::load_vector<Ints>(r.b.scale + run * r.columns_b + column + 4 * n) +
                          r.a.scale[run * r.rows_a + r.row];
    const Doubles scale = detail::power_of_two<4>(exponent);
    terms[n].add(high[n] * scale);
    if constexpr (Low) {
      terms[n].add(middle[n] * scale);
      terms[n].add(low[n] * scale);
    }
  }
}

void add_columns(const ScaledRow& r, unsigned column, float* sums) {
  ScaledTerms terms[vectors_abreast];
  for (unsigned k = 0; k < r.terms.count; k += scaled_run) {
    if (r.a.has_low || r.b.has_low)
      add_products<true>(r, k, column, terms);
    else
      add_products<false>(r, k, column, terms);
  }
  for (unsigned n = 0; n < vectors_abreast; ++n) {
    const Floats rounded = terms[n].round(detail::load_vector<Floats>(sums + 4 * n));
    detail::store_vector(sums + 4 * n, rounded);
  }
}

bool scale_is_nan(const ScaledRow& r, unsigned column) {
  bool nan = false;
  for (unsigned run = 0; run * scaled_run < r.terms.count; ++run)
    nan |= (r.a.scale_is_nan >> (run * r.rows_a + r.row) & 1) != 0 ||
           (r.b.scale_is_nan >> (run * r.columns_b + column) & 1) != 0;
  return nan;
}

template <unsigned N>
void add_scaled_row(const ScaledRow& r, float* sums) {
  float before[N];
  const bool rare = set_specials_aside(sums, N, before) || r.saturate || r.a.specials || r.b.specials;
  for (unsigned j = 0; j < N; j += columns_abreast) add_columns(r, j, sums + j);
  if (rare) settle_specials(with_values(r), HUGE_VAL, 0, r.terms.count, N, before, sums);
  if ((r.a.scale_is_nan | r.b.scale_is_nan) == 0) return;
  for (unsigned j = 0; j < N; ++j)
    if (scale_is_nan(r, j)) sums[j] = std::numeric_limits<float>::quiet_NaN();
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
    return wave.fail_at(op, {.kind = FaultKind::Illegal,
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
