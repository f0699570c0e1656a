#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::around;
using testing::Assembled;
using testing::check_exactly;
using ::testing::HasSubstr;
using ::testing::Not;

testing::KernelOptions with_lds() {
  testing::KernelOptions options;
  options.lds_bytes = 8192;
  options.kernarg_bytes = 16;
  return options;
}

std::string applied(std::string_view rule, const std::string& body) {
  const Assembled k(around(body), with_lds());
  const auto proposals = k.propose(rule);
  return proposals.empty() ? "" : k.text(&proposals[0]);
}

// v12 = 4 bytes a work-item; LDS holds v4.
const std::string fill = "v_lshlrev_b32 v12, 2, v0\nds_write_b32 v12, v4 offset:1040\ns_waitcnt lgkmcnt(0)\n";

TEST(FoldedOffsets, GoIntoTheAccess) {
  const std::string body =
      fill + "v_add_u32 v13, 0x400, v12\nds_read_b32 v8, v13 offset:16\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_THAT(applied("folded-offsets", body), HasSubstr("ds_read_b32 v8, v12 offset:1040\n"));
  EXPECT_THAT(applied("folded-offsets", body), Not(HasSubstr("v_add_u32")));
  EXPECT_EQ(check_exactly("folded-offsets", body, with_lds()), 1U);
  const std::string store = "v_lshlrev_b32 v12, 2, v0\nv_add_u32 v13, 8, v12\nds_write_b32 v13, v4\n"
                            "ds_read_b32 v8, v12 offset:8\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_THAT(applied("folded-offsets", store), HasSubstr("ds_write_b32 v12, v4 offset:8\n"));
  EXPECT_EQ(check_exactly("folded-offsets", store, with_lds()), 1U);
}

TEST(FoldedOffsets, NotWhereTheSumMayWrap) {
  const std::string read = "ds_read_b32 v8, v13 offset:16\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(applied("folded-offsets", "v_add_u32 v13, 0x400, v4\n" + read), "") << "v4 may be anything";
  EXPECT_EQ(applied("folded-offsets", fill + "v_add_u32 v13, -16, v12\n" + read), "");
  EXPECT_EQ(applied("folded-offsets", fill + "v_add_u32 v13, 0xfff8, v12\n" + read), "") << "too far";
  EXPECT_EQ(applied("folded-offsets",
                    fill + "v_add_u32 v13, 16, v12\nv_mov_b32 v12, 0\n" + read + "v_mov_b32 v9, v12\n"),
            "");
  EXPECT_EQ(applied("folded-offsets", fill + "v_add_u32 v13, 16, v12\nds_write_b32 v13, v13\n"), "")
      << "data, too";
  EXPECT_EQ(applied("folded-offsets", fill + "v_add_u32 v13, 16, v12\n" + read + "v_mov_b32 v9, v13\n"), "");
  EXPECT_EQ(applied("folded-offsets", fill + "v_add_u32 v13, 16, v12\nds_read2_b32 v[8:9], v13 offset1:1\n"),
            "");
}

std::string loop(const std::string& inside, const std::string& before = "", const std::string& behind = "") {
  return before + "s_mov_b32 s4, 3\nL_loop:\n" + inside +
         "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 L_loop\n" + behind;
}

TEST(Hoisted, WhatIsTheSameInEachTurn) {
  const std::string body =
      loop("v_lshlrev_b32 v12, 2, v4\nv_add_u32 v13, v12, v5\nv_add_u32 v8, v8, v13\nv_xor_b32 v6, v8, v6\n");
  const std::string text = applied("hoisted", body);
  EXPECT_THAT(text, HasSubstr("s_mov_b32 s4, 3\nv_lshlrev_b32_e32 v12, 2, v4\nv_add_u32_e32 v13, v12, v5\n"));
  EXPECT_EQ(check_exactly("hoisted", body), 1U);
}

TEST(Hoisted, PastABranchAroundTheLoop) {
  const std::string inside = "v_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v8, v12\n";
  const std::string around_it = "s_cmp_eq_u64 s[8:9], 0\ns_mov_b32 s4, 3\ns_cbranch_scc1 L_end\nL_loop:\n" +
                                inside +
                                "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 L_loop\nL_end:\n";
  EXPECT_THAT(applied("hoisted", around_it),
              HasSubstr("v_lshlrev_b32_e32 v12, 2, v4\ns_cbranch_scc1 L_end\n"));
  EXPECT_EQ(check_exactly("hoisted", around_it), 1U);
  EXPECT_EQ(applied("hoisted", "v_mov_b32 v12, 0\n" + around_it + "v_add_u32 v9, v12, v4\n"), "")
      << "wanted where the loop is passed by";
}

TEST(Hoisted, NotWhatChanges) {
  EXPECT_EQ(applied("hoisted", loop("v_add_u32 v8, v8, v4\n")), "") << "its own result";
  EXPECT_EQ(
      applied("hoisted", loop("v_add_u32 v8, v8, v12\nv_lshlrev_b32 v12, 2, v4\n", "v_mov_b32 v12, v6\n")),
      "")
      << "the first turn takes another value";
  EXPECT_EQ(applied("hoisted", loop("v_lshlrev_b32 v12, 2, v8\nv_add_u32 v8, v12, v8\n")), "") << "changes";
  EXPECT_EQ(applied("hoisted",
                    loop("s_or_b64 exec, exec, s[6:7]\nv_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v12, v8\n")),
            "");
  EXPECT_EQ(applied("hoisted", loop("v_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v8, v12\nv_lshlrev_b32 v12, 3, "
                                    "v4\nv_add_u32 v8, v8, v12\n")),
            "")
      << "written twice";
  EXPECT_EQ(applied("hoisted", loop("s_waitcnt vmcnt(0)\nv_lshlrev_b32 v12, 2, v14\nv_add_u32 v8, v12, v8\n",
                                    "global_load_dword v14, v1, s[8:9]\n")),
            "")
      << "not there yet";
}

} // namespace
} // namespace asmevo::search
