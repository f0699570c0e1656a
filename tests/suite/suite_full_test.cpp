// The kernels of the suite at their full shapes, of which some workgroups of K0 run: the first, the last and
// one in between, with ASMEVO_FULL=1 all corners of the grid and more in between, so that the far end of
// buffers of gigabytes is reached. Pages of the buffers exist where they are touched only.
#include "suite/suite_fixture.h"

namespace asmevo::suite {
namespace {

constexpr uint64_t seed = 1;
constexpr size_t quick = 3, thorough = 12; // workgroups; a grid has up to eight corners

reference::Workgroup coordinates(uint64_t linear, const reference::Workgroup& grid) {
  return {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
}

/// Corners and others if `thoroughly`, else the first, the last and one in between.
std::vector<uint64_t> chosen(const reference::Workgroup& grid, bool thoroughly) {
  std::vector<uint64_t> sample = oracle::sample_workgroups({grid[0], grid[1], grid[2]}, thorough, seed);
  if (thoroughly || sample.size() <= quick) return sample;
  return {sample.front(), sample[sample.size() / 2], sample.back()};
}

void check(const SuiteKernel& kernel, const std::string& target, bool thoroughly) {
  SuiteRun run(kernel.name, "full", target);
  const Status loaded = run.load();
  ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
  const reference::Workgroup grid = run.grid_of(kernel.k0);
  SuiteRun::Workgroups workgroups;
  std::vector<reference::Sample> samples;
  for (const uint64_t linear : chosen(grid, thoroughly)) {
    samples.push_back(kernel.workgroup(run.inputs(), coordinates(linear, grid)));
    workgroups[kernel.k0].insert(linear);
    for (const auto& [before, own] : samples.back().before) workgroups[before].insert(own.begin(), own.end());
  }
  const Status completed = run.run(&workgroups);
  ASSERT_TRUE(completed) << run.label() << ": " << completed.error().message;
  size_t compared = 0;
  for (const reference::Sample& sample : samples) {
    expect(run, sample.expected);
    for (const reference::Output& output : sample.expected.outputs) {
      compared += output.values.size();
      expect_close_bounds(run, output);
    }
  }
  EXPECT_GT(compared, 0U) << run.label();
}

class SuiteFull : public ::testing::TestWithParam<SuiteKernel> {};

TEST_P(SuiteFull, SampledWorkgroups) {
  const std::vector<std::string>& targets = GetParam().targets;
  check(GetParam(), targets.front(), full_run());
  for (size_t i = 1; i < targets.size() && full_run(); ++i) check(GetParam(), targets[i], false);
}

INSTANTIATE_TEST_SUITE_P(Kernels, SuiteFull, ::testing::ValuesIn(reference::suite_kernels()), test_name);

} // namespace
} // namespace asmevo::suite
