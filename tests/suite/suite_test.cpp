// The kernels of the suite against their references, as their launch files say: small, odd and search shapes,
// and inputs that the page's own would not tell apart.
#include "suite/suite_fixture.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::suite {
namespace {

constexpr uint64_t most_tiny_instructions = 100'000;

void check(const SuiteKernel& kernel, const std::string& shape, const std::string& target) {
  SuiteRun run(kernel.name, shape, target);
  const Status loaded = run.load();
  ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
  const Status completed = run.run();
  ASSERT_TRUE(completed) << run.label() << ": " << completed.error().message;
  if (shape == "tiny") {
    EXPECT_LE(run.instructions(), most_tiny_instructions) << run.label();
  }
  expect(run, kernel.launch(run.inputs()));
}

class Suite : public ::testing::TestWithParam<SuiteKernel> {};

TEST_P(Suite, TinyOnEveryTarget) {
  for (const std::string& target : GetParam().targets) check(GetParam(), "tiny", target);
}
TEST_P(Suite, OddOnEveryTarget) {
  for (const std::string& target : GetParam().targets) check(GetParam(), "odd", target);
}
TEST_P(Suite, Trap) {
  if (GetParam().has_shape("trap")) check(GetParam(), "trap", GetParam().targets.front());
}
TEST_P(Suite, Search) {
  check(GetParam(), "search", GetParam().targets.front());
}

TEST_P(Suite, BoundsRejectZerosAndResultsTwoPercentOff) {
  for (const char* shape : {"odd", "search"}) {
    SuiteRun run(GetParam().name, shape, GetParam().targets.back());
    const Status loaded = run.load();
    ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
    for (const reference::Output& output : GetParam().launch(run.inputs()).outputs)
      expect_close_bounds(run, output);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Suite, ::testing::ValuesIn(reference::suite_kernels()), test_name);

TEST(SuiteKernels, AreThoseWithALaunchFile) {
  std::set<std::string> files, kernels;
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/kernels/suite"))
    if (entry.path().extension() == ".toml") files.insert(entry.path().stem().string());
  for (const SuiteKernel& kernel : reference::suite_kernels())
    EXPECT_TRUE(kernels.insert(kernel.name).second) << kernel.name;
  EXPECT_EQ(files, kernels);
  EXPECT_EQ(reference::find_suite_kernel("level1_19_relu")->k0, "relu");
  EXPECT_EQ(reference::find_suite_kernel("relu"), nullptr);
}

TEST(SuiteKernels, HaveTheShapesAndTheK0OfTheirLaunchFiles) {
  for (const SuiteKernel& kernel : reference::suite_kernels()) {
    const auto spec = oracle::LaunchSpec::read(launch_path(kernel.name));
    ASSERT_TRUE(spec) << spec.error().message;
    std::set<std::string> shapes;
    for (const auto& [shape, sizes] : spec->shapes) shapes.insert(shape);
    EXPECT_EQ(std::set<std::string>(kernel.shapes.begin(), kernel.shapes.end()), shapes) << kernel.name;
    EXPECT_EQ(std::ranges::count(spec->steps, kernel.k0, &oracle::StepSpec::kernel), 1) << kernel.name;
    for (const std::string& target : spec->targets)
      EXPECT_EQ(std::ranges::count(kernel.targets, target), 1) << kernel.name;
  }
}

void make_x_random_bits(oracle::LaunchSpec& spec) {
  for (oracle::BufferSpec& buffer : spec.buffers)
    if (buffer.name == "x") {
      buffer.init.emplace();
      buffer.init->kind = "random_bits";
    }
}

TEST(SuiteNan, StaysInReluAndIsLargestInArgmax) {
  for (const char* name : {"level1_19_relu", "level1_51_argmax_rows"}) {
    SuiteRun run(name, "odd", "gfx942");
    const Status loaded = run.load(make_x_random_bits);
    ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
    const Status completed = run.run();
    ASSERT_TRUE(completed) << run.label() << ": " << completed.error().message;
    const reference::Numbers x = run.inputs().values("x");
    EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double value) { return std::isnan(value); }));
    expect(run, reference::find_suite_kernel(name)->launch(run.inputs()));
  }
}

} // namespace
} // namespace asmevo::suite
