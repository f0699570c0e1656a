#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::around;
using testing::Assembled;
using testing::check_exactly;
using ::testing::HasSubstr;
using ::testing::Not;

std::string applied(const std::string& body) {
  const Assembled k(around(body));
  const auto proposals = k.propose("scalar-base");
  return proposals.empty() ? "" : k.text(&proposals[0]);
}

// Each work-item loads 16 bytes at 8 bytes a work-item.
const std::string index = "v_lshlrev_b32 v12, 3, v0\nv_mov_b32 v13, 0\n";
const std::string sum = "v_lshl_add_u64 v[14:15], s[8:9], 0, v[12:13]\n";
const std::string load = "global_load_dwordx4 v[8:11], v[14:15], off offset:16\ns_waitcnt vmcnt(0)\n";

TEST(ScalarBase, GoesIntoTheAccess) {
  const std::string text = applied(index + sum + load);
  EXPECT_THAT(text, HasSubstr("global_load_dwordx4 v[8:11], v12, s[8:9] offset:16\n"));
  EXPECT_THAT(text, Not(HasSubstr("v_lshl_add_u64")));
  EXPECT_EQ(check_exactly("scalar-base", index + sum + load), 1U);
}

TEST(ScalarBase, ShiftsStay) {
  const std::string body =
      "v_mov_b32 v12, v0\nv_mov_b32 v13, 0\nv_lshl_add_u64 v[14:15], v[12:13], 3, s[8:9]\n"
      "global_load_dwordx2 v[8:9], v[14:15], off\nglobal_load_dword v10, v[14:15], off offset:4\n"
      "s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(applied(body), "") << "one instruction for another";
  EXPECT_EQ(check_exactly("scalar-base", body), 0U);
}

TEST(ScalarBase, ConstantsBecomeOffsets) {
  const std::string body = index + sum +
                           "v_add_co_u32 v16, vcc, 64, v14\ns_nop 1\nv_addc_co_u32 v17, vcc, 0, v15, vcc\n"
                           "global_load_dwordx4 v[8:11], v[16:17], off offset:-8\ns_waitcnt vmcnt(0)\n";
  const std::string text = applied(body);
  EXPECT_THAT(text, HasSubstr("global_load_dwordx4 v[8:11], v12, s[8:9] offset:56\n"));
  EXPECT_THAT(text, Not(HasSubstr("v_add")));
  EXPECT_EQ(check_exactly("scalar-base", body), 1U);
}

TEST(ScalarBase, StoresToo) {
  const std::string body =
      "v_lshlrev_b32 v12, 4, v0\nv_mov_b32 v13, 0\nv_lshl_add_u64 v[14:15], s[10:11], 0, v[12:13]\n"
      "global_store_dwordx2 v[14:15], v[4:5], off offset:8\n";
  EXPECT_THAT(applied(body), HasSubstr("global_store_dwordx2 v12, v[4:5], s[10:11] offset:8\n"));
}

TEST(ScalarBase, NotWhereTheOffsetMayBeLong) {
  EXPECT_EQ(applied("v_mov_b32 v12, v0\nv_mov_b32 v13, v4\n" + sum + load), "") << "high half unknown";
  EXPECT_EQ(applied(index + sum + "v_mov_b32 v12, v5\n" + load + "v_mov_b32 v9, v12\n"), "")
      << "offset overwritten";
  EXPECT_EQ(applied(index + sum + "s_mov_b64 s[8:9], s[10:11]\n" + load), "") << "base overwritten";
  EXPECT_EQ(applied(index + sum + load + "v_mov_b32 v9, v14\n"), "") << "address read elsewhere";
  EXPECT_EQ(applied(index + sum + "s_or_b64 exec, exec, s[4:5]\n" + load), "") << "EXEC";
  EXPECT_EQ(applied(index + sum +
                    "global_load_dwordx4 v[8:11], v[14:15], off offset:4080\nv_add_co_u32 v16, vcc, 64, v14\n"
                    "s_nop 1\nv_addc_co_u32 v17, vcc, 0, v15, vcc\n"
                    "global_load_dwordx4 v[4:7], v[16:17], off offset:4080\n"),
            "")
      << "out of range";
}

} // namespace
} // namespace asmevo::search
