// The paper's table of a batch, from figures that are made up.
#include "report/search_table.h"

#include <gmock/gmock.h>

namespace asmevo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BatchRow row(const std::string& kernel, double speedup, uint64_t attempts, uint64_t commits) {
  BatchRow r;
  r.kernel = kernel, r.state = "done", r.device = "modelled (mi308x)";
  r.verified = speedup > 1, r.speedup = speedup, r.exit_code = r.verified ? 0 : 1;
  if (r.verified) r.structural = speedup * 0.99;
  r.tally.attempts = attempts;
  r.tally.outcomes[static_cast<size_t>(gate::Outcome::Committed)] = commits;
  r.busiest_unit = "HBM", r.busiest_share = 0.97;
  r.why_not = r.verified ? "" : "28 insufficient_speedup | nothing <else>";
  return r;
}

BatchSummary summary() {
  BatchSummary s;
  s.rows = {row("level1_19_relu.gfx942", 1, 10, 0), row("level1_1_matmul.gfx942", 1.21, 20, 2),
            row("level2_46_conv_tanh_avgpool.gfx942", 1.6, 30, 3),
            row("level2_12_matmul_scale_leaky.gfx942", 1, 40, 0)};
  return s;
}

TEST(SearchTable, GroupsAsThePaperHasThem) {
  const auto groups = search_groups(summary());
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "level1");
  EXPECT_EQ(groups[0].improved, 1U);
  EXPECT_NEAR(groups[0].mean, 1.1, 1e-12);
  EXPECT_NEAR(groups[0].median, 1.105, 1e-12);
  EXPECT_EQ(groups[0].far, 0U);
  const SearchGroup& all = groups[2];
  EXPECT_EQ(all.name, "all");
  EXPECT_EQ(all.kernels, 4U);
  EXPECT_EQ(all.improved, 2U);
  EXPECT_NEAR(all.mean, std::pow(1.21 * 1.6, 0.25), 1e-12);
  EXPECT_NEAR(all.median, 1.105, 1e-12);
  EXPECT_EQ(all.largest, 1.6);
  EXPECT_EQ(all.far, 1U);
  EXPECT_EQ(all.attempts, 25);
  EXPECT_EQ(all.commits, 1.25);
  EXPECT_EQ(all.commit_rate, 0.05);
}

// What has no figures yet does not count as 1.
TEST(SearchTable, WhatIsOpenIsLeftOut) {
  BatchSummary s = summary();
  s.rows[0].exit_code.reset(), s.rows[0].state = "waiting";
  s.rows[1].exit_code = 2, s.rows[1].state = "failed";
  const auto groups = search_groups(s);
  ASSERT_EQ(groups.size(), 1U) << "of one level";
  EXPECT_EQ(groups[0].kernels, 2U);
  EXPECT_THAT(search_table_text(s), HasSubstr("2 kernels have not come to their end"));
}

TEST(SearchTable, TextAndPicture) {
  const std::string text = search_table_text(summary()), svg = search_chart(summary());
  EXPECT_THAT(text, HasSubstr("**modelled (mi308x)**"));
  EXPECT_THAT(text,
              HasSubstr("| level2_46_conv_tanh_avgpool.gfx942 | 1.600 | 1.584 | HBM | 97 % | 30 | 3 |"));
  EXPECT_LT(text.find("level2_46"), text.find("level1_1_matmul")) << "the largest first";
  EXPECT_THAT(text, Not(HasSubstr("speedup | nothing"))) << "a bar ends a cell";
  for (const char* word : {">conv<", ">tanh<", ">matmul<", "modelled (mi308x)"})
    EXPECT_THAT(svg, HasSubstr(word));
  EXPECT_THAT(svg, Not(HasSubstr(">level1<")));
}

TEST(SearchTable, NothingIsNothing) {
  const BatchSummary none;
  EXPECT_EQ(search_groups(none).size(), 1U);
  EXPECT_EQ(search_groups(none)[0].mean, 1);
  EXPECT_THAT(search_chart(none), HasSubstr("</svg>"));
}

} // namespace
} // namespace asmevo::report
