// Matrix instructions with a sparse A: v_smfmac_*, D += A*B. Of every four consecutive k of a row of A two at
// most are not zero; A holds only those (it is laid out like a dense M x K/2 matrix), and SRC2 says which
// they are: two bits an item, in the lane that holds the item, item t's at bit 2t of the index set that ABID
// chooses. CDNA3 ISA 7.4, CDNA4 ISA 7.5, AMD's matrix instruction calculator.
#include "emulator/families/matrix_exact.h"
#include "emulator/families/matrix_operands.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

// gfx950's wide forms take eight registers of B and lay k out as f8f6f4 does.
constexpr MatrixShape sparse_shape(unsigned m, unsigned k, KOrder order_b) {
  return {m, m, k, 1, KOrder::Consecutive, order_b};
}

constexpr FactorLayout compressed_a(const MatrixShape& s) {
  return {s.m, s.k / 2, 1, KOrder::Consecutive};
}

// Where in an index register the chosen set starts. With CBSZ != 0, ABID means nothing and set 0 counts.
unsigned index_bit(unsigned items, const isa::Modifiers& m) {
  const unsigned bits = 2 * items, sets = 32 / bits;
  return m.cbsz == 0 ? (m.abid & (sets - 1)) * bits : 0;
}

// B elements that never meet an A element are not multiplied: Inf and NaN in them leave no trace.
template <MatrixShape S, class Arithmetic>
void smfmac(Wave& wave, const MicroOp& op) {
  constexpr FactorLayout layout_a = compressed_a(S), layout_b = layout_of_b(S);
  const MxcsrScope scope(Arithmetic::csr);
  const MatrixMode mode = matrix_mode(wave);
  typename Arithmetic::Operand a, b;
  Arithmetic::load(a, mode, wave.vectors + op.source[0].index, layout_a.items(), 0);
  Arithmetic::load(b, mode, wave.vectors + op.source[1].index, layout_b.items(), 1);
  Accumulators<typename Arithmetic::Result, S> sums;
  sums.load(wave, op.result);

  const Row& indices = wave.vectors[op.source[2].index];
  const unsigned set = index_bit(layout_a.items(), op.mods());
  for (unsigned row = 0; row < S.m; ++row) {
    uint16_t places_b[layout_a.k];
    for (unsigned k = 0; k < layout_a.k; ++k) {
      const unsigned at = element_places<layout_a>[k] + row, item = at / lanes;
      const unsigned in_four = indices.lane[at % lanes] >> (set + 2 * item) & 3;
      places_b[k] = element_places<layout_b>[k / 2 * 4 + in_four];
    }
    const Terms terms{element_places<layout_a>.data(), places_b, layout_a.k};
    Arithmetic::template add_row<S.n>({a, b, row, 0, terms, mode.saturate}, sums.row(0, row));
  }
  sums.store(wave, op.result);
}

template <unsigned M, unsigned K, class Arithmetic>
constexpr Handler narrow = smfmac<sparse_shape(M, K, KOrder::Consecutive), Arithmetic>;
template <unsigned M, unsigned K, class Arithmetic>
constexpr Handler wide = smfmac<sparse_shape(M, K, KOrder::Halves), Arithmetic>;

// How the hardware adds these up is not known, nor is it in MMA-Sim.
template <class Format>
using Float16 = ExactSum<Format, Format>;
template <class FormatA, class FormatB>
using Float8 = ExactSum<FormatA, FormatB>;

constexpr OpcodeRow rows[] = {
    {"v_smfmac_f32_32x32x16_f16", narrow<32, 16, Float16<F16>>},
    {"v_smfmac_f32_16x16x32_f16", narrow<16, 32, Float16<F16>>},
    {"v_smfmac_f32_32x32x16_bf16", narrow<32, 16, Float16<Bf16>>},
    {"v_smfmac_f32_16x16x32_bf16", narrow<16, 32, Float16<Bf16>>},
    {"v_smfmac_f32_32x32x32_fp8_fp8", narrow<32, 32, Float8<Fp8, Fp8>>},
    {"v_smfmac_f32_32x32x32_fp8_bf8", narrow<32, 32, Float8<Fp8, Bf8>>},
    {"v_smfmac_f32_32x32x32_bf8_fp8", narrow<32, 32, Float8<Bf8, Fp8>>},
    {"v_smfmac_f32_32x32x32_bf8_bf8", narrow<32, 32, Float8<Bf8, Bf8>>},
    {"v_smfmac_f32_16x16x64_fp8_fp8", narrow<16, 64, Float8<Fp8, Fp8>>},
    {"v_smfmac_f32_16x16x64_fp8_bf8", narrow<16, 64, Float8<Fp8, Bf8>>},
    {"v_smfmac_f32_16x16x64_bf8_fp8", narrow<16, 64, Float8<Bf8, Fp8>>},
    {"v_smfmac_f32_16x16x64_bf8_bf8", narrow<16, 64, Float8<Bf8, Bf8>>},
    {"v_smfmac_i32_32x32x32_i8", narrow<32, 32, IntegerSum>},
    {"v_smfmac_i32_16x16x64_i8", narrow<16, 64, IntegerSum>},

    {"v_smfmac_f32_32x32x32_f16", wide<32, 32, Float16<F16>>},
    {"v_smfmac_f32_16x16x64_f16", wide<16, 64, Float16<F16>>},
    {"v_smfmac_f32_32x32x32_bf16", wide<32, 32, Float16<Bf16>>},
    {"v_smfmac_f32_16x16x64_bf16", wide<16, 64, Float16<Bf16>>},
    {"v_smfmac_f32_32x32x64_fp8_fp8", wide<32, 64, Float8<Fp8, Fp8>>},
    {"v_smfmac_f32_32x32x64_fp8_bf8", wide<32, 64, Float8<Fp8, Bf8>>},
    {"v_smfmac_f32_32x32x64_bf8_fp8", wide<32, 64, Float8<Bf8, Fp8>>},
    {"v_smfmac_f32_32x32x64_bf8_bf8", wide<32, 64, Float8<Bf8, Bf8>>},
    {"v_smfmac_f32_16x16x128_fp8_fp8", wide<16, 128, Float8<Fp8, Fp8>>},
    {"v_smfmac_f32_16x16x128_fp8_bf8", wide<16, 128, Float8<Fp8, Bf8>>},
    {"v_smfmac_f32_16x16x128_bf8_fp8", wide<16, 128, Float8<Bf8, Fp8>>},
    {"v_smfmac_f32_16x16x128_bf8_bf8", wide<16, 128, Float8<Bf8, Bf8>>},
    {"v_smfmac_i32_32x32x64_i8", wide<32, 64, IntegerSum>},
    {"v_smfmac_i32_16x16x128_i8", wide<16, 128, IntegerSum>},
};

} // namespace

OpcodeRows sparse_matrix_rows() {
  return rows;
}

} // namespace asmevo::emulator
