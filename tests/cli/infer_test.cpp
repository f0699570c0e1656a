// The verb infer on the command line.
#include "base/files.h"
#include "cli/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace asmevo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string object = ASMEVO_BINARY_DIR "/kernels/saxpy.gfx942.co";

// What infer writes, run runs.
TEST(InferVerb, TheDraftRuns) {
  const TemporaryFolder folder;
  const std::string launch = (folder / "launch.toml").string();
  const Ran ran = run_asmevo({"infer", object, "--kernel", "saxpy", "--set", "arg_18=100", "-o", launch});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("kernel saxpy: grid 1 x 1 x 1, workgroup 256 x 1 x 1, "));
  EXPECT_THAT(ran.out, HasSubstr(" in      f32            high   400\n"));
  EXPECT_THAT(ran.out, HasSubstr(" inout   f32            high   400\n"));
  const Ran again = run_asmevo({"run", object, "--launch", launch});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("completed\n"));
}

TEST(InferVerb, JsonHasEvidence) {
  const Ran ran = run_asmevo({"infer", object, "--kernel", "saxpy", "--json"});
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document["completes"], true);
  EXPECT_EQ(document["arguments"][1]["role"], "in");
  EXPECT_EQ(document["arguments"][2]["role"], "inout");
  EXPECT_THAT(document["arguments"][1]["evidence"].dump(), HasSubstr("f32: used by v_"));
}

// Neither probes nor the trial of the draft take longer for it.
TEST(InferVerb, SaysWhichWorkgroupsStandForAHugeGrid) {
  const std::vector<std::string> command = {"infer",  object,   "--kernel",
                                            "saxpy",  "--grid", "4000000000,4000000000",
                                            "--json", "--set",  "arg_18=4000000000"};
  const Ran ran = run_asmevo(command);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document["sample"].size(), 256U);
  EXPECT_EQ(document["sample"][0], 0);
  EXPECT_THAT(document["notes"].dump(), HasSubstr("256 of 16000000000000000000 workgroups were probed"));
  EXPECT_EQ(document["completes"], true);
}

TEST(InferVerb, RefusesWhatMakesNoSense) {
  const auto refused = [&](std::vector<std::string> options, const std::string& what) {
    std::vector<std::string> command = {"infer", object, "--kernel", "saxpy"};
    command.insert(command.end(), options.begin(), options.end());
    const Ran ran = run_asmevo(command);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr(what));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  };
  refused({"--grid", "0"}, "--grid: '0' is not like 16 or 16,2,1");
  refused({"--grid", "1,2,3,4"}, "--grid");
  refused({"--workgroup", "4096"}, "4096");
  refused({"--set", "nothing=1"}, "no argument 'nothing'");
  refused({"--set", "n"}, "--set: 'n' is not like n=64");
  refused({"--set", "arg_18=1", "--set", "arg_18=2"}, "--set: 'arg_18' is given twice");
  refused({"--set", "arg_18=1e500"}, "--set arg_18: '1e500' is no finite number");
  refused({"--set", "arg_18=18446744073709551616"}, "--set arg_18: '18446744073709551616' is no i32");
  EXPECT_THAT(run_asmevo({"infer", object}).err, HasSubstr("2 kernels: choose one (--kernel)"));
}

} // namespace
} // namespace asmevo::testing
