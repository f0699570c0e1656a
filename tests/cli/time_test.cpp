// The verbs time and bench.
#include "base/files.h"
#include "cli/program_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace asmevo::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
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

// FILE:KERNEL in place of --kernel, which is for those that name none.
TEST(TimeVerb, ComparesKernelsOfOneObject) {
  const std::string object = objects + "fma.gfx942.co";
  const std::vector<std::string> rest = {"--launch", pairs + "fma.toml", "--shape", "tiny"};
  const auto both = [&](const std::string& k0, const std::string& k1, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"time", k0, k1};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_asmevo(arguments);
  };
  const Ran text = both(object + ":slow", object + ":fast", {});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("fma.gfx942.co: slow\n"), HasSubstr("fma.gfx942.co: fast\n"),
                              HasSubstr(" over " + object + ":slow ")));
  const Ran ran = both(object, object + ":fast", {"--kernel", "slow", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["objects"][0]["kernels"], nlohmann::json::array({"slow"}));
  EXPECT_EQ(json["objects"][1]["kernels"], nlohmann::json::array({"fast"}));
  EXPECT_EQ(json["objects"][1]["file"], object);
  EXPECT_GT(json["objects"][1]["speedup"]["median"], 1.0);

  const Ran wrong = both(object + ":slow", object + ":fsat", {});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("fma.gfx942.co: no kernel 'fsat'; did you mean 'fast'?"));
  EXPECT_THAT(both(object + ":", object, {}).err, HasSubstr("no kernel behind the ':'"));
  EXPECT_THAT(both(object + "x:slow", object, {}).err, HasSubstr("fma.gfx942.cox:slow"));
}

TEST(TimeVerb, AFileWhoseWholeNameItIsWins) {
  const TemporaryFolder folder;
  const std::string whole = (folder / "fma.co:fast").string();
  const auto bytes = read_file(objects + "fma.gfx942.co");
  ASSERT_TRUE(bytes && write_file(whole, *bytes) && write_file(folder / "fma.co", std::string_view("none")));
  const Ran ran =
      run_asmevo({"time", whole, "--launch", pairs + "fma.toml", "--shape", "tiny", "--kernel", "slow"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fma.co:fast: slow\n"));
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

// Of the whole dispatch, however little of it was simulated.
TEST(TimeVerb, ExplainsTheSameAtAnyEffort) {
  const auto instructions = [](const std::string& kernel, const std::string& effort) {
    const Ran ran = timed("fma", {"--kernel", kernel, "--shape", "full", "--timing-effort", effort,
                                  "--members", "1", "--explain", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["objects"][0]["cycles_of_waves"]["instructions"].get<double>();
  };
  const double few = instructions("fast", "300000");
  EXPECT_NEAR(instructions("fast", "3000000") / few, 1, 0.02);
  EXPECT_NEAR(instructions("slow", "1000000") / few, 36.0 / 20, 0.02); // their loops
}

// The ids are those of edits: what `time` calls the most expensive can be replaced under that id.
TEST(TimeVerb, ExplainsByTheIdsOfEdits) {
  const Ran ran = timed("load_wait_late", {"--kernel", "slow", "--shape", "full", "--timing-effort", "100000",
                                           "--members", "1", "--explain", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto most = nlohmann::json::parse(ran.out)["objects"][0]["cycles_of_waves"]["most"][0];
  const std::string id = most["id"];
  const TemporaryFolder folder;
  const std::string edit = (folder / "edit.json").string();
  ASSERT_TRUE(write_file(edit, fmt::format(R"({{"version": 1, "base": 0, "kernel": "slow", "changes": [
      {{"first": "{0}", "last": "{0}", "text": "{1} no such operand"}}]}})",
                                           id, most["mnemonic"].get<std::string>())));
  const Ran rebuilt = run_asmevo(
      {"rebuild", objects + "load_wait_late.gfx942.co", "--edit", edit, "-o", (folder / "out.co").string()});
  EXPECT_THAT(rebuilt.err, HasSubstr("changes[0], line 1")) << id; // the id is known, the text is not
}

TEST(TimeVerb, StructuralEnsembleIsAnotherOne) {
  const Ran ran = timed("fma", {"--kernel", "fast", "--shape", "tiny", "--structural", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["ensemble"], "structural");
  EXPECT_EQ(json["members"][0], "youngest wave first");
}

// saxpy with an endless loop in front, given up after so many instructions.
TEST(TimeVerb, AnEndlessKernelIsGivenUp) {
  const TemporaryFolder folder;
  const std::string edit = (folder / "edit.json").string(), spin = (folder / "spin.co").string();
  const std::string object = objects + "fma.gfx942.co", launch = pairs + "fma.toml";
  const Ran ids = run_asmevo({"time", object + ":fast", "--launch", launch, "--shape", "tiny", "--members",
                              "1", "--explain", "--json"});
  ASSERT_EQ(ids.exit_code, 0) << ids.err;
  std::string text = R"({"version": 1, "base": 0, "kernel": "fast", "changes": [{"before": ")";
  text += nlohmann::json::parse(ids.out)["objects"][0]["cycles_of_waves"]["most"][0]["id"];
  text += R"(", "text": "spin:\ns_nop 0\ns_branch spin"}]})";
  ASSERT_TRUE(write_file(edit, std::string_view(text)));
  const Ran built = run_asmevo({"rebuild", object, "--edit", edit, "-o", spin});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  for (const char* verb : {"time", "profile"})
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--max-steps", "100000"}, {}}) {
      std::vector<std::string> command = {verb,      spin,   "--launch", launch,
                                          "--shape", "tiny", "--kernel", "fast"};
      command.insert(command.end(), more.begin(), more.end());
      const Ran ran = run_asmevo(command);
      EXPECT_EQ(ran.exit_code, 2) << ran.out;
      EXPECT_THAT(ran.err, AllOf(HasSubstr("spin.co: hang: "), HasSubstr("--max-steps"), EndsWith("\n")));
    }
}

TEST(TimeVerb, ALaunchWithoutLaunchesIsRefused) {
  const TemporaryFolder folder;
  const std::string launch = (folder / "none.toml").string();
  ASSERT_TRUE(write_file(launch, std::string_view("[[buffer]]\nname = \"x\"\ndtype = \"u8\"\nshape = [4]\n"
                                                  "role = \"out\"\n[[step]]\nmemset = \"x\"\nvalue = 1\n")));
  for (const char* verb : {"time", "profile"}) {
    const Ran ran = run_asmevo({verb, objects + "fma.gfx942.co", "--launch", launch, "--kernel", "fast"});
    EXPECT_EQ(ran.exit_code, 2) << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("none.toml"), HasSubstr("no step launches a kernel")));
  }
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
  refused({"--kernel", "fast", "--structural", "--members", "3"}, "--members");
  refused({"--kernel", "fast", "--max-steps", "0"}, "--max-steps");
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

TEST(BenchVerb, RefusesEmptyValues) {
  const std::string suite = ASMEVO_SOURCE_DIR "/kernels/mi300a";
  for (const char* option : {"--plot", "--only", "--suite", "--objects", "--model", "--threads"}) {
    const Ran ran = run_asmevo({"bench", "timing", "--suite", suite, option, ""});
    EXPECT_EQ(ran.exit_code, 2) << option;
    EXPECT_THAT(ran.err, HasSubstr(option));
    EXPECT_THAT(ran.out, ::testing::IsEmpty());
  }
  for (const char* option : {"--suite", "--objects", "--model", "--timing-effort"})
    EXPECT_THAT(run_asmevo({"bench", "microkernels", option, ""}).err, HasSubstr(option));
  EXPECT_THAT(run_asmevo({"bench", "microkernels", "--suite", ASMEVO_SOURCE_DIR "/kernels/microkernels",
                          "--model", "mi300"})
                  .err,
              HasSubstr("no figure is of machine 'mi300'; did you mean 'mi300"));
}

TEST(BenchVerb, EachHasAnExampleOfItsOwn) {
  for (const char* table : {"timing", "microkernels", "mfma"})
    EXPECT_THAT(run_asmevo({"bench", table, "--help"}).out,
                HasSubstr("Example: asmevo bench " + std::string(table)));
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
