#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::applied;
using testing::check_exactly;
using ::testing::HasSubstr;
using ::testing::Not;

std::string known(const std::string& body) {
  return applied("known-results", body);
}

TEST(KnownResults, ReadersTakeTheSource) {
  EXPECT_THAT(known("v_mov_b32 v12, v4\nv_add_f32 v8, v12, v5\n"),
              HasSubstr("vmcnt(0)\nv_add_f32_e32 v8, v4, v5\n"));
  EXPECT_THAT(known("v_mov_b32 v12, 1.0\nv_mul_lo_u32 v8, v12, v5\n"),
              HasSubstr("v_mul_lo_u32 v8, 1.0, v5\n"));
  EXPECT_THAT(known("s_mov_b32 s4, s10\ns_add_u32 s5, s4, 4\nv_mov_b32 v8, s5\n"),
              HasSubstr("s_add_u32 s5, s10, 4\n"));
  // A longer encoding where the short one has no room for it.
  EXPECT_THAT(known("v_mov_b32 v12, s10\nv_add_u32 v8, v4, v12\n"), HasSubstr("v_add_u32_e64 v8, v4, s10\n"));
}

TEST(KnownResults, OperationsThatChangeNothing) {
  for (const std::string nothing :
       {"v_add_u32 v12, 0, v4", "v_or_b32 v12, v4, v11", "v_lshlrev_b32 v12, 0, v4", "v_and_b32 v12, -1, v4",
        "v_mul_lo_u32 v12, v4, 1", "v_cndmask_b32 v12, v4, v4, vcc"})
    EXPECT_THAT(known(nothing + "\nv_add_f32 v8, v12, v5\n"), HasSubstr("v_add_f32_e32 v8, v4, v5\n"))
        << nothing;
  EXPECT_THAT(known("v_and_b32 v12, 0x3ff, v0\nv_add_u32 v8, v12, v5\n"),
              HasSubstr("v_add_u32_e32 v8, v0, v5\n"));
  EXPECT_EQ(known("v_and_b32 v12, 0x1ff, v0\nv_add_u32 v8, v12, v5\n"), "");
  EXPECT_EQ(known("v_add_f32 v12, 0, v4\nv_add_f32 v8, v12, v5\n"), "") << "-0 becomes 0";
  EXPECT_THAT(known("v_mov_b32 v12, s10\ns_nop 1\nv_readfirstlane_b32 s4, v12\ns_add_u32 s5, s4, "
                    "4\nv_mov_b32 v8, s5\n"),
              HasSubstr("s_add_u32 s5, s10, 4\n"));
}

TEST(KnownResults, NotWhereTheSourceOrTheCopyIsNeeded) {
  EXPECT_EQ(known("v_mov_b32 v12, v4\nv_add_f32 v4, v6, v5\nv_add_f32 v8, v12, v5\nv_add_f32 v9, v4, v5\n"),
            "")
      << "overwritten";
  EXPECT_EQ(known("v_mov_b32 v8, v4\nv_add_f32 v9, v8, v5\n"), "") << "live out";
  EXPECT_EQ(known("v_mov_b32 v12, v4\ns_or_b64 exec, exec, s[4:5]\nv_add_f32 v8, v12, v5\n"), "") << "EXEC";
  EXPECT_EQ(known("v_mov_b32 v12, v4\ns_nop 1\nv_add_f32_dpp v8, v12, v5 row_ror:1\n"), "") << "other lanes";
  EXPECT_EQ(known("v_add_u32_e64 v12, 0, v4 clamp\nv_mul_lo_u32 v8, v12, v5\n"), "") << "modifier";
  EXPECT_EQ(known("v_mov_b32 v12, v4\nv_mov_b32 v13, v5\nv_pk_mul_f32 v[8:9], v[12:13], v[12:13]\n"), "")
      << "pair";
}

TEST(RepeatedWork, IsDoneOnce) {
  const auto text =
      applied("repeated-work", "v_cvt_f32_u32 v8, v4\nv_cvt_f32_u32 v12, v4\nv_mul_f32 v9, v12, v5\n");
  EXPECT_THAT(text, HasSubstr("v_cvt_f32_u32_e32 v8, v4\nv_mul_f32_e32 v9, v8, v5\n"));
  EXPECT_THAT(applied("repeated-work", "v_mul_f32 v12, v4, v5\n"), Not(HasSubstr("v_mul_f32")));
  EXPECT_NE(applied("repeated-work", "v_mul_f32 v12, v4, v5\n"), "");
  EXPECT_THAT(
      applied("repeated-work",
              "s_mov_b32 s4, 0x1234\nv_add_u32 v8, s4, v4\ns_mov_b32 s5, 0x1234\nv_add_u32 v9, s5, v5\n"),
      HasSubstr("v_add_u32_e32 v9, s4, v5"));
}

TEST(RepeatedWork, NotWhereSomethingChanged) {
  // v8 and v9 are written here, so what around() puts there is for nobody and goes; nothing else does.
  for (const std::string body :
       {"v_cvt_f32_u32_e32 v8, v4\nv_add_u32_e32 v4, v4, v5\nv_cvt_f32_u32_e32 v9, v4\n",
        "v_mul_f32_e32 v8, v4, v5\nv_mul_f32_e64 v12, v4, -v5\nv_add_f32_e32 v9, v12, v4\n",
        "v_mul_f32_e32 v8, v4, v5\ns_or_b64 exec, exec, s[4:5]\nv_mul_f32_e32 v12, v4, v5\n"
        "v_add_f32_e32 v9, v12, v4\n",
        "v_mul_f32_e32 v8, v4, v5\nv_add_f32_e32 v8, v8, v6\nv_mul_f32_e32 v12, v4, v5\n" // the first is gone
        "v_add_f32_e32 v9, v12, v4\n"})
    EXPECT_THAT(applied("repeated-work", body), HasSubstr(body));
}

// Random arithmetic with copies, constants and repetitions in it.
std::string random_body(RandomStream& random) {
  const auto vgpr = [&] { return "v" + std::to_string(4 + random.below(10)); };
  const auto source = [&] { return random.below(4) == 0 ? std::to_string(random.below(3)) : vgpr(); };
  static constexpr const char* operations[] = {"v_add_u32", "v_and_b32", "v_or_b32",     "v_lshlrev_b32",
                                               "v_xor_b32", "v_sub_u32", "v_mul_lo_u32", "v_add_u32"};
  std::string text;
  for (int n = 0; n < 30; ++n) {
    if (random.below(3) == 0)
      text += "v_mov_b32 " + vgpr() + ", " + source() + "\n";
    else
      text +=
          std::string(operations[random.below(8)]) + " " + vgpr() + ", " + source() + ", " + vgpr() + "\n";
    if (random.below(12) == 0) text += "v_cmp_gt_u32 vcc, v4, v5\ns_and_saveexec_b64 s[4:5], vcc\n";
    if (random.below(12) == 0) text += "s_mov_b64 exec, -1\n";
  }
  return text + "s_mov_b64 exec, -1\n";
}

TEST(KnownResults, RandomCodeDoesTheSame) {
  RandomStream random(5);
  size_t known = 0, repeated = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string body = random_body(random);
    known += check_exactly("known-results", body);
    repeated += check_exactly("repeated-work", body);
    if (HasFailure()) FAIL() << body;
  }
  EXPECT_GT(known, 100U);
  EXPECT_GT(repeated, 60U);
}

} // namespace
} // namespace asmevo::search
