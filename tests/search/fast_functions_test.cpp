#include "rule_bench.h"
#include "search/observed_function.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::around;
using testing::Assembled;
using testing::check_on_floats;
using ::testing::HasSubstr;
using ::testing::Not;

// v8 = f(v4), as clang 22 and ROCm's device libraries have it.
const std::string exp_of_clang = R"(
  s_mov_b32 s2, 0x3fb8aa3b
  s_mov_b32 s3, 0x42b17218
  v_mul_f32_e32 v12, 0x3fb8aa3b, v4
  v_fma_f32 v13, v4, s2, -v12
  v_rndne_f32_e32 v14, v12
  v_fmamk_f32 v13, v4, 0x32a5705f, v13
  v_sub_f32_e32 v12, v12, v14
  v_add_f32_e32 v12, v12, v13
  v_cvt_i32_f32_e32 v14, v14
  v_exp_f32_e32 v12, v12
  s_mov_b32 s2, 0xc2ce8ed0
  v_cmp_ngt_f32_e32 vcc, s2, v4
  v_mov_b32_e32 v13, 0x7f800000
  v_ldexp_f32 v12, v12, v14
  v_cndmask_b32_e32 v12, 0, v12, vcc
  v_cmp_nlt_f32_e32 vcc, s3, v4
  s_nop 1
  v_cndmask_b32_e32 v8, v13, v12, vcc
)";
const std::string exp2_of_clang = R"(
  s_mov_b32 s2, 0xc2fc0000
  v_mov_b32_e32 v13, 0x42800000
  v_cmp_gt_f32_e32 vcc, s2, v4
  s_nop 1
  v_cndmask_b32_e32 v12, 0, v13, vcc
  v_add_f32_e32 v12, v4, v12
  v_exp_f32_e32 v12, v12
  v_not_b32_e32 v13, 63
  v_cndmask_b32_e32 v13, 0, v13, vcc
  v_ldexp_f32 v8, v12, v13
)";
const std::string log_of_clang = R"(
  s_mov_b32 s2, 0x800000
  s_mov_b32 s3, 0x7f800000
  v_cmp_gt_f32_e32 vcc, s2, v4
  s_nop 1
  v_cndmask_b32_e64 v13, 0, 32, vcc
  v_ldexp_f32 v12, v4, v13
  v_log_f32_e32 v12, v12
  s_mov_b32 s2, 0x3f317217
  v_mov_b32_e32 v13, 0x41b17218
  v_cndmask_b32_e32 v13, 0, v13, vcc
  v_mul_f32_e32 v14, 0x3f317217, v12
  v_fma_f32 v15, v12, s2, -v14
  v_fmamk_f32 v15, v12, 0x3377d1cf, v15
  v_add_f32_e32 v14, v14, v15
  v_cmp_lt_f32_e64 s[2:3], |v12|, s3
  s_nop 1
  v_cndmask_b32_e64 v12, v12, v14, s[2:3]
  v_sub_f32_e32 v8, v12, v13
)";
// In place: the argument's register is used for what becomes of it.
const std::string sqrt_of_clang = R"(
  s_mov_b32 s2, 0xf800000
  v_mov_b32_e32 v14, 0x260
  v_mul_f32_e32 v13, 0x4f800000, v4
  v_cmp_gt_f32_e32 vcc, s2, v4
  s_nop 1
  v_cndmask_b32_e32 v4, v4, v13, vcc
  v_sqrt_f32_e32 v13, v4
  s_nop 0
  v_add_u32_e32 v15, -1, v13
  v_add_u32_e32 v16, 1, v13
  v_fma_f32 v17, -v15, v13, v4
  v_fma_f32 v18, -v16, v13, v4
  v_cmp_ge_f32_e64 s[2:3], 0, v17
  s_nop 1
  v_cndmask_b32_e64 v13, v13, v15, s[2:3]
  v_cmp_lt_f32_e64 s[2:3], 0, v18
  s_nop 1
  v_cndmask_b32_e64 v13, v13, v16, s[2:3]
  v_mul_f32_e32 v15, 0x37800000, v13
  v_cndmask_b32_e32 v13, v13, v15, vcc
  v_cmp_class_f32_e32 vcc, v4, v14
  s_nop 1
  v_cndmask_b32_e32 v8, v13, v4, vcc
)";
const std::string rsqrt_of_library = R"(
  s_mov_b32 s2, 0xd800000
  v_mov_b32_e32 v14, 0x64
  v_mov_b32_e32 v13, 0x58800000
  v_cmp_gt_f32_e32 vcc, s2, v4
  s_nop 1
  v_cndmask_b32_e32 v14, 0, v14, vcc
  v_ldexp_f32 v12, v4, v14
  v_rsq_f32_e32 v12, v12
  v_cndmask_b32_e32 v13, 1.0, v13, vcc
  v_mul_f32_e32 v8, v13, v12
)";
const std::string tanh_of_library = R"(
  s_mov_b32 s2, 0x3f200000
  v_cmp_nlt_f32_e64 s[2:3], |v4|, s2
  s_and_saveexec_b64 s[4:5], s[2:3]
  s_xor_b64 s[2:3], exec, s[4:5]
  s_cbranch_execz L_small
  v_add_f32_e64 v12, |v4|, |v4|
  s_mov_b32 s4, 0x3fb8aa3b
  v_mul_f32_e32 v13, 0x3fb8aa3b, v12
  v_fma_f32 v14, v12, s4, -v13
  v_rndne_f32_e32 v15, v13
  v_fmamk_f32 v14, v12, 0x32a5705f, v14
  v_sub_f32_e32 v13, v13, v15
  v_add_f32_e32 v13, v14, v13
  v_exp_f32_e32 v13, v13
  v_cvt_i32_f32_e32 v14, v15
  v_ldexp_f32 v13, v13, v14
  v_add_f32_e32 v13, 1.0, v13
  v_mov_b32_e32 v14, 0x7f800000
  s_mov_b32 s4, 0x42b17218
  v_cmp_nlt_f32_e32 vcc, s4, v12
  s_nop 1
  v_cndmask_b32_e32 v12, v14, v13, vcc
  v_rcp_f32_e32 v12, v12
  s_nop 0
  v_fma_f32 v12, v12, -2.0, 1.0
L_small:
  s_andn2_saveexec_b64 s[2:3], s[2:3]
  v_mul_f32_e32 v12, v4, v4
  v_mov_b32_e32 v13, 0x3ca908c9
  v_fmac_f32_e32 v13, 0xbbbac73d, v12
  v_fmaak_f32 v13, v12, v13, 0xbd5c1c4e
  v_fmaak_f32 v13, v12, v13, 0x3e088382
  v_fmaak_f32 v13, v12, v13, 0xbeaaaa99
  v_mul_f32_e64 v13, |v4|, v13
  v_fma_f32 v12, v12, v13, |v4|
  s_or_b64 exec, exec, s[2:3]
  s_brev_b32 s2, -2
  v_bfi_b32 v8, s2, v12, v4
)";

const std::string erf_of_library = R"(
  v_mul_f32_e32 v4, 0x3e800000, v4
  v_cmp_nlt_f32_e64 s[2:3], |v4|, 1.0
  s_and_saveexec_b64 s[4:5], s[2:3]
  s_xor_b64 s[4:5], exec, s[4:5]
  s_cbranch_execz L_small
  v_mov_b32_e32 v12, 0xb9c68948
  s_mov_b32 s2, 0x378e98ab
  v_fma_f32 v12, |v4|, s2, v12
  s_mov_b32 s2, 0x3b7cd369
  v_fma_f32 v12, |v4|, v12, s2
  s_mov_b32 s2, 0xbcc618b2
  v_fma_f32 v12, |v4|, v12, s2
  s_mov_b32 s2, 0x3dda74e4
  v_fma_f32 v12, |v4|, v12, s2
  s_mov_b32 s2, 0x3f228afd
  v_fma_f32 v12, |v4|, v12, s2
  s_mov_b32 s2, 0x3e03c728
  v_fma_f32 v12, |v4|, v12, s2
  v_fma_f32 v12, |v4|, v12, |v4|
  v_mul_f32_e32 v12, 0xbfb8aa3b, v12
  v_exp_f32_e32 v12, v12
  v_mov_b32_e32 v14, v4
  v_sub_f32_e32 v13, 1.0, v12
L_small:
  s_andn2_saveexec_b64 s[2:3], s[4:5]
  v_mul_f32_e32 v12, v4, v4
  v_mov_b32_e32 v14, 0xba1345e1
  v_mov_b32_e32 v13, 0x3ba10414
  v_fmac_f32_e32 v13, v14, v12
  v_mov_b32_e32 v14, 0xbcdac9b8
  v_fmac_f32_e32 v14, v12, v13
  v_mov_b32_e32 v13, 0x3de703be
  v_fmac_f32_e32 v13, v12, v14
  v_mov_b32_e32 v14, 0xbec09330
  v_fmac_f32_e32 v14, v12, v13
  v_mov_b32_e32 v13, 0x3e0375d0
  v_fmac_f32_e32 v13, v12, v14
  v_fma_f32 v13, |v4|, v13, |v4|
  s_or_b64 exec, exec, s[2:3]
  s_brev_b32 s2, -2
  v_bfi_b32 v8, s2, v13, v4
)";

std::string applied(const std::string& body) {
  const Assembled k(around(body));
  const auto proposals = k.propose("fast-functions");
  if (proposals.empty()) return "";
  EXPECT_FALSE(proposals[0].same_results);
  return k.text(&proposals[0]);
}

TEST(FastFunctions, ExponentialsAreRecognised) {
  const std::string text = applied(exp_of_clang);
  EXPECT_THAT(text, HasSubstr("v_mul_f32_e32 v8, 0x3fb8aa3b, v4\nv_exp_f32_e32 v8, v8\n"));
  EXPECT_THAT(text, Not(HasSubstr("v_ldexp")));
  EXPECT_THAT(text, Not(HasSubstr("v_cndmask")));
  EXPECT_THAT(applied(exp2_of_clang), HasSubstr("v_exp_f32_e32 v8, v4\n"));
}

TEST(FastFunctions, LogarithmsAndRootsAreRecognised) {
  EXPECT_THAT(applied(log_of_clang),
              HasSubstr("v_log_f32_e32 v8, v4\ns_nop 0\nv_mul_f32_e32 v8, 0x3f317218, v8\n"));
  EXPECT_THAT(applied(sqrt_of_clang), HasSubstr("s_nop 1\nv_sqrt_f32_e32 v8, v4\n"));
  EXPECT_THAT(applied(rsqrt_of_library), HasSubstr("v_rsq_f32_e32 v8, v4\n"));
}

TEST(FastFunctions, BranchesAreReplacedWhole) {
  const std::string text = applied(tanh_of_library);
  EXPECT_THAT(text, HasSubstr("v_exp_f32_e64 v12, |v12|"));
  EXPECT_THAT(text, Not(HasSubstr("saveexec")));
  EXPECT_THAT(text, Not(HasSubstr("v_cmp_nlt")));
  const std::string erf = applied(erf_of_library);
  EXPECT_THAT(erf, HasSubstr("v_rcp_f32_e32 v13, v13\n"));
  EXPECT_THAT(erf, Not(HasSubstr("saveexec")));
  // Another way in.
  std::string entered = erf_of_library;
  entered.insert(entered.find("  v_mul_f32_e32 v12, v4, v4"), "L_here:\n");
  EXPECT_EQ(applied("s_cmp_eq_u32 s8, 0\ns_cbranch_scc1 L_here\n" + entered), "");
  // What one side leaves for code behind both.
  EXPECT_EQ(applied(erf_of_library + "v_mov_b32_e32 v9, v14\n"), "");
}

TEST(FastFunctions, WhatOthersReadStays) {
  const std::string text = applied(exp_of_clang + "v_mov_b32_e32 v9, v14\n");
  EXPECT_THAT(text, HasSubstr("v_exp_f32_e32 v8, v8\n"));
  EXPECT_THAT(text, HasSubstr("v_cvt_i32_f32_e32 v14, v14\n"));
  EXPECT_THAT(text, HasSubstr("v_rndne_f32_e32 v14, v12\n"));
  EXPECT_THAT(text, Not(HasSubstr("v_ldexp")));
}

TEST(FastFunctions, NotWhereItIsSomethingElse) {
  std::string other = exp_of_clang;
  other.replace(other.find("v_ldexp_f32"), 11, "v_add_f32  "); // no function anybody knows
  EXPECT_EQ(applied(other), "");
  std::string cut = exp_of_clang;
  cut.insert(cut.find("  v_ldexp"), "  s_or_b64 exec, exec, s[4:5]\n"); // other lanes from here on
  EXPECT_EQ(applied(cut), "");
  // The argument is gone by the end, and the result's register in use: only what goes before is exchanged.
  std::string gone = exp_of_clang;
  gone.insert(gone.find("  v_cndmask_b32_e32 v8"), "  v_add_f32_e32 v9, v8, v8\n");
  gone.insert(gone.find("  s_nop 1"), "  v_mov_b32_e32 v4, 0\n");
  const std::string text = applied(gone);
  EXPECT_THAT(text,
              HasSubstr("v_exp_f32_e32 v12, v12\nv_cmp_nlt_f32_e32 vcc, s3, v4\nv_mov_b32_e32 v4, 0\n"));
  EXPECT_THAT(text, HasSubstr("v_cndmask_b32_e32 v8, v13, v12, vcc\n"));
}

TEST(FastFunctions, GiveTheSameUpToRounding) {
  for (const std::string gpu : {"gfx90a", "gfx942", "gfx950"}) {
    const testing::KernelOptions o = testing::on(gpu);
    EXPECT_GT(check_on_floats("fast-functions", exp2_of_clang, -140, 10, o), 0U);
    EXPECT_GT(check_on_floats("fast-functions", sqrt_of_clang, 0, 1000, o), 0U);
    EXPECT_GT(check_on_floats("fast-functions", rsqrt_of_library, 0.01F, 100, o), 0U);
    EXPECT_EQ(check_on_floats("fast-functions", erf_of_library, -16, 16, o), 1U);
    if (gpu == "gfx90a") continue; // the others have v_fmamk, which it does not
    EXPECT_GT(check_on_floats("fast-functions", exp_of_clang, -20, 20, o), 0U);
    EXPECT_GT(check_on_floats("fast-functions", exp_of_clang, -120, 5, o), 0U);
    EXPECT_GT(check_on_floats("fast-functions", log_of_clang, 1e-6F, 50, o), 0U);
    EXPECT_GT(check_on_floats("fast-functions", tanh_of_library, -4, 4, o), 0U);
  }
}

std::optional<Function> observed(std::string_view text) {
  const auto codec = isa::Codec::create(*isa::Target::from_id("gfx942"));
  const auto lines = (*codec)->parse(text);
  Experiment e{(*codec)->target(), {}, 1, 2, {}};
  for (const auto& line : *lines)
    for (const uint32_t w : line.instruction->encoding()) e.words.push_back(w);
  return observe(e);
}

TEST(ObservedFunction, KnowsFactorsAndSigns) {
  const auto of_minus_x = observed("v_mul_f32_e32 v2, 0xbfb8aa3b, v1\nv_exp_f32_e32 v2, v2\n");
  ASSERT_TRUE(of_minus_x);
  EXPECT_EQ(of_minus_x->kind, Function::Kind::Exp2);
  EXPECT_EQ(std::bit_cast<uint32_t>(of_minus_x->c), 0xbfb8aa3bU);
  EXPECT_EQ(observed("v_rcp_f32_e32 v2, v1\nv_mul_f32_e32 v2, 4.0, v2\n")->text(), "4 / x");
  EXPECT_FALSE(observed("v_exp_f32_e32 v2, v1\nv_add_f32_e32 v2, 1.0, v2\n"));
  EXPECT_FALSE(observed("v_mov_b32_e32 v2, v1\n"));
}

} // namespace
} // namespace asmevo::search
