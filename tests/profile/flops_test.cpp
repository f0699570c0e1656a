// Operations counted from mnemonics, against what data sheets say of each.
#include "isa/codec.h"
#include "profile/flops.h"

#include <gtest/gtest.h>

namespace asmevo::profile {
namespace {

Flops of(const std::string& text, const std::string& gpu = "gfx942") {
  static std::vector<std::unique_ptr<isa::Codec>> codecs;
  codecs.push_back(*isa::Codec::create(*isa::Target::from_id(gpu)));
  const auto lines = codecs.back()->parse(text);
  EXPECT_TRUE(lines) << text;
  return lines && !lines->empty() ? flops_of(*lines->front().instruction) : Flops{};
}

TEST(Flops, VectorArithmetic) {
  EXPECT_EQ(of("v_add_f32 v0, v1, v2").flops, 64);
  EXPECT_EQ(of("v_mul_f64 v[0:1], v[2:3], v[4:5]").flops, 64);
  EXPECT_EQ(of("v_fma_f32 v0, v1, v2, v3").flops, 128);
  EXPECT_EQ(of("v_fmac_f32 v0, v1, v2").flops, 128);
  EXPECT_EQ(of("v_fmamk_f32 v0, v1, 0x40490fdb, v2").flops, 128);
  EXPECT_EQ(of("v_pk_add_f16 v0, v1, v2").flops, 128);
  EXPECT_EQ(of("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]").flops, 256);
  EXPECT_EQ(of("v_fma_mix_f32 v0, v1, v2, v3").flops, 128);
  EXPECT_EQ(of("v_dot2_f32_f16 v0, v1, v2, v3").flops, 256);
  EXPECT_EQ(of("v_exp_f32 v0, v1").flops, 64);
  EXPECT_EQ(of("v_rcp_f64 v[0:1], v[2:3]").flops, 64);
  EXPECT_FALSE(of("v_add_f32 v0, v1, v2").matrix);
}

TEST(Flops, WhatIsNoArithmeticOnFloats) {
  for (const char* text :
       {"v_mov_b32 v0, v1", "v_add_u32 v0, v1, v2", "v_mul_lo_u32 v0, v1, v2", "v_cvt_f32_i32 v0, v1",
        "v_max_f32 v0, v1, v2", "v_cmp_lt_f32 vcc, v0, v1", "v_dot4_i32_i8 v0, v1, v2, v3",
        "v_pk_mov_b32 v[0:1], v[2:3], v[4:5]", "s_add_u32 s0, s1, s2", "ds_add_f32 v0, v1",
        "global_load_dword v0, v[2:3], off", "v_div_fixup_f32 v0, v1, v2, v3"})
    EXPECT_EQ(of(text).flops, 0) << text;
}

TEST(Flops, MatrixInstructions) {
  const Flops plain = of("v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]");
  EXPECT_TRUE(plain.matrix);
  EXPECT_EQ(plain.flops, 2 * 32 * 32 * 8);
  EXPECT_EQ(of("v_mfma_f32_16x16x16_bf16 v[0:3], v[16:17], v[18:19], v[0:3]").flops, 2 * 16 * 16 * 16);
  EXPECT_EQ(of("v_mfma_f64_16x16x4_f64 v[0:7], v[16:17], v[18:19], v[0:7]").flops, 2 * 16 * 16 * 4);
  EXPECT_EQ(of("v_smfmac_f32_16x16x32_f16 v[0:3], v[16:17], v[18:21], v22").flops, 2 * 16 * 16 * 32);
  const Flops integers = of("v_mfma_i32_16x16x32_i8 v[0:3], v[16:17], v[18:19], v[0:3]");
  EXPECT_EQ(integers.flops, 0);
  EXPECT_EQ(integers.integer_ops, 2 * 16 * 16 * 32);
}

// Several products in one: gfx90a's names do not say how many.
TEST(Flops, MatrixBlocks) {
  EXPECT_EQ(of("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[16:17], v[18:19], v[0:3]").flops, 16 * 2 * 4 * 4 * 4);
  EXPECT_EQ(of("v_mfma_f32_32x32x1_2b_f32 v[0:31], v40, v41, v[0:31]").flops, 2 * 2 * 32 * 32);
  EXPECT_EQ(of("v_mfma_f32_32x32x1f32 a[0:31], v40, v41, a[0:31]", "gfx90a").flops, 2 * 2 * 32 * 32);
  EXPECT_EQ(of("v_mfma_f32_16x16x4f32 a[0:3], v40, v41, a[0:3]", "gfx90a").flops, 2 * 16 * 16 * 4);
  EXPECT_EQ(of("v_mfma_f64_4x4x4f64 a[0:1], v[40:41], v[42:43], a[0:1]", "gfx90a").flops, 4 * 2 * 4 * 4 * 4);
}

} // namespace
} // namespace asmevo::profile
