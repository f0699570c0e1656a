// The level 1 kernels of the suite against their references, as their launch files say: small and odd shapes,
// inputs that the page's own would not tell apart, and the search shapes, those that take longer with
// ASMEVO_FULL=1.
#include "reference/suite_level1.h"
#include "suite/suite_fixture.h"

#include <algorithm>
#include <functional>
#include <ostream>

namespace asmevo::suite {
namespace {

using reference::Values;
constexpr double epsilon = 1e-5, ulp = 0x1p-23;

/// Compares every output of a run with the reference.
struct Problem {
  std::string name;
  bool quick_search = true; // the search shape takes no more than a second or two
  bool trap = true;         // has a shape of that name
  std::function<void(const SuiteRun&)> check;
};

void PrintTo(const Problem& problem, std::ostream* out) {
  *out << problem.name;
}

Problem elementwise(const std::string& name, double (*f)(double), double relative, double absolute) {
  return {name, true, true, [=](const SuiteRun& run) {
            expect_close(run, "y", reference::map(run.values("x"), f), relative, absolute);
          }};
}

void check_depthwise_conv(const SuiteRun& run) {
  const size_t channels = run.size("channels");
  const Values y = reference::depthwise_conv(run.values("x"), run.values("w"), run.size("batch") * channels,
                                             channels, run.size("height"), run.size("width"));
  expect_close(run, "y", y, 4 * ulp, 4 * ulp);
}

void check_rms_norm(const SuiteRun& run) {
  const Values y = reference::rms_norm(run.values("x"), run.size("batch"), run.size("channels"),
                                       run.size("height") * run.size("width"), epsilon);
  expect_close(run, "y", y, 8 * ulp);
}

// Every element of these products is positive, and an f32 sum of them in parts is good to a few digits' worth
// of the square root of its length.
void check_matmul(const SuiteRun& run) {
  const size_t k = run.size("k");
  const Values c = reference::matmul(run.values("a"), run.values("b"), run.size("m"), run.size("n"), k);
  expect_close(run, "c", c, 4 * ulp * std::sqrt(static_cast<double>(k)));
}

void check_matmul_upper(const SuiteRun& run) {
  const size_t n = run.size("n");
  const Values a = reference::upper(run.values("a"), n), b = reference::upper(run.values("b"), n);
  expect_close(run, "c", reference::matmul(a, b, n, n, n), 4 * ulp * std::sqrt(static_cast<double>(n)));
}

void check_softmax(const SuiteRun& run) {
  expect_close(run, "y", reference::softmax(run.values("x"), run.size("columns")), 16 * ulp);
}

void check_group_norm(const SuiteRun& run) {
  const Values x = reference::normalised(run.values("x"), run.size("group_size"), epsilon);
  const size_t pixels = run.size("height") * run.size("width");
  expect_close(run, "y", reference::affine(x, run.values("gamma"), run.values("beta"), pixels), 32 * ulp,
               32 * ulp);
}

void check_layer_norm(const SuiteRun& run) {
  const Values x = reference::normalised(run.values("x"), run.size("size"), epsilon);
  expect_close(run, "y", reference::affine(x, run.values("gamma"), run.values("beta"), 1), 32 * ulp,
               32 * ulp);
}

void check_max_pool(const SuiteRun& run) {
  const size_t planes = run.size("batch") * run.size("channels");
  expect_close(run, "y", reference::max_pool(run.values("x"), planes, run.size("height"), run.size("width")),
               0);
}

void check_average_pool(const SuiteRun& run) {
  expect_close(run, "y", reference::average_pool(run.values("x"), run.size("length")), 2 * ulp, 2 * ulp);
}

void check_sum_rows(const SuiteRun& run) {
  const Values y =
      reference::sum_rows(run.values("x"), run.size("batch"), run.size("rows"), run.size("columns"));
  expect_close(run, "y", y, 16 * ulp, 16 * ulp);
}

void check_argmax_rows(const SuiteRun& run) {
  const Values y =
      reference::argmax_rows(run.values("x"), run.size("batch"), run.size("rows"), run.size("columns"));
  expect_close(run, "y", y, 0);
}

void check_cross_entropy(const SuiteRun& run) {
  const Values losses = reference::row_losses(run.values("z"), run.values("targets"), run.size("columns"));
  expect_close(run, "losses", losses, 8 * ulp, 8 * ulp);
  double sum = 0;
  for (const double loss : losses) sum += loss;
  expect_close(run, "mean", {sum / static_cast<double>(losses.size())}, 8 * ulp);
}

const std::vector<Problem>& problems() {
  static const std::vector<Problem> list = {
      elementwise(
          "level1_19_relu", [](double x) { return x < 0 ? 0 : x; }, 0, 0),
      elementwise("level1_88_new_gelu", reference::new_gelu, 16 * ulp, 1e-12),
      {"level1_84_depthwise_conv", true, true, check_depthwise_conv},
      {"level1_36_rms_norm", true, true, check_rms_norm},
      {"level1_14_matmul_upper", true, false, check_matmul_upper},
      {"level1_1_matmul", true, false, check_matmul},
      {"level1_6_matmul_large_k", true, false, check_matmul},
      {"level1_23_softmax", true, true, check_softmax},
      {"level1_35_group_norm", true, true, check_group_norm},
      {"level1_40_layer_norm", true, true, check_layer_norm},
      {"level1_42_max_pool", true, true, check_max_pool},
      {"level1_44_average_pool", true, true, check_average_pool},
      {"level1_47_sum_rows", false, true, check_sum_rows},
      {"level1_51_argmax_rows", false, true, check_argmax_rows},
      {"level1_95_cross_entropy", true, true, check_cross_entropy},
  };
  return list;
}

void check(const Problem& problem, const std::string& shape, const std::string& target = "gfx942") {
  const SuiteRun run({.name = problem.name, .shape = shape, .target = target});
  ASSERT_TRUE(run.completed()) << run.label() << ": " << run.error();
  problem.check(run);
}

class Level1 : public ::testing::TestWithParam<Problem> {};

TEST_P(Level1, TinyOnEveryTarget) {
  for (const char* target : {"gfx942", "gfx90a", "gfx950"}) check(GetParam(), "tiny", target);
}
TEST_P(Level1, Odd) {
  check(GetParam(), "odd");
}
TEST_P(Level1, Trap) {
  if (GetParam().trap) check(GetParam(), "trap");
}
TEST_P(Level1, Search) {
  if (GetParam().quick_search || full_run()) check(GetParam(), "search");
}

void make_x_random_bits(oracle::LaunchSpec& spec) {
  for (oracle::BufferSpec& buffer : spec.buffers)
    if (buffer.name == "x") {
      buffer.init.emplace();
      buffer.init->kind = "random_bits";
    }
}

TEST(Level1Nan, StaysInReluAndIsLargestInArgmax) {
  for (const Problem& problem : problems())
    if (problem.name == "level1_19_relu" || problem.name == "level1_51_argmax_rows") {
      const SuiteRun run({.name = problem.name, .shape = "odd", .change = make_x_random_bits});
      ASSERT_TRUE(run.completed()) << run.label() << ": " << run.error();
      const Values x = run.values("x");
      EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double value) { return std::isnan(value); }));
      problem.check(run);
    }
}

INSTANTIATE_TEST_SUITE_P(Suite, Level1, ::testing::ValuesIn(problems()),
                         [](const auto& test) { return test.param.name.substr(7); });

} // namespace
} // namespace asmevo::suite
