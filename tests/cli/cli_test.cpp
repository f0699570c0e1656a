// The contract of the command line (docs/command-line.md), on the built program: exit codes, one line for
// each thing that is wrong, results on stdout only, help with an example for every verb.
#include "base/files.h"
#include "cli/program_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> verbs = {
    "inspect", "extract", "embed",       "recover",  "rebuild", "roundtrip", "abidiff",
    "diff",    "check",   "conformance", "infer",    "run",     "verify",    "time",
    "bench",   "profile", "completions", "optimize", "resume",  "status",    "report"};

// A launch of saxpy, in `folder`.
std::string launch_file(const TemporaryFolder& folder) {
  const std::string path = (folder / "launch.toml").string();
  EXPECT_TRUE(write_file(path, std::string_view(R"toml([[buffer]]
name = "y"
dtype = "f32"
shape = 64
role = "inout"
init = "ones"
[[arg]]
dtype = "f32"
value = 1
[[arg]]
buffer = "y"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = 64
[[step]]
kernel = "saxpy"
grid = 1
workgroup = 64
)toml")));
  return path;
}

// Bad usage or bad input: nothing on stdout, one line on stderr, exit 2.
void expect_refused(const Ran& ran, const std::string& named) {
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, StartsWith("asmevo: "));
  EXPECT_THAT(ran.err, HasSubstr(named));
  EXPECT_THAT(ran.err, EndsWith("\n"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

// Every verb that reads a file, with `input` as that file; outputs go into `folder`.
std::vector<std::vector<std::string>> readers(const std::string& input, const TemporaryFolder& folder) {
  const std::string good = sample("saxpy", "gfx942").string();
  const std::string out = (folder / "out").string();
  return {{"inspect", input},
          {"extract", input, "-o", out},
          {"extract", input, "--list"},
          {"embed", input, "--replace", good, "-o", out},
          {"embed", good, "--replace", input, "-o", out},
          {"recover", input, "-o", out},
          {"rebuild", input, "-o", out},
          {"abidiff", input, good},
          {"abidiff", good, input},
          {"diff", input, good},
          {"diff", good, input},
          {"check", input},
          {"infer", input, "-o", out},
          {"run", input, "--launch", launch_file(folder)},
          {"run", input, "--list-unimplemented"},
          {"run", good, "--launch", input},
          {"run", input, "--launch", launch_file(folder), "--save-capture", out},
          {"profile", input, "--launch", launch_file(folder)},
          {"profile", good, "--launch", input},
          {"verify", input, good, "--launch", launch_file(folder)},
          {"verify", good, input, "--launch", launch_file(folder)},
          {"verify", good, good, "--launch", input},
          {"verify", good, good, "--capture", input},
          {"optimize", input, "--launch", launch_file(folder), "-o", out},
          {"resume", input},
          {"status", input},
          {"report", input, "-o", out},
          {"diff", good, good, "--run", input}};
}

TEST(Cli, SaysItsVersion) {
  const Ran ran = run_asmevo({"--version"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, ::testing::MatchesRegex("asmevo [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(Cli, HelpNamesEveryVerb) {
  const Ran ran = run_asmevo({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, IsEmpty());
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/command-line.md");
  ASSERT_TRUE(bytes);
  const std::string documentation(bytes->begin(), bytes->end());
  for (const std::string& verb : verbs) {
    EXPECT_THAT(ran.out, HasSubstr("\n  " + verb + " "));
    EXPECT_THAT(documentation, HasSubstr("\n## " + verb + "\n"));
  }
  const std::string listed = ran.out.substr(std::min(ran.out.find("\nSubcommands:"), ran.out.size()));
  size_t lines =
      0; // "  inspect      Show ..."; what does not fit goes on in a line that starts further right
  for (size_t at = listed.find("\n  "); at != std::string::npos; at = listed.find("\n  ", at + 1))
    if (at + 3 < listed.size() && listed[at + 3] != ' ') ++lines;
  EXPECT_EQ(lines, verbs.size()) << "a verb that these tests do not know";
}

TEST(Cli, EveryVerbHelpsWithAnExample) {
  for (const std::string& verb : verbs) {
    SCOPED_TRACE(verb);
    const Ran ran = run_asmevo({verb, "--help"});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr("\nExample: asmevo " + verb + " "));
    EXPECT_THAT(ran.err, IsEmpty());
  }
}

TEST(Cli, RefusesBadUsage) {
  expect_refused(run_asmevo({}), "no verb");
  expect_refused(run_asmevo({"frobnicate"}), "frobnicate");
  expect_refused(run_asmevo({"--frobnicate"}), "--frobnicate");
  expect_refused(run_asmevo({"completions", "tcsh"}), "tcsh");
  for (const std::string& verb : verbs) {
    SCOPED_TRACE(verb);
    expect_refused(run_asmevo({verb}), "required");
    expect_refused(run_asmevo({verb, "x", "--frobnicate"}), "asmevo: ");
  }
}

// The options that take a value, as the help has them: "  -j,--threads UINT=0", but no flags: "  --json ..."
// and "  --capture-after Needs: --save-capture".
std::vector<std::pair<std::string, std::string>> options_of(const std::string& verb) {
  static const std::regex line("\n  (?:-\\w,)?(--[\\w-]+) (?!\\w+: )([^ \n]+)");
  const std::string help = run_asmevo({verb, "--help"}).out;
  std::vector<std::pair<std::string, std::string>> options;
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at)
    options.emplace_back((*at)[1], (*at)[2]);
  return options;
}

TEST(Cli, RefusesValuesThatAreNone) {
  size_t whole = 0, amounts = 0, others = 0;
  for (const std::string& verb : verbs)
    for (const auto& [option, type] : options_of(verb)) {
      std::vector<std::string> bad = {""};
      if (type.starts_with("UINT"))
        bad.insert(bad.end(), {"-1", "18446744073709551616", "1.5", "nan", "010", "0x", "1 "});
      if (type.starts_with("FLOAT")) bad.insert(bad.end(), {"-1", "nan", "inf", "1e500", "x"});
      if (option == "--threads") bad.insert(bad.end(), {"1025", "4294967295"});
      if (option == "--max-steps") bad.emplace_back("0");
      ++(type.starts_with("UINT") ? whole : type.starts_with("FLOAT") ? amounts : others);
      for (const std::string& value : bad) {
        SCOPED_TRACE(fmt::format("{} {} '{}'", verb, option, value));
        expect_refused(run_asmevo({verb, "x", option, value}), option);
      }
      if (!type.starts_with("UINT")) continue;
      EXPECT_THAT(run_asmevo({verb, "x", option, "1"}).err, Not(HasSubstr("whole number"))) << option;
    }
  EXPECT_GE(whole, 20U);
  EXPECT_GE(amounts, 1U);
  EXPECT_GE(others, 30U);
}

TEST(Cli, RefusesFilesItCannotRead) {
  const TemporaryFolder folder;
  const fs::path empty = folder / "empty", text = folder / "text", tiny = folder / "tiny";
  const fs::path missing = folder / "missing", folder_inside = folder / "inside";
  ASSERT_TRUE(write_file(empty, std::string_view()));
  ASSERT_TRUE(write_file(text, "no code object, and no instruction either\n"));
  ASSERT_TRUE(write_file(tiny, "\x7f"
                               "ELF"));
  ASSERT_TRUE(make_folder(folder_inside));
  for (const fs::path& input : {empty, text, tiny, missing, folder_inside})
    for (const auto& command : readers(input.string(), folder)) {
      SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
      expect_refused(run_asmevo(command), input.string());
      EXPECT_FALSE(fs::exists(folder / "out"));
    }
}

TEST(Cli, RoundTripOfNothingIsRefused) {
  const TemporaryFolder folder;
  expect_refused(run_asmevo({"roundtrip", (folder / "missing").string()}), "missing");
  expect_refused(run_asmevo({"roundtrip", folder.path().string()}), folder.path().string());
}

// Code objects for other machines are refused in one line too: an x86 program, and one for a GPU of another
// family.
TEST(Cli, RefusesOtherMachines) {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  for (const std::string verb : {"recover", "check"}) {
    SCOPED_TRACE(verb);
    std::vector<std::string> command = {verb, ASMEVO_BINARY_DIR "/asmevo"};
    if (verb == "recover") command.insert(command.end(), {"-o", out});
    expect_refused(run_asmevo(command), "asmevo");
  }
  const std::string rdna = (folder / "rdna.co").string();
  const Ran compiled = run_command(
      {"clang-22", "-x", "hip", "--offload-device-only", "--offload-arch=gfx1100", "-nogpuinc", "-nogpulib",
       "--no-gpu-bundle-output", "-O3", ASMEVO_SOURCE_DIR "/kernels/samples/saxpy.hip", "-o", rdna});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  expect_refused(run_asmevo({"recover", rdna, "-o", out}), "gfx1100");
  expect_refused(run_asmevo({"check", rdna}), "gfx1100");
}

TEST(Cli, AFullDiskIsNoSuccess) {
  const std::string file = sample("saxpy", "gfx942").string();
  const std::vector<std::vector<std::string>> commands = {
      {"--version"}, {"--help"}, {"inspect", file}, {"inspect", file, "--json"}, {"completions", "bash"}};
  for (const auto& command : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
    for (const Streams& streams : {Streams{"/dev/full", false}, Streams{{}, true}}) {
      const Ran ran = run_asmevo(command, streams);
      EXPECT_EQ(ran.exit_code, 3);
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    }
  }
}

TEST(Cli, OutputThatCannotBeWrittenLeavesNothing) {
  const TemporaryFolder folder;
  const std::string file = sample("saxpy", "gfx942").string();
  const Ran ran = run_asmevo({"recover", file, "-o", (folder / "no-such-folder/k.s").string()});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("no-such-folder/k.s"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Cli, ARefusedCommandKeepsTheOldOutput) {
  const TemporaryFolder folder;
  const fs::path out = folder / "out", bad = folder / "bad.s";
  ASSERT_TRUE(write_file(out, "kept"));
  ASSERT_TRUE(write_file(bad, "\ts_frobnicate s0\n"));
  expect_refused(run_asmevo({"rebuild", bad.string(), "-o", out.string()}), "bad.s");
  expect_refused(run_asmevo({"recover", bad.string(), "-o", out.string()}), "bad.s");
  const auto kept = read_file(out);
  ASSERT_TRUE(kept);
  EXPECT_EQ(std::string(kept->begin(), kept->end()), "kept");
}

TEST(Cli, JsonIsOneDocument) {
  const TemporaryFolder folder;
  const std::string k0 = sample("reduce", "gfx942").string(), k1 = (folder / "k1.co").string();
  const std::string text = (folder / "k.s").string(), objects = (folder / "objects").string();
  const std::vector<std::vector<std::string>> commands = {
      {"inspect", k0},
      {"extract", k0, "--list"},
      {"extract", k0, "-o", objects},
      {"recover", k0, "-o", text},
      {"rebuild", text, "-o", k1},
      {"roundtrip", k0},
      {"abidiff", k0, k1},
      {"diff", k0, k1},
      {"check", k0},
      {"infer", k0, "--kernel", "reduce_lds"},
      {"run", sample("saxpy", "gfx942").string(), "--launch", launch_file(folder)},
      {"run", "--list-unimplemented"},
      {"completions", "fish"}};
  for (auto command : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
    command.emplace_back("--json");
    const Ran ran = run_asmevo(command);
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << ran.out;
  }
}

// What is recovered and rebuilt is what was there; each verb answers yes.
TEST(Cli, RecoverAndRebuildGiveTheSameObject) {
  for (const std::string target : {"gfx90a", "gfx942", "gfx950"}) {
    SCOPED_TRACE(target);
    const TemporaryFolder folder;
    const std::string k0 = sample("reduce", target).string(), k1 = (folder / "k1.co").string();
    const std::string text = (folder / "k.s").string();
    EXPECT_EQ(run_asmevo({"recover", k0, "-o", text}).exit_code, 0);
    EXPECT_EQ(run_asmevo({"rebuild", text, "-o", k1, "--original", k0}).exit_code, 0);
    EXPECT_EQ(run_asmevo({"abidiff", k0, k1}).exit_code, 0);
    EXPECT_EQ(run_asmevo({"diff", k0, k1}).exit_code, 0);
    EXPECT_EQ(run_asmevo({"check", k1}).exit_code, 0);
    const Ran gate = run_asmevo({"roundtrip", k0, k1});
    EXPECT_EQ(gate.exit_code, 0);
    EXPECT_THAT(gate.out, EndsWith("2 objects, 2 identical, 0 failed\n"));
  }
}

// Exit 1: the answer is no.
TEST(Cli, ADifferenceIsANo) {
  const std::string saxpy = sample("saxpy", "gfx942").string(), reduce = sample("reduce", "gfx942").string();
  const Ran abi = run_asmevo({"abidiff", saxpy, reduce});
  EXPECT_EQ(abi.exit_code, 1) << abi.err;
  EXPECT_THAT(abi.out, HasSubstr("saxpy"));
}

} // namespace
} // namespace asmevo::testing
