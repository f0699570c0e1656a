#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RuleBench;
using testing::with_address;

std::vector<std::string> rewritten(std::string_view body) {
  const RuleBench bench(with_address(body));
  std::vector<std::string> texts;
  for (const Proposal& p : bench.proposals(propose_wait_states)) {
    const Bytes object = bench.with(p);
    EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
    texts.push_back(RuleBench::text(object));
  }
  return texts;
}

TEST(WaitStates, NoMoreThanTheHazardNeeds) {
  EXPECT_THAT(
      rewritten("v_add_f32_e32 v2, v0, v0\ns_nop 4\n"
                "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                "s_nop 3\nglobal_store_dword v0, v3, s[2:3]\ns_endpgm\n"),
      Contains(HasSubstr("v_add_f32_e32 v2, v0, v0\ns_nop 1\nv_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf "
                         "bank_mask:0xf\nglobal_store_dword")));
}

TEST(WaitStates, WorkInPlaceOfThem) {
  EXPECT_THAT(
      rewritten("v_add_f32_e32 v2, v0, v0\ns_nop 1\n"
                "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                "v_mul_f32_e32 v5, v0, v0\nv_mul_f32_e32 v6, v0, v5\nv_add_f32_e32 v3, v3, v6\n"
                "global_store_dword v0, v3, s[2:3]\ns_endpgm\n"),
      Contains(HasSubstr("v_add_f32_e32 v2, v0, v0\nv_mul_f32_e32 v5, v0, v0\nv_mul_f32_e32 v6, v0, v5\n"
                         "v_mov_b32_dpp v3, v2")));
}

TEST(WaitStates, WhatOnePathNeedsStays) {
  EXPECT_THAT(rewritten("s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 skip\nv_add_f32_e32 v2, v0, v0\nskip:\ns_nop 1\n"
                        "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                        "global_store_dword v0, v3, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(WaitStates, RandomCodeLeavesTheSame) {
  EXPECT_GT(testing::check_random_code(propose_wait_states, 40), 20U);
}

} // namespace
} // namespace asmevo::search
