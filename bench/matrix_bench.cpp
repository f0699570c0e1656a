// One matrix instruction on random operands: time a call of its handler.
#include "one_instruction.h"

using asmevo::bench::run_instruction;

INSTRUCTION("gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[66:67], v[16:19]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[16:19]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_32x32x8_bf16 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[64:65], v[66:67], v[16:19]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_32x32x4_xf32 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_32x32x2_f32 v[0:15], v64, v66, v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f32_16x16x4_f32 v[0:3], v64, v66, v[16:19]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], v[16:23]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_i32_32x32x16_i8 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
INSTRUCTION("gfx942", "v_mfma_i32_16x16x32_i8 v[0:3], v[64:65], v[66:67], v[16:19]", kMicrosecond);
INSTRUCTION("gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[64:65], v[66:69], v80", kMicrosecond);
INSTRUCTION("gfx950", "v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[16:19]", kMicrosecond);
INSTRUCTION("gfx950", "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[16:31]", kMicrosecond);
INSTRUCTION("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[72:79], v[16:19]", kMicrosecond);
INSTRUCTION("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[72:79], v[16:19] cbsz:1 blgp:1",
            kMicrosecond);
INSTRUCTION("gfx950", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[64:67], v[68:71], v[16:31] cbsz:4 blgp:4",
            kMicrosecond);
INSTRUCTION("gfx90a", "v_mfma_f32_32x32x8f16 v[0:15], v[64:65], v[66:67], v[16:31]", kMicrosecond);
