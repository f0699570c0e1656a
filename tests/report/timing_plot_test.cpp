#include "report/timing_plot.h"

#include <gmock/gmock.h>

namespace asmevo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string plot_of(double modelled, const char* bound) {
  oracle::TimingResult r;
  r.row.kernel = "k<1>", r.row.size = "n\"&\n", r.row.bound = bound, r.row.measured = 1e-3;
  r.modelled = modelled;
  return timing_plot(std::span(&r, 1), "a & b");
}

// The picture's own dot, which has a text of its own where the legend's have none.
std::string dot_of(const std::string& svg) {
  const size_t end = svg.find("\"><title>");
  const size_t start = svg.rfind("<circle class=\"", end);
  return svg.substr(start, svg.find('"', start + 15) - start).substr(15);
}

TEST(TimingPlot, IsAPictureWithATitleAndAGroundOfItsOwn) {
  const std::string svg = plot_of(1.1e-3, "hbm");
  EXPECT_THAT(svg,
              AllOf(HasSubstr("role=\"img\">\n<title>a &amp; b</title>"), HasSubstr("<rect class=\"ground\""),
                    HasSubstr("prefers-color-scheme:dark"), HasSubstr("k&lt;1&gt; n&quot;&amp; : measured"),
                    HasSubstr("mean 10.0 %"), Not(HasSubstr("nan"))));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(TimingPlot, DotsAreOfTheKindsThatTheLegendNames) {
  EXPECT_EQ(dot_of(plot_of(1e-3, "hbm")), "dot");
  EXPECT_EQ(dot_of(plot_of(3e-3, "latency/l1")), "off");
  EXPECT_EQ(dot_of(plot_of(0.4e-3, "hbm")), "off");
  EXPECT_EQ(dot_of(plot_of(1e-3, "host")), "rest");
  EXPECT_EQ(dot_of(plot_of(0, "floor")), "off rest");
  const std::string svg = plot_of(1e-3, "hbm");
  for (const char* sign :
       {"class=\"dot\" cx", "class=\"off\" cx", "class=\"rest\" cx", "class=\"off rest\" cx"})
    EXPECT_THAT(svg, HasSubstr(sign));
  EXPECT_THAT(svg, AllOf(HasSubstr("off the scale"), HasSubstr("not scored")));
}

TEST(TimingPlot, OfNothingIsEmpty) {
  EXPECT_THAT(timing_plot({}, "none"), AllOf(HasSubstr("<title>none</title>"), Not(HasSubstr("nan"))));
}

} // namespace
} // namespace asmevo::report
