// v_mfma_f32_*_f8f6f4 and v_mfma_scale_* (gfx950): factors of 8, 6 or 4 bits, each in a format of its own,
// and one scale (a power of two) for each 32 consecutive k of a row of A or a column of B.
//
// No measurement of how gfx950 rounds these is public. Here D is the exact value of C + sum(a*b*scales)
// rounded once.
#pragma once

#include "emulator/micro_op.h"

namespace asmevo::emulator {

/// v_mfma_f32_*_f8f6f4: all scales 1.
void mixed_mfma_16x16x128(Wave&, const MicroOp&);
void mixed_mfma_32x32x64(Wave&, const MicroOp&);
/// v_mfma_scale_*
void scaled_mfma_16x16x128(Wave&, const MicroOp&);
void scaled_mfma_32x32x64(Wave&, const MicroOp&);

} // namespace asmevo::emulator
