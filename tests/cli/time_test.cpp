// The verbs time and bench.
#include "base/files.h"
#include "cli/program_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace asmevo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string pairs = ASMEVO_SOURCE_DIR "/kernels/pairs/", objects = ASMEVO_BINARY_DIR "/kernels/pairs/";

Ran timed(const std::string& pair, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"time", objects + pair + ".gfx942.co", "--launch",
                                        pairs + pair + ".toml"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_asmevo(arguments);
}

TEST(TimeVerb, NamesTheModel) {
  const Ran ran = timed("fma", {"--kernel", "fast", "--shape", "tiny"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("modelled (mi300x)"), HasSubstr("in the middle of 8 models"),
                             HasSubstr("simulated whole")));
  EXPECT_EQ(ran.out.find("measured"), std::string::npos);
  EXPECT_THAT(timed("fma", {"--kernel", "fast", "--shape", "tiny", "--model", "mi308x"}).out,
              HasSubstr("modelled (mi308x)"));
}

// The same object twice: no member sees a difference.
TEST(TimeVerb, EqualObjectsAreEquallyFast) {
  const std::string object = objects + "fma.gfx942.co";
  const Ran ran = run_asmevo({"time", object, object, "--launch", pairs + "fma.toml", "--shape", "full",
                              "--kernel", "slow", "--json", "--timing-effort", "100000"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["device"], "modelled (mi300x)");
  const auto& speedup = json["objects"][1]["speedup"];
  for (const char* key : {"median", "low", "high"}) EXPECT_EQ(speedup[key], 1.0) << key;
  EXPECT_EQ(json["objects"][1]["faster_on"], 0);
  EXPECT_EQ(json["objects"][0]["seconds_of_members"].size(), json["members"].size());
}

TEST(TimeVerb, AnyNumberOfThreadsGivesTheSame) {
  const std::vector<std::string> common = {"--kernel",        "slow",   "--shape",  "full",
                                           "--timing-effort", "100000", "--explain"};
  std::string first;
  for (const char* threads : {"1", "2", "5"}) {
    std::vector<std::string> more = common;
    more.insert(more.end(), {"--threads", threads});
    const Ran ran = timed("load_wait_late", more);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    if (first.empty()) first = ran.out;
    EXPECT_EQ(ran.out, first) << threads;
  }
}

TEST(TimeVerb, ExplainsWhereTheCyclesWent) {
  EXPECT_THAT(timed("load_wait_late",
                    {"--kernel", "slow", "--shape", "full", "--timing-effort", "100000", "--explain"})
                  .out,
              AllOf(HasSubstr("cycles of waves:"), HasSubstr("WAITCNT"), HasSubstr("s_waitcnt")));
}

TEST(TimeVerb, StructuralEnsembleIsAnotherOne) {
  const Ran ran = timed("fma", {"--kernel", "fast", "--shape", "tiny", "--structural", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["ensemble"], "structural");
  EXPECT_EQ(json["members"][0], "youngest wave first");
}

TEST(TimeVerb, MistakesAreNamed) {
  const auto refused = [](std::vector<std::string> more, const std::string& why) {
    const Ran ran = timed("fma", std::move(more));
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused({"--kernel", "fast", "--model", "mi250x"}, "machine model mi250x is a gfx90a");
  refused({"--kernel", "fast", "--model", "mi999"}, "mi999");
  refused({"--kernel", "none"}, "none");
  refused({"--kernel", "fast", "--capture", "/nowhere"}, "one of --launch and --capture");
  refused({"--kernel", "fast", "--members", "0"}, "--members");
}

TEST(BenchVerb, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  const Ran none = run_asmevo({"bench", "timing", "--suite", folder.path().string()});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("times.csv"));
  ASSERT_TRUE(write_file(folder / "times.csv", std::string_view("kernel,size,launch_file,shape,ref_ms,bound\n"
                                                                  "a,1,a.toml,s,1,hbm\n")));
  const Ran object = run_asmevo({"bench", "timing", "--suite", folder.path().string()});
  EXPECT_EQ(object.exit_code, 2);
  EXPECT_THAT(object.err, AllOf(HasSubstr("times.csv:2"), HasSubstr("--objects")));
  EXPECT_EQ(run_asmevo({"bench"}).exit_code, 2);
}

TEST(BenchVerb, DrawsAPlot) {
  const TemporaryFolder folder;
  const std::string plot = (folder / "plot.svg").string();
  const Ran ran = run_asmevo({"bench", "timing", "--suite", ASMEVO_SOURCE_DIR "/kernels/mi300a", "--only",
                              "fir", "--timing-effort", "20000", "--plot", plot});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("modelled (mi300a): mean error"));
  const auto svg = read_file(plot);
  ASSERT_TRUE(svg);
  const std::string text(svg->begin(), svg->end());
  EXPECT_THAT(text, AllOf(HasSubstr("<svg xmlns"), HasSubstr("fir 1024_taps32"), HasSubstr("</svg>")));
}

} // namespace
} // namespace asmevo::testing
