#include "infer/shadow.h"
#include "infer/value_types.h"

#include <gtest/gtest.h>

namespace asmevo::infer {
namespace {

using enum ValueType;

ValueUse use_of(std::string_view mnemonic, const isa::Modifiers& mods = {}) {
  isa::Instruction i;
  i.family = isa::Family::Vop3;
  i.base_mnemonic = mnemonic;
  i.mods = mods;
  return value_use(i);
}

TEST(ValueTypes, MatrixInstructions) {
  struct Row {
    std::string_view mnemonic;
    ValueType a, b, d;
  };
  for (const Row& row :
       {Row{"v_mfma_f32_32x32x8_f16", F16, F16, F32}, Row{"v_mfma_f32_32x32x4bf16_1k", Bf16, Bf16, F32},
        Row{"v_mfma_f32_16x16x32_bf8_fp8", Bf8, Fp8, F32}, Row{"v_mfma_i32_16x16x16i8", I8, I8, I32},
        Row{"v_mfma_f32_16x16x1_4b_f32", F32, F32, F32}, Row{"v_mfma_f64_16x16x4f64", F64, F64, F64},
        Row{"v_smfmac_f32_32x32x16_bf16", Bf16, Bf16, F32}, Row{"v_mfma_f32_16x16x8_xf32", F32, F32, F32}}) {
    const ValueUse use = use_of(row.mnemonic);
    EXPECT_EQ(use.source[0], row.a) << row.mnemonic;
    EXPECT_EQ(use.source[1], row.b) << row.mnemonic;
    EXPECT_EQ(use.source[2], row.d) << row.mnemonic;
    EXPECT_EQ(use.result, row.d) << row.mnemonic;
  }
  isa::Modifiers mods;
  mods.cbsz = 4;
  mods.blgp = 2;
  const ValueUse scaled = use_of("v_mfma_scale_f32_16x16x128_f8f6f4", mods);
  EXPECT_EQ(scaled.source[0], Fp4);
  EXPECT_EQ(scaled.source[1], Fp6);
}

TEST(ValueTypes, ConversionsAndArithmetic) {
  EXPECT_EQ(use_of("v_cvt_f32_f16").source[0], F16);
  EXPECT_EQ(use_of("v_cvt_f32_f16").result, F32);
  EXPECT_EQ(use_of("v_cvt_f32_ubyte2").source[0], U8);
  EXPECT_EQ(use_of("v_cvt_pkrtz_f16_f32").source[1], F32);
  EXPECT_EQ(use_of("v_cvt_sr_fp8_f32").source[1], None) << "random bits";
  EXPECT_EQ(use_of("v_dot2_f32_f16").source[1], F16);
  EXPECT_EQ(use_of("v_dot2_f32_f16").source[2], F32);
  EXPECT_EQ(use_of("v_pk_fma_f32").source[2], F32);
  EXPECT_EQ(use_of("v_ldexp_f32").source[1], None);
  EXPECT_EQ(use_of("v_cmp_class_f32").source[0], F32);
  EXPECT_EQ(use_of("v_mad_u64_u32").source[0], U32);
  EXPECT_EQ(use_of("v_mad_u64_u32").source[2], U64);
  isa::Modifiers mods;
  mods.op_sel_hi = 0b101;
  EXPECT_EQ(use_of("v_fma_mix_f32", mods).source[0], F16);
  EXPECT_EQ(use_of("v_fma_mix_f32", mods).source[1], F32);
}

TEST(ValueTypes, WhatMovesBitsSaysNothing) {
  for (const std::string_view m :
       {"v_mov_b32", "s_cselect_b64", "v_cndmask_b32", "v_accvgpr_read_b32", "v_readlane_b32"})
    EXPECT_EQ(use_of(m).operation, Operation::Move) << m;
  for (const std::string_view m : {"v_perm_b32", "v_and_or_b32", "s_lshr_b32", "v_bfe_u32", "v_alignbit_b32"})
    EXPECT_EQ(use_of(m).operation, Operation::Bits) << m;
  for (const std::string_view m : {"v_add3_u32", "s_addc_u32", "v_lshl_add_u64", "v_subrev_u32"})
    EXPECT_EQ(use_of(m).operation, Operation::Add) << m;
  EXPECT_EQ(use_of("v_add_f32").operation, Operation::Compute);
}

TEST(Shadow, SetsAreTheSameWhereTheirMembersAre) {
  SourceSets sets;
  const SourceSet a = sets.of(1), b = sets.of(2), c = sets.of(3);
  EXPECT_EQ(sets.unite(a, sets.unite(b, c)), sets.unite(sets.unite(c, a), b));
  EXPECT_EQ(sets.unite(a, 0), a);
  EXPECT_TRUE(sets.has(sets.unite(a, c), 3));
  EXPECT_FALSE(sets.has(sets.unite(a, c), 2));
}

// A register that one branch wrote and another reads has two contents; each lane's own counts.
TEST(Shadow, LanesHaveTheirOwn) {
  SourceSets sets;
  Shadow first, second;
  first.raw = sets.of(1);
  second.raw = sets.of(2);
  LaneShadow reg;
  reg.write(sets, first, ~uint64_t{0});
  reg.write(sets, second, 0xff);
  EXPECT_EQ(reg.read(sets, 0x0f), second);
  EXPECT_EQ(reg.read(sets, 0xf00), first);
  EXPECT_EQ(reg.read(sets, 0xf0f).raw, sets.unite(first.raw, second.raw));
  reg.write(sets, second, ~uint64_t{0});
  EXPECT_EQ(reg.read(sets, ~uint64_t{0}), second);
}

} // namespace
} // namespace asmevo::infer
