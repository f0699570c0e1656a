#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

std::vector<std::string> orders(std::string_view body) {
  const RuleBench bench(body, with_lds);
  std::vector<std::string> texts;
  for (const Proposal& p : bench.proposals(propose_schedules)) {
    const Bytes object = bench.with(p);
    EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
    texts.push_back(RuleBench::text(object));
  }
  return texts;
}

TEST(Schedule, TwoLoadsAtOnce) {
  const auto texts = orders(with_address("global_load_dword v1, v0, s[2:3]\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_mul_f32_e32 v5, v5, v1\n"
                                         "global_load_dword v2, v0, s[2:3] offset:256\n"
                                         "v_exp_f32_e32 v6, v6\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_mul_f32_e32 v5, v5, v2\n"
                                         "v_add_f32_e32 v5, v5, v6\n"
                                         "s_nop 0\n"
                                         "global_store_dword v0, v5, s[2:3]\n"
                                         "s_endpgm\n"));
  ASSERT_FALSE(texts.empty());
  EXPECT_THAT(texts.front(), HasSubstr("global_load_dword v1, v0, s[2:3]\n"
                                       "global_load_dword v2, v0, s[2:3] offset:256\n"));
  EXPECT_THAT(texts.front(), HasSubstr("s_waitcnt vmcnt(1)\nv_mul_f32_e32 v5, v5, v1\n"
                                       "s_waitcnt vmcnt(0)\nv_mul_f32_e32 v5, v5, v2\n"));
}

TEST(Schedule, MatrixInstructionsBesideOthers) {
  const auto texts = orders("v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\n"
                            "s_nop 15\ns_nop 3\n"
                            "v_add_f32_e32 v20, v0, v1\n"
                            "v_add_f32_e32 v21, v22, v23\n"
                            "v_mul_f32_e32 v24, v22, v23\n"
                            "v_mul_f32_e32 v25, v24, v23\n"
                            "s_endpgm\n");
  ASSERT_FALSE(texts.empty());
  EXPECT_LT(texts.front().find("v25, v24, v23"), texts.front().find("v20, v0, v1"));
}

// A register that is free lets the second load go in front of the first one's use.
TEST(Schedule, ALoadGetsAnotherRegister) {
  const auto texts = orders(with_address("global_load_dword v1, v0, s[2:3]\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_add_f32_e32 v5, v1, v1\n"
                                         "global_load_dword v1, v0, s[2:3] offset:256\n"
                                         "s_waitcnt vmcnt(0)\n"
                                         "v_sub_f32_e32 v6, v1, v5\n"
                                         "v_mov_b32_e32 v1, 0\n"
                                         "global_store_dword v0, v6, s[2:3]\n"
                                         "s_endpgm\n"));
  EXPECT_THAT(texts, Contains(ContainsRegex("global_load_dword v1, v0, s\\[2:3\\]\n(s_mov.*\n)?"
                                            "global_load_dword v[2-9]+, v0, s\\[2:3\\] offset:256\n")));
}

TEST(Schedule, NothingCrossesBarriersAndAtomics) {
  for (const std::string& text : orders(with_address("ds_write_b32 v0, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                                                     "ds_read_b32 v1, v0 offset:4\ns_waitcnt lgkmcnt(0)\n"
                                                     "global_store_dword v0, v1, s[2:3]\ns_endpgm\n"))) {
    EXPECT_LT(text.find("ds_write"), text.find("lgkmcnt(0)", text.find("ds_write")));
    EXPECT_LT(text.find("lgkmcnt(0)", text.find("ds_write")), text.find("s_barrier"));
    EXPECT_LT(text.find("s_barrier"), text.find("ds_read"));
  }
  for (const std::string& text : orders(with_address("global_load_dword v1, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                                                     "global_atomic_add v0, v1, s[2:3]\n"
                                                     "global_load_dword v2, v0, s[2:3] offset:512\n"
                                                     "s_waitcnt vmcnt(0)\n"
                                                     "global_store_dword v0, v2, s[2:3]\ns_endpgm\n")))
    EXPECT_LT(text.find("atomic"), text.find("offset:512"));
}

// The wait behind the branch counts: of the two loads in flight it wants the first.
TEST(Schedule, WhatIsInFlightAtTheEndKeepsItsOrder) {
  for (const std::string& text : orders(with_address("v_exp_f32_e32 v7, v0\n"
                                                     "s_nop 0\n"
                                                     "v_mul_f32_e32 v7, v7, v7\n"
                                                     "global_load_dword v1, v0, s[2:3]\n"
                                                     "global_load_dword v2, v0, s[2:3] offset:256\n"
                                                     "v_exp_f32_e32 v8, v0\n"
                                                     "s_nop 0\n"
                                                     "v_mul_f32_e32 v8, v8, v8\n"
                                                     "s_branch next\n"
                                                     "next:\n"
                                                     "s_waitcnt vmcnt(1)\n"
                                                     "global_store_dword v0, v1, s[2:3]\n"
                                                     "s_endpgm\n"))) {
    EXPECT_LT(text.find("global_load_dword v1"), text.find("global_load_dword v2"));
    EXPECT_THAT(text, HasSubstr("s_waitcnt vmcnt(1)\nglobal_store_dword v0, v1"));
  }
}

TEST(Schedule, RandomCodeLeavesTheSame) {
  EXPECT_GT(testing::check_random_code(propose_schedules, 40), 40U);
}

} // namespace
} // namespace asmevo::search
