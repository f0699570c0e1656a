#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::applied;
using testing::check_exactly;
using testing::check_on_floats;
using ::testing::HasSubstr;
using ::testing::Not;

std::string integers(const std::string& body) {
  return applied("fused-integers", body);
}
std::string floats(const std::string& body) {
  return applied("fused-multiply-add", body);
}

TEST(FusedIntegers, TwoBecomeOne) {
  struct {
    std::string pair, one;
  } const cases[] = {
      {"v_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v12, v5\n", "v_lshl_add_u32 v8, v4, 2, v5\n"},
      {"v_lshlrev_b32 v12, v6, v4\nv_or_b32 v8, v5, v12\n", "v_lshl_or_b32 v8, v4, v6, v5\n"},
      {"v_add_u32 v12, v4, v5\nv_add_u32 v8, 7, v12\n", "v_add3_u32 v8, v4, v5, 7\n"},
      {"v_add_u32 v12, v4, v5\nv_lshlrev_b32 v8, 3, v12\n", "v_add_lshl_u32 v8, v4, v5, 3\n"},
      {"v_and_b32 v12, 15, v4\nv_or_b32 v8, v12, v5\n", "v_and_or_b32 v8, 15, v4, v5\n"},
      {"v_or_b32 v12, v6, v4\nv_or_b32 v8, v12, v5\n", "v_or3_b32 v8, v6, v4, v5\n"},
      {"v_xor_b32 v12, v6, v4\nv_add_u32 v8, v12, v5\n", "v_xad_u32 v8, v6, v4, v5\n"},
      {"v_mul_lo_u32 v8, v4, 16\n", "v_lshlrev_b32_e64 v8, 4, v4\n"},
      {"v_and_b32 v12, 0xffff, v4\nv_mul_lo_u32 v8, v12, v0\n", "v_mul_u32_u24_e64 v8, v12, v0\n"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(integers(c.pair), HasSubstr(c.one)) << c.pair;
    EXPECT_GE(check_exactly("fused-integers", c.pair), 1U) << c.pair;
  }
}

TEST(FusedIntegers, NotWhereTheFirstResultOrItsSourcesChange) {
  EXPECT_EQ(integers("v_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v12, v5\nv_mov_b32 v9, v12\n"), "")
      << "read twice";
  EXPECT_EQ(integers("v_lshlrev_b32 v9, 2, v4\nv_add_u32 v8, v9, v5\n"), "") << "live out";
  EXPECT_EQ(integers("v_lshlrev_b32 v12, 2, v4\nv_mov_b32 v4, v6\nv_add_u32 v8, v12, v4\n"), "")
      << "overwritten";
  EXPECT_EQ(integers("v_lshlrev_b32 v12, 2, v4\ns_or_b64 exec, exec, s[4:5]\nv_add_u32 v8, v12, v5\n"), "");
  EXPECT_EQ(integers("v_lshlrev_b32 v12, 2, v4\nv_add_u32_e64 v8, v12, v5 clamp\n"), "");
  EXPECT_EQ(integers("v_lshlrev_b32 v12, 2, v4\nv_add_u32 v8, v12, v12\n"), "");
  EXPECT_EQ(integers("v_lshlrev_b32 v12, s10, v4\nv_add_u32 v8, s11, v12\n"), "") << "two scalars";
  EXPECT_EQ(integers("v_and_b32 v12, 0x1ffffff, v4\nv_mul_lo_u32 v8, v12, v0\n"), "") << "25 bits";
}

TEST(FusedMultiplyAdd, TwoBecomeOne) {
  struct {
    std::string pair, one;
  } const cases[] = {
      {"v_mul_f32 v12, v4, v5\nv_add_f32 v8, v12, v6\n", "v_fma_f32 v8, v4, v5, v6\n"},
      {"v_mul_f32 v12, v4, v5\nv_sub_f32 v8, v12, v6\n", "v_fma_f32 v8, v4, v5, -v6\n"},
      {"v_mul_f32 v12, v4, v5\nv_sub_f32 v8, v6, v12\n", "v_fma_f32 v8, -v4, v5, v6\n"},
      {"v_mul_f32_e64 v12, -v4, |v5|\nv_add_f32_e64 v8, -v12, |v6|\n", "v_fma_f32 v8, v4, |v5|, |v6|\n"},
      {"v_pk_mul_f32 v[12:13], v[4:5], v[6:7]\nv_pk_add_f32 v[8:9], v[12:13], v[6:7]\n",
       "v_pk_fma_f32 v[8:9], v[4:5], v[6:7], v[6:7]\n"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(floats(c.pair), HasSubstr(c.one)) << c.pair;
    EXPECT_EQ(check_on_floats("fused-multiply-add", c.pair, -10, 10), 1U) << c.pair;
  }
  EXPECT_EQ(floats("v_mul_f32 v12, v4, v5\nv_add_f32_e64 v8, |v12|, v6\n"), "");
  EXPECT_EQ(floats("v_mul_f32_e64 v12, v4, v5 mul:2\nv_add_f32 v8, v12, v6\n"), "");
  EXPECT_EQ(floats("v_mul_f32 v9, v4, v5\nv_add_f32 v8, v9, v6\n"), "");
}

const std::string differences = R"(
  v_sub_f32 v12, v4, v7
  v_sub_f32 v5, v5, v7
  v_mul_f32 v8, 0x3fb8aa3b, v12
  v_sub_f32 v13, v6, v7
  v_mul_f32 v9, 0x3fb8aa3b, v5
  v_mul_f32 v10, 0x3fb8aa3b, v13
)";

TEST(FusedMultiplyAdd, ScaledDifferencesShareAProduct) {
  const std::string text = floats(differences);
  EXPECT_THAT(text, HasSubstr("v_mul_f32_e32 v0, 0xbfb8aa3b, v7\nv_fmamk_f32 v8, v4, 0x3fb8aa3b, v0\n"));
  EXPECT_THAT(text, HasSubstr("v_fmamk_f32 v10, v6, 0x3fb8aa3b, v0\n"));
  EXPECT_THAT(text, Not(HasSubstr("v_sub")));
  EXPECT_EQ(check_on_floats("fused-multiply-add", differences, -30, 30), 1U);
  EXPECT_EQ(check_on_floats("fused-multiply-add", differences, -30, 30, testing::on("gfx90a")), 1U);
  // Another value to take away, from the second one on.
  std::string other = differences;
  other.insert(other.find("  v_sub_f32 v13"), "  v_add_f32 v7, v7, v7\n");
  EXPECT_EQ(floats(other), "");
}

} // namespace
} // namespace asmevo::search
