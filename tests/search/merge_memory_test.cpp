#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

// With all that can be merged; "" where nothing can.
std::string merged(std::string_view body) {
  const RuleBench bench(with_address(body), with_lds);
  const auto proposals = bench.proposals(propose_merged_accesses);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
  return RuleBench::text(object);
}

constexpr std::string_view use = "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                 "v_add_u32_e32 v6, v4, v5\nv_sub_u32_e32 v4, v6, v5\nv_mov_b32_e32 v5, v4\n"
                                 "global_store_dword v0, v6, s[2:3]\ns_endpgm\n";

std::string used(std::string_view loads) {
  return std::string(loads) + std::string(use);
}

TEST(MergeMemory, LoadsSideBySide) {
  EXPECT_THAT(merged(used("global_load_dword v4, v0, s[2:3] offset:16\n"
                          "global_load_dword v5, v0, s[2:3] offset:20\n")),
              HasSubstr("global_load_dwordx2 v[4:5], v0, s[2:3] offset:16\n"));
  // In any order, with something between.
  EXPECT_THAT(merged(used("global_load_dword v5, v0, s[2:3] offset:20 nt\nv_mov_b32_e32 v9, v0\n"
                          "global_load_dword v4, v0, s[2:3] offset:16 nt\n")),
              HasSubstr("global_load_dwordx2 v[4:5], v0, s[2:3] offset:16 nt\n"));
}

TEST(MergeMemory, FourBecomeOne) {
  EXPECT_THAT(merged("global_load_dword v4, v0, s[2:3]\nglobal_load_dword v5, v0, s[2:3] offset:4\n"
                     "global_load_dword v6, v0, s[2:3] offset:8\nglobal_load_dword v7, v0, s[2:3] offset:12\n"
                     "s_waitcnt vmcnt(0)\nglobal_store_dwordx4 v0, v[4:7], s[2:3]\ns_endpgm\n"),
              HasSubstr("global_load_dwordx4 v[4:7], v0, s[2:3]\n"));
}

TEST(MergeMemory, LoadedValuesMoveToRegistersInARow) {
  const std::string text = merged(used("global_load_dword v5, v0, s[2:3] offset:16\n"
                                       "global_load_dword v4, v0, s[2:3] offset:20\n"));
  EXPECT_THAT(text, HasSubstr("global_load_dwordx2 v["));
  EXPECT_THAT(text, Not(HasSubstr("global_load_dword ")));
}

TEST(MergeMemory, Stores) {
  EXPECT_THAT(merged("v_mov_b32_e32 v4, 1\nv_mov_b32_e32 v5, 2\nglobal_store_dword v0, v4, s[2:3]\n"
                     "global_store_dword v0, v5, s[2:3] offset:4\ns_endpgm\n"),
              HasSubstr("global_store_dwordx2 v0, v[4:5], s[2:3]\n"));
}

TEST(MergeMemory, LdsWithTwoOffsets) {
  EXPECT_THAT(merged(used("ds_read_b32 v4, v0 offset:64\nds_read_b32 v5, v0 offset:192\n")),
              HasSubstr("ds_read2_b32 v[4:5], v0 offset0:16 offset1:48\n"));
  EXPECT_THAT(merged(used("ds_read_b32 v4, v0\nds_read_b32 v5, v0 offset:2048\n")),
              HasSubstr("ds_read2st64_b32 v[4:5], v0 offset1:8\n"));
  EXPECT_THAT(merged("v_mov_b32_e32 v7, 1\nds_write_b32 v0, v0\nds_write_b32 v0, v7 offset:8\ns_endpgm\n"),
              HasSubstr("ds_write2_b32 v0, v0, v7 offset1:2\n"));
}

TEST(MergeMemory, ScalarLoads) {
  EXPECT_THAT(merged("s_load_dword s8, s[2:3], 0x10\ns_load_dword s9, s[2:3], 0x14\ns_waitcnt lgkmcnt(0)\n"
                     "v_mov_b32_e32 v1, s8\nv_add_u32_e32 v1, s9, v1\nglobal_store_dword v0, v1, s[2:3]\n"
                     "s_endpgm\n"),
              HasSubstr("s_load_dwordx2 s[8:9], s[2:3], 0x10\n"));
}

TEST(MergeMemory, TheSameAgain) {
  const std::string text = merged("global_load_dword v4, v0, s[2:3]\nglobal_load_dword v5, v0, s[2:3]\n"
                                  "s_waitcnt vmcnt(0)\nv_add_u32_e32 v6, v4, v5\nv_mov_b32_e32 v5, 0\n"
                                  "global_store_dword v0, v6, s[2:3]\ns_endpgm\n");
  EXPECT_THAT(text, AllOf(HasSubstr("v_add_u32_e32 v6, v4, v4\n"), Not(HasSubstr("global_load_dword v5"))));
}

// --- where it must not

TEST(MergeMemory, WhatIsNotSideBySideOrHintedAlike) {
  EXPECT_THAT(merged(used("global_load_dword v4, v0, s[2:3] offset:16\n"
                          "global_load_dword v5, v0, s[2:3] offset:24\n")),
              IsEmpty());
  EXPECT_THAT(merged(used("global_load_dword v4, v0, s[2:3] offset:16 nt\n"
                          "global_load_dword v5, v0, s[2:3] offset:20\n")),
              IsEmpty());
}

TEST(MergeMemory, NotAcrossAChangeOfAddressOrLanesOrAStore) {
  for (const std::string between : {"v_add_u32_e32 v0, 4, v0\n", "s_mov_b64 exec, 1\n",
                                    "global_store_dword v0, v0, s[2:3]\n", "s_barrier\n"})
    EXPECT_THAT(merged(used("global_load_dword v4, v0, s[2:3] offset:16\n" + between +
                            "global_load_dword v5, v0, s[2:3] offset:20\n")),
                IsEmpty())
        << between;
  EXPECT_THAT(merged(used("global_load_dword v4, v4, s[2:3] offset:16\ns_waitcnt vmcnt(0)\n"
                          "global_load_dword v5, v4, s[2:3] offset:20\n")),
              IsEmpty());
}

// A wait behind the branch leaves two of the three in flight.
TEST(MergeMemory, WaitsThatCountOnIt) {
  EXPECT_THAT(
      merged("global_load_dword v4, v0, s[2:3] offset:16\nglobal_load_dword v5, v0, s[2:3] offset:20\n"
             "global_load_dword v6, v0, s[2:3] offset:64\ns_branch on\non:\ns_waitcnt vmcnt(2)\n"
             "v_add_u32_e32 v7, v4, v4\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v7, v5, v7\n"
             "v_add_u32_e32 v7, v6, v7\nglobal_store_dword v0, v7, s[2:3]\ns_endpgm\n"),
      IsEmpty());
}

TEST(MergeMemory, RandomCodeLeavesTheSame) {
  EXPECT_GT(testing::check_random_code(propose_merged_accesses, 40), 20U);
}

} // namespace
} // namespace asmevo::search
