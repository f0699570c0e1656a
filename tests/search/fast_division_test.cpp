#include "rule_bench.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using testing::around;
using testing::Assembled;
using testing::check_on_floats;
using ::testing::HasSubstr;
using ::testing::Not;

// v8 = v4 / v5
const std::string division = R"(
  v_div_scale_f32 v12, s[2:3], v5, v5, v4
  v_rcp_f32_e32 v13, v12
  v_div_scale_f32 v14, vcc, v4, v5, v4
  v_fma_f32 v15, -v12, v13, 1.0
  v_fmac_f32_e32 v13, v15, v13
  v_mul_f32_e32 v15, v14, v13
  v_fma_f32 v16, -v12, v15, v14
  v_fmac_f32_e32 v15, v16, v13
  v_fma_f32 v12, -v12, v15, v14
  v_div_fmas_f32 v12, v12, v13, v15
  v_div_fixup_f32 v8, v12, v5, v4
)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(FastDivision, BecomesAReciprocal) {
  const Assembled k(around(division));
  const auto proposals = k.propose("fast-division");
  ASSERT_EQ(proposals.size(), 2U) << "with and without a correction";
  EXPECT_FALSE(proposals[0].same_results);
  const std::string quick = k.text(&proposals[0]), close = k.text(&proposals[1]);
  EXPECT_THAT(quick, HasSubstr("v_rcp_f32_e32 v12, v5\ns_nop 0\nv_mul_f32_e64 v8, v4, v12\nglobal_store"));
  EXPECT_THAT(quick, Not(HasSubstr("v_div")));
  EXPECT_THAT(close, HasSubstr("v_fma_f32 v14, -v5, v13, v4\nv_fma_f32 v8, v14, v12, v13\n"));
}

TEST(FastDivision, OneOverXIsOneInstruction) {
  std::string text = division;
  for (const auto& [from, to] : {std::pair{"v5, v5, v4", "v5, v5, 1.0"},
                                 {"v4, v5, v4", "1.0, v5, 1.0"},
                                 {"v8, v12, v5, v4", "v8, v12, v5, 1.0"}})
    text = replaced(text, from, to);
  const Assembled k(around(text));
  const auto proposals = k.propose("fast-division");
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_THAT(k.text(&proposals[0]), HasSubstr("s_waitcnt vmcnt(0)\nv_rcp_f32_e32 v8, v5\nglobal_store"));
}

TEST(FastDivision, StepsThatOthersReadStay) {
  const Assembled k(around(division + "v_mov_b32_e32 v9, v13\n"));
  const auto proposals = k.propose("fast-division");
  ASSERT_FALSE(proposals.empty());
  const std::string text = k.text(&proposals[0]);
  EXPECT_THAT(text, HasSubstr("v_fmac_f32_e32 v13, v15, v13"));
  EXPECT_THAT(text, HasSubstr("v_div_scale_f32 v12, s[2:3], v5, v5, v4"));
  EXPECT_THAT(text, Not(HasSubstr("v_div_fmas")));
}

TEST(FastDivision, OnlyOfWhatWasScaled) {
  // The dividend is another one by the time of v_div_fixup.
  EXPECT_TRUE(Assembled(around(replaced(division, "v_div_fmas", "v_add_f32 v4, v4, v4\nv_div_fmas")))
                  .propose("fast-division")
                  .empty());
  EXPECT_TRUE(Assembled(around(replaced(division, "v8, v12, v5, v4", "v8, v12, v6, v4")))
                  .propose("fast-division")
                  .empty());
  EXPECT_TRUE(Assembled(around(replaced(division, "v8, v12, v5, v4", "v8, v12, -v5, v4")))
                  .propose("fast-division")
                  .empty());
  // EXEC changes on the way: other lanes than those that v_div_scale saw may be on.
  EXPECT_TRUE(Assembled(around(replaced(division, "v_div_fmas", "s_or_b64 exec, exec, s[4:5]\nv_div_fmas")))
                  .propose("fast-division")
                  .empty());
}

TEST(FastDivision, GivesTheSameUpToRounding) {
  EXPECT_EQ(check_on_floats("fast-division", division, -100, 100), 2U);
  EXPECT_EQ(check_on_floats("fast-division", division, 0.001F, 1e6F, testing::on("gfx90a")), 2U);
  // In the register of the dividend, mixed with other work, twice.
  std::string second = division;
  for (size_t at = 0; (at = second.find("v1", at)) != std::string::npos; at += 3) second.replace(at, 2, "v2");
  second = replaced(second, "v8, v22, v5, v4", "v9, v22, v5, v4");
  EXPECT_EQ(check_on_floats("fast-division", division + second, -9, 9), 6U) << "two alone, and both";
}

} // namespace
} // namespace asmevo::search
