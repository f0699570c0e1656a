// The tables of published figures, and what the cycle model makes of them.
#include "full_run.h"
#include "oracle/matrix_figures.h"
#include "oracle/modelled_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace asmevo::oracle {
namespace {

const std::filesystem::path suite = std::string(ASMEVO_SOURCE_DIR) + "/kernels/microkernels";

std::vector<PublishedFigure> figures() {
  auto read = read_figures(suite / "figures.csv");
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(std::vector<PublishedFigure>{});
}

std::vector<std::string> machines_with_figures() {
  std::set<std::string> names;
  for (const PublishedFigure& f : figures()) names.insert(f.machine);
  return {names.begin(), names.end()};
}

class Figures : public ::testing::TestWithParam<std::string> {};

// One machine of each target; all with --full.
bool is_asked_for(const std::string& machine) {
  return test::full_run() || machine == "mi300x" || machine == "mi355x" || machine == "mi250x";
}

TEST_P(Figures, AreMetWhereTheirSourcesAgree) {
  if (!is_asked_for(GetParam())) GTEST_SKIP() << "only with ./check --full";
  const FigureOptions options{.suite = suite,
                              .objects = std::string(ASMEVO_BINARY_DIR) + "/kernels/microkernels",
                              .machine = GetParam()};
  const auto rows = model_figures(figures(), options);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_FALSE(rows->empty());
  for (const ModelledFigure& r : *rows)
    EXPECT_FALSE(r.is_off()) << r.figure.measures << ": " << r.modelled << ", not "
                             << r.figure.published->value << " " << name(r.figure.unit);
}

INSTANTIATE_TEST_SUITE_P(Machines, Figures, ::testing::ValuesIn(machines_with_figures()),
                         [](const auto& test) { return test.param; });

class MatrixFigures : public ::testing::TestWithParam<std::string> {};

TEST_P(MatrixFigures, AreThePublishedCyclesAndReachThePeakOfEachType) {
  if (!is_asked_for(GetParam())) GTEST_SKIP() << "only with ./check --full";
  const auto model = timing::MachineModel::find(GetParam());
  ASSERT_TRUE(model);
  const auto rates = read_matrix_rates(suite / "matrix.csv");
  ASSERT_TRUE(rates) << rates.error().message;
  const auto rows = model_matrix_instructions(*model, *rates);
  ASSERT_TRUE(rows) << rows.error().message;
  std::map<std::string, double> best; // share of the peak, by type
  size_t met = 0;
  for (const MatrixFigure& r : *rows) {
    ASSERT_TRUE(r.published) << r.opcode << " is not in the table";
    EXPECT_FALSE(r.is_off()) << r.opcode << ": " << r.modelled.independent << ", " << r.modelled.accumulating
                             << ", " << r.modelled.chained;
    double& share = best[r.published->type];
    share = std::max(share, r.rate() / r.published->peak);
    ++met;
  }
  for (const auto& [type, share] : best) {
    EXPECT_GT(share, 1 - figure_tolerance) << type;
    EXPECT_LT(share, 1 + figure_tolerance) << type;
  }
  const auto of_target = std::ranges::count(*rates, model->target().name(), &PublishedMatrixRate::target);
  EXPECT_EQ(met, static_cast<size_t>(of_target)) << "the table has instructions that the target has not";
}

INSTANTIATE_TEST_SUITE_P(Machines, MatrixFigures,
                         ::testing::Values("mi210", "mi250x", "mi300x", "mi300a", "mi308x", "mi355x"),
                         [](const auto& test) { return test.param; });

// --- the tables' form

const std::string heading =
    "file,kernel,shapes,work,against,caches,measures,unit,machine,published,low,high,source\n";

std::string error_of(const std::string& row) {
  const auto read = parse_figures(heading + row + "\n", "f.csv");
  return read ? "" : read.error().message;
}

TEST(PublishedFigures, ARowIsAFigureForEachOfItsMachines) {
  const auto read =
      parse_figures(heading + "stream,read,short long,4 * n,,cold,a stream,TB/s,mi300x mi300a,4,3.9,4.4,me\n"
                              "x,k,one,,,warm,a launch,us,mi300a,,,,nobody\n"
                              "x,k,a b,,k c d,warm,turns,ratio,mi300a,2,2,2,me\n",
                    "f.csv");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 4U);
  const PublishedFigure& f = (*read)[1];
  EXPECT_EQ(f.machine, "mi300a");
  EXPECT_EQ(f.launches.short_shape, "short");
  EXPECT_EQ(f.launches.long_shape, "long");
  EXPECT_TRUE(f.cold);
  EXPECT_FALSE(f.sources_agree());
  EXPECT_FALSE((*read)[2].published);
  EXPECT_EQ((*read)[2].launches.short_shape, "");
  EXPECT_EQ((*read)[3].against->long_shape, "d");
  EXPECT_TRUE((*read)[3].sources_agree());
}

TEST(PublishedFigures, MistakesAreNamedWithLineAndColumn) {
  EXPECT_EQ(error_of("x,k,one,,,warm,m,furlongs,mi300a,1,1,1,me"), "f.csv:2: unit: 'furlongs': no such unit");
  EXPECT_EQ(error_of("x,k,one,,,hot,m,us,mi300a,1,1,1,me"), "f.csv:2: caches: 'hot': neither warm nor cold");
  EXPECT_EQ(error_of("x,k,one,,,warm,m,us,mi300b,1,1,1,me"),
            "f.csv:2: machine: 'mi300b': no such machine model; did you mean 'mi300a'?");
  EXPECT_EQ(error_of("x,k,one,,,warm,m,us,mi300a,1,2,3,me"),
            "f.csv:2: published: '1': not between `low` and `high`");
  EXPECT_EQ(error_of("x,k,one,,,warm,m,us,mi300a,1,,,me"), "f.csv:2: low: '': goes with `published`");
  EXPECT_EQ(error_of("x,k,one,,,warm,m,us,mi300a,1,one,1,me"), "f.csv:2: low: 'one' is not a number");
  EXPECT_EQ(error_of("x,k,a b c,,,warm,m,us,mi300a,1,1,1,me"),
            "f.csv:2: shapes: 'a b c': one shape, or a short and a long one");
  EXPECT_EQ(error_of("x,k,a b,,,warm,m,ratio,mi300a,1,1,1,me"),
            "f.csv:2: against: '': a kernel, a short and a long shape");
  EXPECT_EQ(error_of("x,k,a b,,k c d,warm,m,us,mi300a,1,1,1,me"),
            "f.csv:2: against: 'k c d': only a ratio is against something");
  EXPECT_EQ(error_of("../x,k,a,,,warm,m,us,mi300a,1,1,1,me"),
            "f.csv:2: file: '../x': not the name of a file");
  EXPECT_EQ(error_of("x,k, ,,,warm,m,us,mi300a,1,1,1,me"),
            "f.csv:2: shapes: ' ': one shape, or a short and a long one");
  EXPECT_EQ(error_of("x,k,a,,,warm,m,us, ,1,1,1,me"), "f.csv:2: machine: ' ': missing");
  EXPECT_EQ(error_of("x,k,a,,,warm,m,us,mi300a,1,1,1,"), "f.csv:2: source: '': missing");
}

TEST(PublishedFigures, AFigureThatCannotBeModelledIsNamed) {
  const auto read = parse_figures(heading + "empty,empty,none,,,warm,m,us,mi300a,1,1,1,me\n", "f.csv");
  ASSERT_TRUE(read);
  const auto rows = model_figures(
      *read, {.suite = suite, .objects = std::string(ASMEVO_BINARY_DIR) + "/kernels/microkernels"});
  ASSERT_FALSE(rows);
  EXPECT_TRUE(rows.error().message.starts_with("figure of line 2 (mi300a): ")) << rows.error().message;
}

TEST(ModelledFigures, WhereSourcesDisagreeOnlyWhatIsOutsideTheirRangeCounts) {
  ModelledFigure f;
  EXPECT_FALSE(f.deviation());
  f.figure.published = PublishedFigure::Value{100, 100, 104};
  f.modelled = 104;
  EXPECT_NEAR(*f.deviation(), 0.04, 1e-12);
  EXPECT_FALSE(f.is_off());
  f.modelled = 106;
  EXPECT_TRUE(f.is_off());
  f.figure.published->high = 200;
  EXPECT_EQ(*f.deviation(), 0);
  f.modelled = 220;
  EXPECT_NEAR(*f.deviation(), 0.1, 1e-12);
  EXPECT_FALSE(f.is_off());
}

TEST(MatrixRates, MistakesAreNamed) {
  const std::string top = "target,opcode,type,flops,cycles,peak,source\n";
  const auto error = [&](const std::string& row) {
    const auto read = parse_matrix_rates(top + row, "m.csv");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(error("gfx1,v,t,1,1,1,me\n"), "m.csv:2: target: 'gfx1' is none");
  EXPECT_EQ(error("gfx942,v,t,1,x,1,me\n"), "m.csv:2: cycles: 'x' is not a number");
  EXPECT_EQ(error("gfx942,v,t,0,1,1,me\n"), "m.csv:2: flops, cycles and peak are above 0");
  EXPECT_EQ(error("gfx942,v,t,1,1,1,me\ngfx942,v,t,1,1,1,me\n"),
            "m.csv:3: opcode: 'v' stands twice for gfx942");
}

} // namespace
} // namespace asmevo::oracle
