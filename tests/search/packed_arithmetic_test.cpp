#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::around;
using testing::Assembled;
using testing::check_exactly;
using ::testing::HasSubstr;

std::string applied(const std::string& body) {
  const Assembled k(around(body));
  const auto proposals = k.propose("packed-arithmetic");
  return proposals.empty() ? "" : k.text(&proposals[0]);
}

TEST(PackedArithmetic, HalvesOfPairs) {
  struct {
    std::string two, one;
  } const cases[] = {
      {"v_mul_f32 v8, v4, v6\nv_mul_f32 v9, v5, v7\n", "v_pk_mul_f32 v[8:9], v[4:5], v[6:7]\n"},
      {"v_mul_f32 v9, v5, v7\nv_mul_f32 v8, v6, v4\n", "v_pk_mul_f32 v[8:9], v[6:7], v[4:5]\n"},
      {"v_sub_f32 v8, v4, v7\nv_mov_b32 v10, v4\nv_sub_f32 v9, v5, v7\n",
       "v_pk_add_f32 v[8:9], v[4:5], v[6:7] op_sel:[0,1] neg_lo:[0,1] neg_hi:[0,1]\n"},
      {"v_fma_f32 v8, v4, v5, v6\nv_fma_f32 v9, v4, -v5, v7\n",
       "v_pk_fma_f32 v[8:9], v[4:5], v[4:5], v[6:7] op_sel:[0,1,0] op_sel_hi:[0,1,1] neg_hi:[0,1,0]\n"},
      {"v_fmac_f32 v8, v4, v5\nv_fmac_f32 v9, v4, v5\n",
       "v_pk_fma_f32 v[8:9], v[4:5], v[4:5], v[8:9] op_sel:[0,1,0] op_sel_hi:[0,1,1]\n"},
      {"v_mul_f32 v8, 0x3fb8aa3b, v4\nv_mul_f32 v9, 0x3fb8aa3b, v5\n",
       "s_mov_b32 s0, 0x3fb8aa3b\nv_pk_mul_f32 v[8:9], s[0:1], v[4:5] op_sel_hi:[0,1]\n"},
      {"v_add_f32 v8, s11, v4\nv_add_f32 v9, s10, v5\n",
       "v_pk_add_f32 v[8:9], s[10:11], v[4:5] op_sel:[1,0] op_sel_hi:[0,1]\n"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(applied(c.two), HasSubstr(c.one)) << c.two;
    EXPECT_EQ(check_exactly("packed-arithmetic", c.two, {}, true), 1U) << c.two;
    EXPECT_EQ(check_exactly("packed-arithmetic", c.two, testing::on("gfx90a"), true), 1U) << c.two;
  }
}

TEST(PackedArithmetic, NotWhereSomethingIsInTheWay) {
  EXPECT_EQ(applied("v_mul_f32 v9, v4, v6\nv_mul_f32 v10, v5, v7\n"), "") << "no aligned pair";
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_mul_f32 v9, v7, v7\n"), "") << "operands of two pairs";
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_mul_f32 v9, v8, v7\n"), "") << "the second takes the first";
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_add_f32 v10, v8, v8\nv_mul_f32 v9, v5, v7\n"), "")
      << "read between";
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_mov_b32 v4, v7\nv_mul_f32 v9, v5, v7\nv_mov_b32 v10, v4\n"), "");
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\ns_or_b64 exec, exec, s[4:5]\nv_mul_f32 v9, v5, v7\n"), "");
  EXPECT_EQ(applied("v_mul_f32_e64 v8, |v4|, v6\nv_mul_f32 v9, v5, v7\n"), "");
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_mul_f32_e64 v9, v5, v7 clamp\n"), "");
  EXPECT_EQ(applied("v_mul_f32 v8, v4, v6\nv_add_f32 v9, v5, v7\n"), "");
  const std::string same_half = "v_mul_f32 v8, v4, v6\nv_mul_f32 v9, v5, v6\n";
  EXPECT_NE(applied(same_half), "");
  EXPECT_EQ(
      applied("global_load_dword v7, v1, s[8:9]\n" + same_half + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v7\n"),
      "")
      << "v7 is on its way, and would be read with v6";
}

TEST(PackedArithmetic, RandomCodeDoesTheSame) {
  RandomStream random(3);
  const auto vgpr = [&] { return "v" + std::to_string(4 + random.below(8)); };
  const auto any = [&] {
    const uint64_t kind = random.below(8);
    return kind == 0 ? std::string("0x40490fdb") : kind == 1 ? std::string("2.0") : vgpr();
  };
  size_t found = 0;
  for (int round = 0; round < 80; ++round) {
    std::string body;
    for (int n = 0; n < 40; ++n) {
      static constexpr const char* operations[] = {"v_mul_f32", "v_add_f32", "v_sub_f32", "v_fmac_f32"};
      if (random.below(6) == 0)
        body += "v_fma_f32 " + vgpr() + ", " + vgpr() + ", -" + vgpr() + ", " + vgpr() + "\n";
      else if (const std::string operation = operations[random.below(4)]; random.below(3) == 0)
        body += operation + " " + vgpr() + ", " + any() + ", " + vgpr() + "\n";
      else // two that may become one, with something between
        body += fmt::format("{0} v{1}, v{2}, v{3}\nv_add_f32 {4}, {4}, {5}\n{0} v{6}, v{7}, v{8}\n",
                            operation, 4 + 2 * (n % 4), 4 + 2 * (n % 3), 5 + 2 * (n % 2), vgpr(), vgpr(),
                            5 + 2 * (n % 4), 5 + 2 * (n % 3), 5 + 2 * (n % 2));
      if (random.below(20) == 0) body += "v_cmp_gt_f32 vcc, v4, v5\ns_and_saveexec_b64 s[4:5], vcc\n";
    }
    found += check_exactly("packed-arithmetic", body + "s_mov_b64 exec, -1\n", {}, true);
    if (HasFailure()) FAIL() << body;
  }
  EXPECT_GT(found, 60U);
}

} // namespace
} // namespace asmevo::search
