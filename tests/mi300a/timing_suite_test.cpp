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

// --- the table's form

const std::string heading = "kernel,size,launch_file,shape,ref_ms,bound,launches,copies_est_ms\n";

std::string error_of(const std::string& text) {
  const auto rows = parse_times(text, "t.csv");
  return rows ? "" : rows.error().message;
}
std::string error_of_row(const std::string& row) {
  return error_of(heading + row + "\n");
}

TEST(Times, RowsAreReadInAnyOrderOfColumns) {
  const auto rows = parse_times("# from somewhere\nbound,ref_ms,shape,launch_file,size,kernel\r\n"
                                "latency/l1,2.5,s,c.toml,b,a\r\nh2d+mall,1,s,c.toml,c,a\n",
                                "t.csv");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  const TimingRow& row = rows->front();
  EXPECT_EQ(row.kernel + " " + row.size + " " + row.launch_file + " " + row.shape, "a b c.toml s");
  EXPECT_DOUBLE_EQ(row.measured, 2.5e-3);
  EXPECT_EQ(row.copies, 0);
  EXPECT_EQ(row.line, 3U);
  EXPECT_TRUE(row.scored());
  EXPECT_FALSE(rows->back().scored());
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,hbm,1,0.5"), "");
}

TEST(Times, MistakesAreNamedWithLineAndColumn) {
  EXPECT_EQ(error_of("a,b,c.toml,s,1,hbm\n").substr(0, 28), "t.csv:1: unknown column 'a';");
  EXPECT_EQ(error_of("kernel,size,launch_file,shape,ref_ms\n"), "t.csv:1: no column 'bound'");
  EXPECT_EQ(error_of("kernel,size,launch_file,shape,ref_ms,bound,bound\n"),
            "t.csv:1: column 'bound' stands twice");
  EXPECT_EQ(error_of(heading), "t.csv: no rows");
  EXPECT_EQ(error_of_row("a,b,c.toml"), "t.csv:2: 3 fields where the header has 8");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,nan,hbm,,"), "t.csv:2: ref_ms: 'nan' is not a number");
  for (const char* time : {"0", "-1"})
    EXPECT_NE(error_of_row(std::string("a,b,c.toml,s,") + time + ",hbm,,").find("not a time above 0"),
              std::string::npos);
  EXPECT_EQ(error_of_row("a,b,../c.toml,s,1,hbm,,"),
            "t.csv:2: launch_file: '../c.toml': not one of the folder");
  EXPECT_EQ(error_of_row(",b,c.toml,s,1,hbm,,"), "t.csv:2: kernel: '': missing");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,latency/ocupancy,,"),
            "t.csv:2: bound: unknown word 'ocupancy'; did you mean 'occupancy'?");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,,,").substr(0, 31), "t.csv:2: bound: unknown word ''");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,hbm,1.5,"), "t.csv:2: launches: '1.5': not a number of launches");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,hbm,1,2"), "t.csv:2: copies_est_ms: '2': not a part of `ref_ms`");
  EXPECT_EQ(error_of_row("a,b,c.toml,s,1,hbm,,\na,b,d.toml,t,2,hbm,,"),
            "t.csv:3: kernel 'a' with size 'b' stands twice");
}

TEST(Times, AFolderWithoutATableIsNamed) {
  const test::ScratchFolder scratch;
  EXPECT_NE(read_times(scratch.path().string()).error().message.find("times.csv"), std::string::npos);
}

} // namespace
} // namespace asmevo::oracle
