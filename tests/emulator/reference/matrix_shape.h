// What a matrix instruction's name says, and where the elements of its matrices are (layout equations of the
// matrix instruction calculator).
#pragma once

#include "emulator/reference/matrix_sum.h"
#include "emulator/reference/state.h"

#include <optional>
#include <utility>

namespace asmevo::reference {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  MatrixFormat a, b;
};
/// "v_mfma_f32_32x32x4_2b_f16", "v_mfma_f32_32x32x4bf16_1k", "v_smfmac_f32_16x16x64_fp8_bf8",
/// "v_mfma_scale_f32_32x32x64_f8f6f4" (whose formats the name does not say).
std::optional<MatrixShape> matrix_shape(const isa::Instruction&, const isa::Target&);

/// Item `item` of `bits` of a lane, in registers from `unit` on.
uint64_t item_of(const State&, isa::RegUnit unit, unsigned lane, unsigned item, unsigned bits);
/// Register, in units of a result, and lane of an element of C and D.
std::pair<unsigned, unsigned> result_place(const MatrixShape&, unsigned block, unsigned row, unsigned column);

} // namespace asmevo::reference
