// The kernels of kernels/mi300a/ against their references, and the table of measured times against the launch
// files.
#include "reference/mi300a.h"
#include "suite/suite_fixture.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

namespace asmevo::suite {

using reference::Mi300aKernel;

namespace {

const std::string target = "gfx942", folder = std::string(ASMEVO_SOURCE_DIR) + "/kernels/mi300a/";

SuiteRun run_of(const std::string& name, const std::string& shape) {
  return {SuiteFiles{name, std::string(ASMEVO_BINARY_DIR) + "/kernels/mi300a/" + name + "." + target + ".co",
                     folder + name + ".toml"},
          shape, target};
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Mi300aKernel& kernel : reference::mi300a_kernels()) list.push_back(kernel.name);
  return list;
}

class Mi300a : public ::testing::TestWithParam<std::string> {
 protected:
  static reference::Expected expected(const SuiteRun& run) {
    return std::ranges::find(reference::mi300a_kernels(), GetParam(), &Mi300aKernel::name)
        ->launch(run.inputs());
  }
};

TEST_P(Mi300a, ComputesWhatItsReferenceDoes) {
  for (const char* shape : {"tiny", "odd"}) {
    SuiteRun run = run_of(GetParam(), shape);
    const Status loaded = run.load();
    ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
    const Status completed = run.run();
    ASSERT_TRUE(completed) << run.label() << ": " << completed.error().message;
    expect(run, expected(run));
  }
}

TEST_P(Mi300a, BoundsRejectZerosAndResultsTwoPercentOff) {
  for (const char* shape : {"tiny", "odd"}) {
    SuiteRun run = run_of(GetParam(), shape);
    const Status loaded = run.load();
    ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
    for (const reference::Output& output : expected(run).outputs) expect_close_bounds(run, output);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mi300a, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

/// A row of times.csv.
struct Measured {
  std::string kernel, size, launch_file, shape, ref_ms, bound, launches, copies_est_ms;
};

std::vector<Measured> measured() {
  const Bytes bytes = read_file(folder + "times.csv").value();
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<Measured> rows;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#') || line.starts_with("kernel,")) continue;
    std::istringstream fields(line);
    Measured row;
    for (std::string* field : {&row.kernel, &row.size, &row.launch_file, &row.shape, &row.ref_ms, &row.bound,
                               &row.launches, &row.copies_est_ms})
      EXPECT_TRUE(std::getline(fields, *field, ',')) << line;
    rows.push_back(row);
  }
  return rows;
}

double number(const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc{} && end == text.data() + text.size()) << text;
  return value;
}

/// Launches of the steps.
int64_t launches(const std::vector<oracle::StepSpec>& steps, oracle::Scope scope) {
  int64_t count = 0;
  for (const oracle::StepSpec& step : steps) {
    if (step.kind == oracle::StepSpec::Kind::Launch) ++count;
    if (step.kind != oracle::StepSpec::Kind::Repeat) continue;
    const int64_t times = oracle::evaluate_integer(step.count.text, scope, 0, 1'000'000).value();
    for (int64_t i = 0; i < times; ++i) {
      scope[step.variable] = i;
      count += launches(step.steps, scope);
    }
  }
  return count;
}

TEST(Mi300aTimes, HaveShapesThatLoadWithAsManyLaunchesAsWereMeasured) {
  const std::vector<Measured> rows = measured();
  EXPECT_EQ(rows.size(), 124u);
  std::set<std::pair<std::string, std::string>> seen;
  for (const Measured& row : rows) {
    EXPECT_TRUE(seen.emplace(row.launch_file, row.shape).second) << row.launch_file << " " << row.shape;
    EXPECT_GT(number(row.ref_ms), 0.004);
    EXPECT_GE(number(row.copies_est_ms), 0);
    SuiteRun run = run_of(std::filesystem::path(row.launch_file).stem().string(), row.shape);
    const Status loaded = run.load();
    ASSERT_TRUE(loaded) << run.label() << ": " << loaded.error().message;
    EXPECT_EQ(static_cast<double>(launches(run.plan().spec.steps, run.plan().sizes)), number(row.launches))
        << run.label();
    // To the first launch, with its arguments and grid, but without the launch itself.
    const SuiteRun::Workgroups none;
    const Status prepared = run.run(&none);
    EXPECT_TRUE(prepared) << run.label() << ": " << prepared.error().message;
  }
}

TEST(Mi300aTimes, AreOfAllShapesButThoseOfTheTests) {
  std::set<std::pair<std::string, std::string>> in_table, in_files;
  for (const Measured& row : measured()) in_table.emplace(row.launch_file, row.shape);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    files.push_back(entry.path().stem().string());
    const auto spec = oracle::LaunchSpec::read(entry.path());
    ASSERT_TRUE(spec) << spec.error().message;
    for (const auto& [shape, sizes] : spec->shapes)
      if (shape != "tiny" && shape != "odd") in_files.emplace(entry.path().filename().string(), shape);
  }
  EXPECT_EQ(in_table, in_files);
  std::ranges::sort(files);
  EXPECT_EQ(files, names());
}

} // namespace
} // namespace asmevo::suite
