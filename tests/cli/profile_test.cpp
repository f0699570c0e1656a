// `asmevo profile` as a user meets it.
#include "base/files.h"
#include "cli/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace asmevo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string saxpy = R"toml([sizes]
n = 100000
[shapes.tiny]
n = 70
[[buffer]]
name = "x"
dtype = "f32"
shape = ["n"]
role = "in"
init = "sequence"
[[buffer]]
name = "y"
dtype = "f32"
shape = ["n"]
role = "inout"
init = "ones"
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
grid = ["ceil_div(n, 256)"]
workgroup = 256
)toml";

Ran profiled(const std::vector<std::string>& more, const std::string& target = "gfx942",
             const std::string& launch = saxpy) {
  const TemporaryFolder folder;
  const std::string path = (folder / "launch.toml").string();
  EXPECT_TRUE(write_file(path, launch));
  std::vector<std::string> arguments = {"profile", sample("saxpy", target).string(), "--launch", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_asmevo(arguments);
}

TEST(ProfileVerb, SaysWhereTimeGoes) {
  const Ran ran = profiled({});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("saxpy: "), HasSubstr("modelled (mi300x)"), HasSubstr("\nlimiter: "),
                             HasSubstr("\nwindow 1: "), Not(HasSubstr("measured"))));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(ProfileVerb, ModelFollowsTheTarget) {
  for (const auto& [target, model] :
       {std::pair("gfx90a", "mi250x"), {"gfx942", "mi300x"}, {"gfx950", "mi355x"}}) {
    const Ran ran = profiled({"--json"}, target);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["source"], "modelled (" + std::string(model) + ")");
  }
  EXPECT_THAT(profiled({"--model", "mi300a"}).out, HasSubstr("modelled (mi300a)"));
}

TEST(ProfileVerb, RepeatsExactly) {
  const Ran one = profiled({"--json", "--threads", "1"}), two = profiled({"--json", "--threads", "2"});
  EXPECT_EQ(one.out, two.out);
  EXPECT_FALSE(one.out.empty());
}

TEST(ProfileVerb, OptionsDoWhatTheySay) {
  EXPECT_THAT(profiled({"--windows", "0"}).out, Not(HasSubstr("window 1")));
  const nlohmann::json tiny = nlohmann::json::parse(profiled({"--json", "--shape", "tiny"}).out);
  EXPECT_EQ(tiny["summary"]["workgroups"], 1);
  const nlohmann::json all = nlohmann::json::parse(profiled({"--json"}).out);
  EXPECT_EQ(all["summary"]["workgroups"], 391);
}

TEST(ProfileVerb, Listing) {
  const Ran ran = profiled({"--listing"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("saxpy ("), HasSubstr("modelled (mi300x)"), HasSubstr("0: "),
                             HasSubstr(" issues, "), HasSubstr("WAITCNT"), HasSubstr("s_endpgm")));
  const nlohmann::json json = nlohmann::json::parse(profiled({"--listing", "--json"}).out);
  EXPECT_EQ(json["function"], "saxpy");
  EXPECT_TRUE(json["instructions"][0].contains("issues"));
}

// One that the file does not launch is launched in place of its own.
TEST(ProfileVerb, ChoosesTheKernel) {
  EXPECT_THAT(profiled({"--kernel", "saxpy"}).out, StartsWith("saxpy: "));
  const Ran other = profiled({"--kernel", "nobody"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("nobody"));
}

// Functions are filled up with s_nop: nobody runs those.
TEST(ProfileVerb, ListingEndsWithTheKernel) {
  const Ran ran = profiled({"--listing"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const size_t end = ran.out.rfind("s_endpgm");
  ASSERT_NE(end, std::string::npos);
  EXPECT_THAT(ran.out.substr(end), Not(HasSubstr("s_nop")));
}

// Counters have no instructions, but say something all the same.
TEST(ProfileVerb, ImportOfCounters) {
  const TemporaryFolder folder;
  const std::string path = (folder / "1_counter_collection.csv").string();
  ASSERT_TRUE(write_file(path, "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"
                               "1,saxpy,TCC_HIT_sum,30\n1,saxpy,TCC_MISS_sum,10\n1,saxpy,FETCH_SIZE,2000\n"));
  const std::vector<std::string> arguments = {
      "profile", sample("saxpy", "gfx942").string(), "--kernel", "saxpy", "--import", path};
  const Ran ran = run_asmevo(arguments);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(ran.out, AllOf(HasSubstr("there is nothing by instruction"), HasSubstr("75.0 %"),
                             HasSubstr("2.05 MB"), Not(HasSubstr("window 1")), Not(HasSubstr("modelled"))));
  const std::string note = "counters are of one dispatch";
  ASSERT_THAT(ran.out, HasSubstr(note));
  EXPECT_EQ(ran.out.find(note), ran.out.rfind(note)) << "said once";
  std::vector<std::string> listing = arguments;
  listing.emplace_back("--listing");
  const Ran list = run_asmevo(listing);
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_THAT(list.err, HasSubstr("no times of instructions to list"));
}

// The example of docs/profiles.md, as it stands there.
TEST(ProfileVerb, ImportsTheExampleOfTheDocumentation) {
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/profiles.md");
  ASSERT_TRUE(bytes);
  const std::string page(bytes->begin(), bytes->end()), fence = "\n```json\n";
  const size_t start = page.find(fence), end = page.find("\n```\n", start + fence.size());
  ASSERT_NE(end, std::string::npos);
  const TemporaryFolder folder;
  const std::string path = (folder / "out_results.json").string();
  ASSERT_TRUE(write_file(path, page.substr(start + fence.size(), end - start - fence.size())));
  const Ran ran = run_asmevo({"profile", ASMEVO_BINARY_DIR "/kernels/pairs/fma.gfx942.co", "--import", path,
                              "--kernel", "fast", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("bound by address: 2 of 2 sampled instructions read as in the object"));
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  EXPECT_THAT(json["source"].get<std::string>(), StartsWith("measured (rocprofv3, stochastic PC sampling"));
  EXPECT_EQ(json["windows"][0]["stalled"]["WAITCNT"], 2);
}

TEST(ProfileVerb, MistakesAreNamed) {
  const Ran model = profiled({"--model", "mi250x"});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, AllOf(HasSubstr("machine model mi250x"), HasSubstr("gfx942")));
  EXPECT_EQ(profiled({"--model", "mi999"}).exit_code, 2);
  const Ran none = run_asmevo({"profile", sample("saxpy", "gfx942").string()});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--launch"));
}

} // namespace
} // namespace asmevo::testing
