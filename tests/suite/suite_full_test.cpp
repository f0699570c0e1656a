// The kernels of the suite at their full shapes, of which some workgroups of K0 run: the corners of the grid,
// so that the far end of buffers of gigabytes is reached, and others in between. Pages of the buffers exist
// where they are touched only.
#include "suite/suite_fixture.h"

namespace asmevo::suite {
namespace {

constexpr uint64_t seed = 1;
constexpr size_t quick = 2, thorough = 12; // workgroups; a grid has up to eight corners

reference::Workgroup coordinates(uint64_t linear, const reference::Workgroup& grid) {
  return {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
}

/// Corners and others with ASMEVO_FULL=1, else the last one and one in between.
std::vector<uint64_t> chosen(const reference::Workgroup& grid) {
  std::vector<uint64_t> sample = oracle::sample_workgroups({grid[0], grid[1], grid[2]}, thorough, seed);
  if (full_run() || sample.size() <= quick) return sample;
  return {sample[sample.size() / 2], sample.back()};
}

class SuiteFull : public ::testing::TestWithParam<SuiteKernel> {};

TEST_P(SuiteFull, SampledWorkgroups) {
  const SuiteKernel& kernel = GetParam();
  SuiteRun run(kernel.name, "full", kernel.targets.front());
  const Status loaded = run.load();
  ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
  const reference::Workgroup grid = run.grid_of(kernel.k0);
  SuiteRun::Workgroups workgroups;
  std::vector<reference::Sample> samples;
  for (const uint64_t linear : chosen(grid)) {
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

INSTANTIATE_TEST_SUITE_P(Kernels, SuiteFull, ::testing::ValuesIn(reference::suite_kernels()), test_name);

} // namespace
} // namespace asmevo::suite
