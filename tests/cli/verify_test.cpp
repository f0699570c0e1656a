// `asmevo verify` and `run --save-capture` as a user meets them: the outcome in the last line and in the exit
// code, mistakes in one line on stderr.
#include "base/files.h"
#include "cli/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

const std::string launch_text = R"toml([sizes]
n = 4000
[shapes.tiny]
n = 70
[[buffer]]
name = "x"
dtype = "f32"
shape = ["n"]
role = "in"
init = {kind = "normal"}
[[buffer]]
name = "y"
dtype = "f32"
shape = ["n"]
role = "inout"
init = {kind = "normal"}
[[arg]]
dtype = "f32"
value = 2
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = "n"
[[step]]
kernel = "saxpy"
grid = ["ceil_div(n, 64)"]
workgroup = [64]
)toml";

class Verify : public ::testing::Test {
 protected:
  Verify() { EXPECT_TRUE(write_file(launch_, std::string_view(launch_text))); }

  // saxpy with an edit applied.
  std::string edited(const std::string& name, const std::string& changes) {
    const std::string edit = (folder_ / (name + ".json")).string(), out = (folder_ / (name + ".co")).string();
    EXPECT_TRUE(
        write_file(edit, R"({"version": 1, "base": 0, "kernel": "saxpy", "changes": )" + changes + "}"));
    EXPECT_EQ(run_asmevo({"rebuild", k0_, "--edit", edit, "-o", out}).exit_code, 0);
    return out;
  }
  std::string rewritten() { return edited("same", R"([{"before": "10", "text": "v_mov_b32_e32 v1, 0"}])"); }
  std::string wrong() {
    return edited("wrong", R"([{"first": "74", "last": "74", "text": "v_sub_f32_e32 v5, v5, v4"}])");
  }
  Ran verify(const std::string& candidate, std::vector<std::string> more = {}) {
    std::vector<std::string> command = {"verify", k0_, candidate, "--launch", launch_.string()};
    command.insert(command.end(), more.begin(), more.end());
    return run_asmevo(command);
  }
  static std::string last_line(const std::string& text) {
    const size_t end = text.find_last_not_of('\n'), start = text.rfind('\n', end);
    return text.substr(start == std::string::npos ? 0 : start + 1, end - start);
  }

  TemporaryFolder folder_;
  std::string k0_ = sample("saxpy", "gfx942").string();
  fs::path launch_ = folder_ / "launch.toml";
};

TEST_F(Verify, AcceptsARewrite) {
  const Ran ran = verify(rewritten());
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(last_line(ran.out),
              MatchesRegex("equivalent: [1-9][0-9][0-9] cases, [1-9][0-9][0-9] equivalent"));
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(last_line(verify(rewritten(), {"--as-given"}).out), StartsWith("equivalent: 6 cases"));
  const Ran second = verify(rewritten(), {"--held-back", "--list"});
  EXPECT_THAT(last_line(second.out), StartsWith("equivalent: "));
  EXPECT_THAT(second.out,
              AllOf(HasSubstr("tiny, n = 4, seed 1000004"), Not(HasSubstr("tiny, n = 1, seed "))));
}

TEST_F(Verify, RejectsWrongArithmetic) {
  const Ran ran = verify(wrong(), {"--shape", "tiny", "--as-given", "--seeds", "1"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("divergent: buffer 'y': first at 0: "));
  EXPECT_THAT(last_line(ran.out), StartsWith("divergent: 1 case, 0 equivalent"));

  const Ran json = verify(wrong(), {"--json"});
  EXPECT_EQ(json.exit_code, 1);
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["outcome"], "divergent");
  EXPECT_EQ(document["cases"][0]["buffer"], "y");
  EXPECT_EQ(document["cases"][0]["buffers"][1]["first"]["index"], 0);
  EXPECT_EQ(document["cases"][0]["buffers"][1]["scaled"], false);
}

TEST_F(Verify, ChecksBeforeItRuns) {
  const Ran hazard = verify(edited("hazard", R"([{"first": "70", "last": "70", "text": ""}])"));
  EXPECT_EQ(hazard.exit_code, 1) << hazard.err;
  EXPECT_THAT(hazard.out, HasSubstr("check: saxpy: "));
  EXPECT_THAT(last_line(hazard.out), StartsWith("hazard: 0 cases"));
  const Ran other = verify(sample("reduce", "gfx942").string());
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(last_line(other.out), StartsWith("abi_invalid"));
}

TEST_F(Verify, SaysWhichWorkgroupsItRan) {
  const Ran ran = verify(rewritten(), {"--workgroups", "sample:10", "--seeds", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("10 of 63 workgroups"));
  EXPECT_THAT(last_line(ran.out), HasSubstr("1 by sampled workgroups"));
  const std::string warning = "made-up cases (other inputs and sizes than the launch file's) are not tried";
  EXPECT_THAT(ran.out, HasSubstr(warning));
  const Ran json = verify(rewritten(), {"--workgroups", "sample:10", "--seeds", "1", "--json"});
  EXPECT_THAT(nlohmann::json::parse(json.out)["warnings"].dump(), HasSubstr(warning));
  // Where there would be none, nothing is missing.
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--as-given", "--workgroups", "sample:10"}, {"--shape", "tiny"}})
    EXPECT_THAT(verify(rewritten(), options).out, Not(HasSubstr(warning)));
}

TEST_F(Verify, ReplaysCaptures) {
  const std::string capture = (folder_ / "capture").string();
  const Ran saved =
      run_asmevo({"run", k0_, "--launch", launch_.string(), "--save-capture", capture, "--capture-after"});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(saved.out, AllOf(HasSubstr("kernel saxpy"), HasSubstr("what it left")));
  EXPECT_TRUE(fs::exists(folder_ / "capture" / "manifest.json"));
  const Ran same = run_asmevo({"verify", k0_, rewritten(), "--capture", capture});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, Not(HasSubstr("note: ")));
  const Ran different = run_asmevo({"verify", k0_, wrong(), "--capture", capture});
  EXPECT_EQ(different.exit_code, 1) << different.out << different.err;
  const Ran again = run_asmevo({"run", k0_, "--launch", launch_.string(), "--save-capture", capture});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
}

TEST_F(Verify, RefusesWhatItCannotJudge) {
  const std::string k0 = k0_;
  const std::vector<std::pair<std::vector<std::string>, std::string>> bad = {
      {{"verify", k0, k0}, "--launch and --capture"},
      {{"verify", k0, k0, "--launch", launch_.string(), "--capture", "x"}, "--launch and --capture"},
      {{"verify", k0, k0, "--launch", launch_.string(), "--rule", "loose"}, "loose"},
      {{"verify", k0, k0, "--launch", launch_.string(), "--workgroups", "sample:0"}, "--workgroups"},
      {{"verify", k0, k0, "--launch", launch_.string(), "--shape", "none"}, "none"},
      {{"verify", k0, sample("saxpy", "gfx90a").string(), "--launch", launch_.string()}, "gfx90a"}};
  for (const auto& [command, named] : bad) {
    const Ran ran = run_asmevo(command);
    EXPECT_EQ(ran.exit_code, 2) << named;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr(named));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
}

} // namespace
} // namespace asmevo::testing
