// Costs of instructions against what AMD gives as peak rates, and against published traces.
#include "isa/codec.h"
#include "timing/instruction_cost.h"

#include <gtest/gtest.h>

namespace asmevo::timing {
namespace {

InstructionCost cost_of(const std::string& text, const std::string& machine = "mi300x") {
  const auto model = MachineModel::find(machine);
  EXPECT_TRUE(model) << model.error().message;
  auto codec = isa::Codec::create(model->target());
  const auto parsed = (*codec)->parse(text);
  EXPECT_TRUE(parsed) << text;
  return instruction_cost(*parsed->front().instruction, model->target(), model->nominal());
}

// Multiplications and additions of a compute unit in a clock, dense: AMD's peak tables for CDNA 3 and CDNA 4.
struct Rate {
  const char* machine;
  const char* text;
  unsigned m, n, k, blocks, flops;
};

TEST(InstructionCost, MatrixRatesAreAmdsPeaks) {
  for (const Rate& r : {
           Rate{"mi300x", "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 8, 1, 2048},
           Rate{"mi300x", "v_mfma_f32_16x16x16_f16 v[0:3], v[16:17], v[18:19], v[0:3]", 16, 16, 16, 1, 2048},
           Rate{"mi300x", "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 8, 1, 2048},
           Rate{"mi300x", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 16, 1,
                4096},
           Rate{"mi300x", "v_mfma_f32_16x16x32_bf8_fp8 v[0:3], v[16:17], v[18:19], v[0:3]", 16, 16, 32, 1,
                4096},
           Rate{"mi300x", "v_mfma_i32_32x32x16_i8 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 16, 1, 4096},
           Rate{"mi300x", "v_mfma_f32_32x32x4_xf32 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 4, 1, 1024},
           Rate{"mi300x", "v_mfma_f32_32x32x2_f32 v[0:15], v16, v18, v[0:15]", 32, 32, 2, 1, 256},
           Rate{"mi300x", "v_mfma_f32_16x16x4_f32 v[0:3], v16, v18, v[0:3]", 16, 16, 4, 1, 256},
           Rate{"mi300x", "v_mfma_f64_16x16x4_f64 v[0:7], v[16:17], v[18:19], v[0:7]", 16, 16, 4, 1, 256},
           Rate{"mi355x", "v_mfma_f32_32x32x16_f16 v[0:15], v[16:19], v[20:23], v[0:15]", 32, 32, 16, 1,
                4096},
           Rate{"mi355x", "v_mfma_f32_16x16x32_bf16 v[0:3], v[16:19], v[20:23], v[0:3]", 16, 16, 32, 1, 4096},
           Rate{"mi355x", "v_mfma_i32_32x32x32_i8 v[0:15], v[16:19], v[20:23], v[0:15]", 32, 32, 32, 1, 8192},
           Rate{"mi355x", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[16:23], v[24:31], v[0:3]", 16, 16, 128, 1,
                8192},
           Rate{"mi355x", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[16:19], v[24:27], v[0:3] cbsz:4 blgp:4", 16,
                16, 128, 1, 16384},
           Rate{"mi210", "v_mfma_f32_32x32x8f16 v[0:15], v[16:17], v[18:19], v[0:15]", 32, 32, 8, 1, 1024},
           Rate{"mi210", "v_mfma_f64_16x16x4f64 v[0:7], v[16:17], v[18:19], v[0:7]", 16, 16, 4, 1, 256},
       }) {
    const InstructionCost cost = cost_of(r.text, r.machine);
    EXPECT_EQ(cost.pipe, Pipe::Matrix) << r.text;
    const double flops = 2.0 * r.m * r.n * r.k * r.blocks * 4 / cost.issue; // on four SIMDs
    EXPECT_EQ(flops, r.flops) << r.machine << " " << r.text;
  }
}

TEST(InstructionCost, VectorRates) {
  EXPECT_EQ(cost_of("v_add_f32_e32 v0, v1, v2").issue, 4);
  EXPECT_EQ(cost_of("v_add_f32_e32 v0, v1, v2").latency, 4);
  EXPECT_EQ(cost_of("v_exp_f32_e32 v0, v1").issue, 16);
  EXPECT_EQ(cost_of("v_rcp_f32_e32 v0, v1").issue, 16);
  EXPECT_EQ(cost_of("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]").issue, 4);
  EXPECT_EQ(cost_of("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]").issue, 4);
  EXPECT_EQ(cost_of("v_mul_lo_u32 v0, v1, v2").issue, 16);
  EXPECT_EQ(cost_of("v_mul_u32_u24_e32 v0, v1, v2").issue, 4);
}

// Published thread traces, in slots of four cycles.
TEST(InstructionCost, WhatIssuesBesideMatrixInstructions) {
  const InstructionCost f16 = cost_of("v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]");
  EXPECT_EQ(f16.to_valu, 4);
  EXPECT_EQ(f16.to_packed_valu, 4 * 10);
  EXPECT_EQ(f16.latency, 4 * 11);
  EXPECT_EQ(f16.to_accumulator, 4 * 8);
  EXPECT_EQ(cost_of("v_mfma_f32_32x32x16_f16 v[0:15], v[16:19], v[20:23], v[0:15]", "mi355x").to_valu, 8);
  const InstructionCost f32 = cost_of("v_mfma_f32_32x32x2_f32 v[0:15], v16, v18, v[0:15]");
  EXPECT_EQ(f32.to_valu, 4 * 18);
  EXPECT_EQ(f32.latency, 4 * 18);
  EXPECT_EQ(cost_of("v_smfmac_f32_16x16x32_f16 v[0:3], v[16:17], v[20:23], v24").to_valu, 12);
}

TEST(InstructionCost, Units) {
  EXPECT_EQ(cost_of("s_add_u32 s0, s1, s2").pipe, Pipe::Salu);
  EXPECT_EQ(cost_of("s_load_dword s0, s[2:3], 0x0").pipe, Pipe::Smem);
  EXPECT_EQ(cost_of("global_load_dword v0, v[2:3], off").pipe, Pipe::Vmem);
  EXPECT_EQ(cost_of("flat_load_dword v0, v[2:3]").pipe, Pipe::Vmem);
  EXPECT_EQ(cost_of("ds_read_b32 v0, v1").pipe, Pipe::Lds);
  EXPECT_EQ(cost_of("s_waitcnt vmcnt(0)").pipe, Pipe::Internal);
  EXPECT_EQ(cost_of("s_nop 3").issue, 16);
}

} // namespace
} // namespace asmevo::timing
