#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

// The kernel's text with every wait placed anew; "" where nothing changes.
std::string rewritten(std::string_view body, const emulator::KernelOptions& o = {}) {
  const RuleBench bench(body, o);
  const auto proposals = bench.proposals(propose_waits);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "");
  return RuleBench::text(object);
}

TEST(Waits, NoMoreThanTheFirstUseNeeds) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "global_load_dword v2, v0, s[2:3] offset:256\n"
                                                  "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                                  "v_add_f32_e32 v7, v0, v0\n"
                                                  "v_mul_f32_e32 v1, v1, v7\n"
                                                  "v_mul_f32_e32 v2, v2, v7\n"
                                                  "v_add_f32_e32 v1, v1, v2\n"
                                                  "global_store_dword v0, v1, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v7, v0, v0\n"
                              "s_waitcnt vmcnt(1)\n"
                              "v_mul_f32_e32 v1, v1, v7\n"
                              "s_waitcnt vmcnt(0)\n"
                              "v_mul_f32_e32 v2, v2, v7\n"));
}

TEST(Waits, AcrossABranchToWhereTheResultIsUsed) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "s_cmp_eq_u32 s4, 0\n"
                                                  "s_cbranch_scc1 skip\n"
                                                  "v_add_f32_e32 v7, v0, v0\n"
                                                  "skip:\n"
                                                  "v_add_f32_e32 v2, v0, v0\n"
                                                  "global_store_dword v0, v1, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v2, v0, v0\ns_waitcnt vmcnt(0)\nglobal_store_dword"));
  EXPECT_THAT(text, Not(HasSubstr("s_waitcnt vmcnt(0)\ns_cmp_eq_u32")));
}

TEST(Waits, WhatNothingNeedsGoes) {
  const std::string text = rewritten(with_address("global_store_dword v0, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, Not(HasSubstr("vmcnt")));
}

TEST(Waits, AnNopTakesThePlaceOfAWaitThatKeptTheDistance) {
  const std::string text =
      rewritten(with_address("global_store_dword v0, v0, s[2:3]\n"
                             "v_add_f32_e32 v2, v0, v0\n"
                             "v_mov_b32_e32 v3, v0\n"
                             "s_waitcnt vmcnt(0)\n"
                             "v_add_f32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                             "global_store_dword v0, v2, s[2:3]\n"
                             "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_mov_b32_e32 v3, v0\ns_nop 0\nv_add_f32_dpp"));
}

TEST(Waits, LoadsBeforeALoopAreWaitedForBeforeIt) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "v_add_f32_e32 v3, v0, v0\n"
                                                  "s_movk_i32 s4, 4\n"
                                                  "again:\n"
                                                  "global_load_dword v2, v0, s[2:3]\n"
                                                  "v_add_f32_e32 v3, v3, v1\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "v_add_f32_e32 v3, v3, v2\n"
                                                  "s_sub_i32 s4, s4, 1\n"
                                                  "s_cmp_lg_u32 s4, 0\n"
                                                  "s_cbranch_scc1 again\n"
                                                  "global_store_dword v0, v3, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v3, v0, v0\ns_waitcnt vmcnt(0)\ns_movk_i32 s4, 0x4\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v3, v3, v1\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v3, v3, v2\n"));
}

// --- where it must not

std::string unchanged(std::string_view middle) {
  return rewritten(with_address(middle), with_lds);
}

TEST(Waits, StoresAreCompleteAtABarrier) {
  EXPECT_THAT(unchanged("ds_write_b32 v0, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v1, v0 offset:4\n"
                        "s_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, WhatCameBeforeAnAtomicIsComplete) {
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "global_atomic_add v0, v0, s[2:3] offset:512\ns_endpgm\n"),
              IsEmpty());
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "global_store_dword v0, v0, s[2:3] offset:512 sc0 sc1\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, ScalarLoadsSeeWhatWasStored) {
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "s_load_dword s4, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v1, s4\n"
                        "global_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, LdsThatLoadsFillIsNotReadBefore) {
  EXPECT_THAT(unchanged("s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "ds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n"
                        "global_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, CodeThatIndexesRegistersIsLeftAlone) {
  EXPECT_THAT(
      unchanged("global_load_dword v1, v0, s[2:3]\ns_waitcnt vmcnt(0)\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\n"
                "v_mov_b32_e32 v3, v1\ns_set_gpr_idx_off\nv_mov_b32_e32 v5, v1\n"
                "global_store_dword v0, v3, s[2:3]\ns_endpgm\n"),
      IsEmpty());
}

// --- random code

TEST(Waits, RandomCodeLeavesTheSame) {
  EXPECT_GT(testing::check_random_code(propose_waits, 12), 12U);
}

} // namespace
} // namespace asmevo::search
