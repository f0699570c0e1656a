// Dense matrix instructions: v_mfma_*. A row says the shape (M, N, K, blocks) and how products are added up
// (matrix_arithmetic.h); where elements are is in matrix_layout.h. EXEC is ignored: all lanes take part and
// are written.
#include "emulator/families/matrix_aligned.h"
#include "emulator/families/matrix_operands.h"
#include "emulator/families/matrix_scaled.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

template <MatrixShape S, class Arithmetic>
void mfma(Wave& wave, const MicroOp& op) {
  constexpr FactorLayout layout_a = layout_of_a(S), layout_b = layout_of_b(S);
  constexpr bool is_f64 = std::is_same_v<typename Arithmetic::Result, double>;
  const MxcsrScope scope(Arithmetic::csr);
  const isa::Modifiers& m = op.mods();
  MatrixMode mode = matrix_mode(wave);
  if (is_f64) mode.negate = m.blgp; // and CBSZ means nothing

  const Row* rows_a = wave.vectors + op.source[0].index;
  const Row* rows_b = wave.vectors + op.source[1].index;
  MappedRows mapped_a, mapped_b;
  if (!is_f64 && m.cbsz != 0)
    rows_a = mapped_a.map(rows_a, op.source[0].dwords, broadcast_map(layout_a, m.cbsz, m.abid));
  if (!is_f64 && m.blgp != 0) rows_b = mapped_b.map(rows_b, op.source[1].dwords, group_map(m.blgp));

  typename Arithmetic::Operand a, b;
  Arithmetic::load(a, mode, rows_a, layout_a.items(), 0);
  Arithmetic::load(b, mode, rows_b, layout_b.items(), 1);
  Accumulators<typename Arithmetic::Result, S> sums;
  sums.load(wave, op.source[2]);
  if (is_f64 && (mode.negate & 4) != 0) sums.negate();

  const Terms terms{element_places<layout_a>.data(), element_places<layout_b>.data(), S.k};
  for (unsigned block = 0; block < S.blocks; ++block)
    for (unsigned row = 0; row < S.m; ++row)
      Arithmetic::template add_row<S.n>({a, b, block * S.m + row, block * S.n, terms, mode.saturate},
                                        sums.row(block, row));
  sums.store(wave, op.result);
}

constexpr MatrixShape shape(unsigned m, unsigned k, unsigned blocks = 1) {
  return {m, m, k, blocks};
}

using Float32 = FusedChain<float>;
using Float64 = FusedChain<double>;
// Groups of products: MMA-Sim for gfx942. gfx950's K = 16 and 32 forms are assumed to be made of the same
// groups.
template <class Format, unsigned Group = 8>
using Float16 = AlignedSums<Format, Format, Group>;
template <class FormatA, class FormatB>
using Float8 = AlignedSums<FormatA, FormatB, 16, true>;

constexpr OpcodeRow rows[] = {
    {"v_mfma_f64_16x16x4_f64", mfma<shape(16, 4), Float64>},
    {"v_mfma_f64_4x4x4_4b_f64", mfma<shape(4, 4, 4), Float64>},
    {"v_mfma_f32_32x32x1_2b_f32", mfma<shape(32, 1, 2), Float32>},
    {"v_mfma_f32_16x16x1_4b_f32", mfma<shape(16, 1, 4), Float32>},
    {"v_mfma_f32_4x4x1_16b_f32", mfma<shape(4, 1, 16), Float32>},
    {"v_mfma_f32_32x32x2_f32", mfma<shape(32, 2), Float32>},
    {"v_mfma_f32_16x16x4_f32", mfma<shape(16, 4), Float32>},
    {"v_mfma_f32_32x32x4_xf32", mfma<shape(32, 4), Float16<Xf32, 4>>},
    {"v_mfma_f32_16x16x8_xf32", mfma<shape(16, 8), Float16<Xf32, 4>>},

    {"v_mfma_f32_32x32x4_2b_f16", mfma<shape(32, 4, 2), Float16<F16, 4>>},
    {"v_mfma_f32_16x16x4_4b_f16", mfma<shape(16, 4, 4), Float16<F16, 4>>},
    {"v_mfma_f32_4x4x4_16b_f16", mfma<shape(4, 4, 16), Float16<F16, 4>>},
    {"v_mfma_f32_32x32x8_f16", mfma<shape(32, 8), Float16<F16>>},
    {"v_mfma_f32_16x16x16_f16", mfma<shape(16, 16), Float16<F16>>},
    {"v_mfma_f32_32x32x16_f16", mfma<shape(32, 16), Float16<F16>>},
    {"v_mfma_f32_16x16x32_f16", mfma<shape(16, 32), Float16<F16>>},
    {"v_mfma_f32_32x32x4_2b_bf16", mfma<shape(32, 4, 2), Float16<Bf16, 4>>},
    {"v_mfma_f32_16x16x4_4b_bf16", mfma<shape(16, 4, 4), Float16<Bf16, 4>>},
    {"v_mfma_f32_4x4x4_16b_bf16", mfma<shape(4, 4, 16), Float16<Bf16, 4>>},
    {"v_mfma_f32_32x32x8_bf16", mfma<shape(32, 8), Float16<Bf16>>},
    {"v_mfma_f32_16x16x16_bf16", mfma<shape(16, 16), Float16<Bf16>>},
    {"v_mfma_f32_32x32x16_bf16", mfma<shape(32, 16), Float16<Bf16>>},
    {"v_mfma_f32_16x16x32_bf16", mfma<shape(16, 32), Float16<Bf16>>},

    {"v_mfma_f32_32x32x16_fp8_fp8", mfma<shape(32, 16), Float8<Fp8, Fp8>>},
    {"v_mfma_f32_32x32x16_fp8_bf8", mfma<shape(32, 16), Float8<Fp8, Bf8>>},
    {"v_mfma_f32_32x32x16_bf8_fp8", mfma<shape(32, 16), Float8<Bf8, Fp8>>},
    {"v_mfma_f32_32x32x16_bf8_bf8", mfma<shape(32, 16), Float8<Bf8, Bf8>>},
    {"v_mfma_f32_16x16x32_fp8_fp8", mfma<shape(16, 32), Float8<Fp8, Fp8>>},
    {"v_mfma_f32_16x16x32_fp8_bf8", mfma<shape(16, 32), Float8<Fp8, Bf8>>},
    {"v_mfma_f32_16x16x32_bf8_fp8", mfma<shape(16, 32), Float8<Bf8, Fp8>>},
    {"v_mfma_f32_16x16x32_bf8_bf8", mfma<shape(16, 32), Float8<Bf8, Bf8>>},
    {"v_mfma_f32_32x32x64_f8f6f4", mixed_mfma_32x32x64},
    {"v_mfma_f32_16x16x128_f8f6f4", mixed_mfma_16x16x128},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", scaled_mfma_32x32x64},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", scaled_mfma_16x16x128},

    {"v_mfma_i32_32x32x4_2b_i8", mfma<shape(32, 4, 2), IntegerSum>},
    {"v_mfma_i32_16x16x4_4b_i8", mfma<shape(16, 4, 4), IntegerSum>},
    {"v_mfma_i32_4x4x4_16b_i8", mfma<shape(4, 4, 16), IntegerSum>},
    {"v_mfma_i32_32x32x16_i8", mfma<shape(32, 16), IntegerSum>},
    {"v_mfma_i32_16x16x32_i8", mfma<shape(16, 32), IntegerSum>},
    {"v_mfma_i32_32x32x32_i8", mfma<shape(32, 32), IntegerSum>},
    {"v_mfma_i32_16x16x64_i8", mfma<shape(16, 64), IntegerSum>},

    // gfx90a's spellings, without a count of blocks
    {"v_mfma_f64_16x16x4f64", mfma<shape(16, 4), Float64>},
    {"v_mfma_f64_4x4x4f64", mfma<shape(4, 4, 4), Float64>},
    {"v_mfma_f32_32x32x1f32", mfma<shape(32, 1, 2), Float32>},
    {"v_mfma_f32_16x16x1f32", mfma<shape(16, 1, 4), Float32>},
    {"v_mfma_f32_4x4x1f32", mfma<shape(4, 1, 16), Float32>},
    {"v_mfma_f32_32x32x2f32", mfma<shape(32, 2), Float32>},
    {"v_mfma_f32_16x16x4f32", mfma<shape(16, 4), Float32>},
    {"v_mfma_f32_32x32x4f16", mfma<shape(32, 4, 2), Pairwise<F16, 4>>},
    {"v_mfma_f32_16x16x4f16", mfma<shape(16, 4, 4), Pairwise<F16, 4>>},
    {"v_mfma_f32_4x4x4f16", mfma<shape(4, 4, 16), Pairwise<F16, 4>>},
    {"v_mfma_f32_32x32x8f16", mfma<shape(32, 8), Pairwise<F16, 4>>},
    {"v_mfma_f32_16x16x16f16", mfma<shape(16, 16), Pairwise<F16, 4>>},
    {"v_mfma_f32_32x32x2bf16", mfma<shape(32, 2, 2), Pairwise<Bf16, 2>>},
    {"v_mfma_f32_16x16x2bf16", mfma<shape(16, 2, 4), Pairwise<Bf16, 2>>},
    {"v_mfma_f32_4x4x2bf16", mfma<shape(4, 2, 16), Pairwise<Bf16, 2>>},
    {"v_mfma_f32_32x32x4bf16", mfma<shape(32, 4), Pairwise<Bf16, 2>>},
    {"v_mfma_f32_16x16x8bf16", mfma<shape(16, 8), Pairwise<Bf16, 2>>},
    {"v_mfma_f32_32x32x4bf16_1k", mfma<shape(32, 4, 2), Pairwise<Bf16, 4>>},
    {"v_mfma_f32_16x16x4bf16_1k", mfma<shape(16, 4, 4), Pairwise<Bf16, 4>>},
    {"v_mfma_f32_4x4x4bf16_1k", mfma<shape(4, 4, 16), Pairwise<Bf16, 4>>},
    {"v_mfma_f32_32x32x8bf16_1k", mfma<shape(32, 8), Pairwise<Bf16, 4>>},
    {"v_mfma_f32_16x16x16bf16_1k", mfma<shape(16, 16), Pairwise<Bf16, 4>>},
    {"v_mfma_i32_32x32x4i8", mfma<shape(32, 4, 2), IntegerSum>},
    {"v_mfma_i32_16x16x4i8", mfma<shape(16, 4, 4), IntegerSum>},
    {"v_mfma_i32_4x4x4i8", mfma<shape(4, 4, 16), IntegerSum>},
    {"v_mfma_i32_32x32x8i8", mfma<shape(32, 8), IntegerSum>},
    {"v_mfma_i32_16x16x16i8", mfma<shape(16, 16), IntegerSum>},
};

} // namespace

OpcodeRows matrix_rows() {
  return rows;
}

} // namespace asmevo::emulator
