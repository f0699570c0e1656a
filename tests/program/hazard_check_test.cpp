// Distances between instructions; the numbers themselves are tests/isa/hazards_test.cpp's.
#include "check_helper.h"

namespace asmevo::program {
namespace {

using testing::found;

TEST(HazardCheck, CountsWaitStates) {
  const auto kernel = [](std::string_view between) {
    return "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[8:11]\n" + std::string(between) +
           "global_store_dword v[20:21], v0, off\ns_endpgm\n";
  };
  EXPECT_EQ(found(kernel("")), "mfma-memory-read v0: 7 more wait states (s_nop 6)\n");
  EXPECT_EQ(found(kernel("s_nop 2\n")), "mfma-memory-read v0: 4 more wait states (s_nop 3)\n");
  EXPECT_EQ(found(kernel("s_nop 6\n")), "");
  EXPECT_EQ(found(kernel("s_nop 3\ns_mov_b32 s0, 0\ns_mov_b32 s0, 0\ns_waitcnt vmcnt(0)\n")), "");
  EXPECT_EQ(found(kernel(""), false, isa::Gfx::gfx950),
            "mfma-memory-read v0: 8 more wait states (s_nop 7)\n");
}

// The last of these takes its carry from the third, which asks for as much as the second would.
TEST(HazardCheck, NearerWriterOfTheSame) {
  const std::string add = "v_add_co_u32_e32 v3, vcc, v3, v1\n",
                    carry = "v_addc_co_u32_e32 v5, vcc, v5, v1, vcc\n",
                    rule = "?valu-writes-sgpr-valu vcc: 2 more wait states (s_nop 1)\n", end = "s_endpgm\n";
  EXPECT_EQ(found(add + carry + end, true), rule);
  EXPECT_EQ(found(add + carry + add + carry + end, true), rule + rule);
  EXPECT_EQ(found(add + carry + carry + end, true), rule + rule);
  // On one way only, it does not stand for the other.
  EXPECT_EQ(found(add + "s_cbranch_scc1 over\n" + add + "over: " + carry + end, true),
            "?valu-writes-sgpr-valu vcc: 1 more wait state (s_nop 0)\n" + rule);
}

TEST(HazardCheck, LongestWindow) {
  // llvm#222040: a hazard exactly at the end of the look-back.
  std::string text = "v_mfma_f32_32x32x4_2b_f16 a[0:31], v[4:5], v[6:7], a[0:31]\n";
  for (int k = 0; k < 19; ++k) text += "s_mov_b32 s0, 0\n";
  EXPECT_EQ(found(text + "global_store_dword v[20:21], a0, off\ns_endpgm\n", false, isa::Gfx::gfx950),
            "mfma-memory-read a0: 1 more wait state (s_nop 0)\n");
  EXPECT_EQ(
      found(text + "s_nop 0\nglobal_store_dword v[20:21], a0, off\ns_endpgm\n", false, isa::Gfx::gfx950), "");
}

// llvm#202333: the store stands in a branch that EXEC guards, the overwriting instruction after the join.
TEST(HazardCheck, ShortestWayThroughBranches) {
  const std::string text = "s_and_saveexec_b64 s[0:1], vcc\n"
                           "s_cbranch_execz join\n"
                           "global_store_dwordx4 v[20:21], v[4:7], off\n"
                           "join:\n"
                           "s_or_b64 exec, exec, s[0:1]\n";
  EXPECT_EQ(found(text + "v_mov_b32_e32 v5, 0\ns_endpgm\n"),
            "wide-store-valu v[4:7]: 1 more wait state (s_nop 0)\n");
  EXPECT_EQ(found(text + "s_nop 0\nv_mov_b32_e32 v5, 0\ns_endpgm\n"), "");
  EXPECT_EQ(found(text + "v_mov_b32_e32 v5, 0\ns_endpgm\n", false, isa::Gfx::gfx90a), "");
}

// llvm#197267: on gfx940 the hazard is there with an SGPR as soffset too, one wait state shorter.
TEST(HazardCheck, WideStoreWithScalarOffset) {
  const std::string store = "buffer_store_dwordx4 v[4:7], v1, s[4:7], s8 offen\n";
  EXPECT_EQ(found(store + "v_mov_b32_e32 v5, 0\ns_endpgm\n", false, isa::Gfx::gfx950),
            "wide-store-valu v[4:7]: 1 more wait state (s_nop 0)\n");
  EXPECT_EQ(found(store + "s_nop 0\nv_mov_b32_e32 v5, 0\ns_endpgm\n", false, isa::Gfx::gfx950), "");
  EXPECT_EQ(found(store + "v_mov_b32_e32 v5, 0\ns_endpgm\n", false, isa::Gfx::gfx90a), "");
}

// llvm#218363: the accumulator is forwarded within a chain of one instruction only.
TEST(HazardCheck, MixedMatrixInstructionsShareAnAccumulator) {
  const std::string first = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n";
  EXPECT_EQ(found(first + first + "s_endpgm\n"), "");
  EXPECT_EQ(found(first + "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]\ns_endpgm\n"),
            "mfma-mixed-src-c v[0:3]: 5 more wait states (s_nop 4)\n");
}

// Of the first result nothing is left in the last one's accumulator; with another in between, something is.
TEST(HazardCheck, AnotherMatrixInstructionWroteTheAccumulator) {
  const auto chain = [](std::string_view second) {
    return "v_mfma_f32_16x16x16_f16 v[4:7], v[10:11], v[12:13], v[4:7]\n" + std::string(second) +
           "v_mfma_f32_16x16x16_f16 v[2:5], v[10:11], v[12:13], v[2:5]\ns_endpgm\n";
  };
  EXPECT_EQ(found(chain("v_mfma_f32_16x16x16_f16 v[2:5], v[14:15], v[12:13], v[4:7]\n")), "");
  EXPECT_EQ(found(chain("v_mfma_f32_16x16x16_f16 v[20:23], v[14:15], v[12:13], v[4:7]\n")),
            "mfma-src-c v[2:5]: 4 more wait states (s_nop 3)\n");
}

TEST(HazardCheck, AroundALoop) {
  const std::string text = "s_mov_b32 s4, 4\n"
                           "loop:\n"
                           "v_readlane_b32 s6, v1, s5\n"
                           "s_sub_u32 s4, s4, 1\n"
                           "v_readfirstlane_b32 s5, v2\n"
                           "s_cmp_lg_u32 s4, 0\n"
                           "s_cbranch_scc1 loop\n"
                           "s_endpgm\n";
  EXPECT_EQ(found(text), "valu-writes-sgpr-lane-select s5: 2 more wait states (s_nop 1)\n");
}

// A DGEMM between a VALU write and the load that reads it as address keeps the hardware from waiting
// (gfx90a).
TEST(HazardCheck, DgemmHidesADependence) {
  const std::string text = "v_mov_b32_e32 v1, v2\n"
                           "v_mfma_f64_4x4x4f64 a[0:1], v[4:5], v[6:7], a[0:1]\n"
                           "buffer_load_dword v3, v1, s[4:7], 0 offen\n"
                           "s_endpgm\n";
  EXPECT_EQ(found(text, false, isa::Gfx::gfx90a), "valu-dgemm-memory v1: 1 more wait state (s_nop 0)\n");
}

TEST(HazardCheck, ContestedRulesAreOnlyPossible) {
  const std::string text =
      "v_cmp_eq_u32_e64 s[4:5], v0, v1\nv_cndmask_b32_e64 v2, v3, v4, s[4:5]\ns_endpgm\n";
  EXPECT_EQ(found(text), "");
  EXPECT_EQ(found(text, true), "?valu-writes-sgpr-valu s[4:5]: 2 more wait states (s_nop 1)\n");
  EXPECT_EQ(found(text, true, isa::Gfx::gfx90a), "");
}

TEST(HazardCheck, HardwareRegisters) {
  EXPECT_EQ(
      found(
          "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1\ns_getreg_b32 s2, hwreg(HW_REG_MODE, 4, 4)\ns_endpgm\n"),
      "setreg-getreg : 2 more wait states (s_nop 1)\n");
  EXPECT_EQ(
      found("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1\ns_getreg_b32 s2, hwreg(HW_REG_TRAPSTS)\ns_endpgm\n"),
      "");
}

} // namespace
} // namespace asmevo::program
