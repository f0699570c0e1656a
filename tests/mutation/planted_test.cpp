// Planted defects of docs/sanitizer.md: of each kernel of the suite a few, all of them with ASMEVO_FULL=1.
#include "full_run.h"
#include "mutation/planted.h"
#include "reference/suite.h"
#include "suite/kernel_name.h"

#include <gtest/gtest.h>

namespace asmevo::mutation {
namespace {

class PlantedDefects : public ::testing::TestWithParam<reference::SuiteKernel> {};

TEST_P(PlantedDefects, AreFoundAndTheKernelHasNone) {
  const reference::SuiteKernel& kernel = GetParam();
  const std::string target = kernel.targets.front();
  const auto bench =
      open_planted(fmt::format("{}/kernels/suite/{}.{}.co", ASMEVO_BINARY_DIR, kernel.name, target),
                   fmt::format("{}/kernels/suite/{}.toml", ASMEVO_SOURCE_DIR, kernel.name), kernel.k0);
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_TRUE(bench->same_delayed);
  for (const sanitizer::Defect& d : bench->defects) EXPECT_TRUE(d.possible) << d.message();
  const std::vector<Planted> all = planted_defects(*bench->k0, bench->kernel);
  ASSERT_FALSE(all.empty());
  const size_t some = test::full_run() ? all.size() : 4;
  size_t counted = 0;
  for (size_t n = 0; n < some; ++n) {
    const Planted& planted = all[n * all.size() / some];
    const PlantedVerdict verdict = judge(*bench, planted);
    EXPECT_TRUE(verdict.built) << planted.text;
    EXPECT_TRUE(!verdict.counts() || verdict.found()) << planted.text;
    counted += verdict.counts() ? 1 : 0;
  }
  if (test::full_run()) {
    EXPECT_GT(counted, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, PlantedDefects, ::testing::ValuesIn(reference::suite_kernels()),
                         [](const auto& test) { return test.param.name; });

} // namespace
} // namespace asmevo::mutation
