// Modelled times of kernels/mi300a against the measured ones, and the table's reader.
#include "base/files.h"
#include "base/parallel.h"
#include "llvm_tools.h"
#include "oracle/timing_suite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace asmevo::oracle {
namespace {

const std::string folder = std::string(ASMEVO_SOURCE_DIR) + "/kernels/mi300a";

Result<TimingResult> modelled(const TimingRow& row, const timing::Machine& machine) {
  const std::string stem = std::filesystem::path(row.launch_file).stem().string();
  ASMEVO_TRY(Bytes bytes,
             read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/mi300a/" + stem + ".gfx942.co"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(LaunchSpec spec, LaunchSpec::read(folder + "/" + row.launch_file));
  ASMEVO_TRY(const LaunchPlan plan, LaunchPlan::make(std::move(spec), row.shape));
  LaunchTraceOptions options;
  options.trace.effort = 500'000;
  options.trace.threads = 1;
  ASMEVO_TRY(const LaunchTraces traces,
             trace_launches(plan, std::make_shared<const codeobject::CodeObject>(std::move(object)), machine,
                            options));
  return TimingResult{.row = row, .modelled = launch_time(traces, machine).seconds + row.copies};
}

// The acceptance of the cycle model: 20 % in the mean over kernels, no kernel above 35 %.
TEST(TimingSuite, ModelledTimesAgreeWithMeasuredOnes) {
  const timing::Machine machine = timing::MachineModel::find("mi300a")->nominal();
  const std::vector<TimingRow> rows = read_times(folder).value();
  std::vector<TimingResult> results(rows.size());
  parallel_for(rows.size(), 0, [&](size_t n, unsigned) {
    auto result = modelled(rows[n], machine);
    EXPECT_TRUE(result) << rows[n].kernel << " " << rows[n].size << ": " << result.error().message;
    if (result) results[n] = *std::move(result);
  });
  const auto scores = score(results);
  ASSERT_EQ(scores.size(), 12U);
  for (const TimingScore& s : scores) EXPECT_LT(s.mean, 0.35) << s.kernel;
  EXPECT_LT(mean_error(scores), 0.20);
}

TEST(TimingSuite, ScoresByKernelWhatTheDeviceSets) {
  const auto row = [](const char* kernel, double measured, const char* bound, double modelled) {
    TimingResult r;
    r.row.kernel = kernel, r.row.measured = measured, r.row.bound = bound;
    r.modelled = modelled;
    return r;
  };
  const std::vector<TimingResult> results = {row("a", 1, "hbm", 1.5), row("a", 3, "latency/l1", 2.7),
                                             row("b", 1, "floor", 9), row("c", 2, "host/dispatch", 9),
                                             row("d", 2, "h2d+mall", 9)};
  const auto scores = score(results);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].rows, 2U);
  EXPECT_NEAR(scores[0].mean, 0.3, 1e-12);
  EXPECT_NEAR(scores[0].wmape, 0.2, 1e-12);
  EXPECT_NEAR(scores[0].worst, 0.5, 1e-12);
  EXPECT_NEAR(mean_error(scores), 0.3, 1e-12);
}

TEST(TimingSuite, SaysWhatIsWrongWithATable) {
  const test::ScratchFolder scratch;
  const auto error_of = [&](const std::string& text) {
    EXPECT_TRUE(write_file(scratch.path() / "times.csv", std::string_view(text)));
    const auto rows = read_times(scratch.path().string());
    return rows ? std::string("none") : rows.error().message;
  };
  EXPECT_NE(error_of("a,b,c.toml\n").find("times.csv:1: 3 fields"), std::string::npos);
  EXPECT_NE(error_of("\n#\na,b,c.toml,s,nan,hbm\n").find("times.csv:3: 'nan'"), std::string::npos);
  EXPECT_NE(error_of("a,b,c.toml,s,0,hbm\n").find("a time of 0"), std::string::npos);
  EXPECT_NE(error_of("a,b,../c.toml,s,1,hbm\n").find("not one of the folder"), std::string::npos);
  EXPECT_NE(error_of("kernel,size\n").find("no rows"), std::string::npos);
  EXPECT_EQ(error_of("a,b,c.toml,s,1,hbm\r\n"), "none");
}

} // namespace
} // namespace asmevo::oracle
