// `optimize` for a folder of kernels, with status, resume and report of the batch it leaves.
#include "cli/pair_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Json json_of(const std::string& text) {
  Json j = Json::parse(text, nullptr, false);
  EXPECT_TRUE(j.is_object()) << text;
  return j;
}

const Json& row(const Json& summary, const std::string& kernel) {
  for (const Json& k : summary.at("kernels"))
    if (k.at("kernel") == kernel) return k;
  static const Json none = Json::object();
  ADD_FAILURE() << "no row " << kernel << " in " << summary.dump(2);
  return none;
}

// The pair of load_wait_late, whose slow kernel the proposals make faster, with its launch file.
fs::path inputs(const TemporaryFolder& folder, std::string_view proposals) {
  EXPECT_TRUE(write_file(folder / "proposals.json", proposals));
  fs::create_directories(folder / "in");
  fs::copy_file(pair_k0, folder / "in/pair.gfx942.co");
  fs::copy_file(ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml", folder / "in/pair.toml");
  return folder / "in";
}

std::vector<std::string> batch_command(const TemporaryFolder& folder) {
  std::vector<std::string> command = {"optimize", (folder / "in").string(), "-o", (folder / "runs").string()};
  std::ranges::copy(pair_options(folder / "proposals.json"), std::back_inserter(command));
  return command;
}

TEST(Batch, GoesThroughAFolder) {
  const TemporaryFolder folder;
  const fs::path in = inputs(folder, pair_proposals), runs = folder / "runs";
  fs::copy_file(pair_k0, in / "copy.co"); // without a launch file: what the other has
  ASSERT_TRUE(write_file(in / "broken.co", std::string_view("nonsense")));
  const Ran ran = run_asmevo(batch_command(folder));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("5 kernels: 1 faster, 1 not, 1 failed, 2 the same as others"),
                    HasSubstr("modelled (mi300x)"), HasSubstr("the same as pair.gfx942.slow"),
                    HasSubstr("latency hiding"), HasSubstr("unknown magic"), HasSubstr("summary.html")));
  EXPECT_THAT(ran.err, HasSubstr("[3/3] pair.gfx942.slow: 1."));
  EXPECT_TRUE(fs::exists(runs / "pair.gfx942.slow/best.co"));
  EXPECT_THAT(text_of(runs / "pair.gfx942.slow/nodes/1/candidate.s"), HasSubstr("s_waitcnt"));
  EXPECT_TRUE(fs::exists(runs / "pair.gfx942.fast/report.html"));
  EXPECT_FALSE(fs::exists(runs / "copy.slow"));

  const Json summary = json_of(text_of(runs / "summary.json"));
  const Json &slow = row(summary, "pair.gfx942.slow"), &copy = row(summary, "copy.slow"),
             &broken = row(summary, "broken");
  EXPECT_GT(slow.at("speedup").get<double>(), 1.05);
  EXPECT_GT(slow.at("speedup_structural").get<double>(), 1.0);
  EXPECT_EQ(slow.at("exit_code"), 0);
  EXPECT_EQ(slow.at("attempts"), 6);
  EXPECT_EQ(copy.at("same_as"), "pair.gfx942.slow");
  EXPECT_EQ(copy.at("speedup"), slow.at("speedup"));
  EXPECT_EQ(broken.at("exit_code"), 2);
  EXPECT_THAT(broken.at("why_not").get<std::string>(), HasSubstr("broken.co"));
  EXPECT_EQ(row(summary, "pair.gfx942.fast").at("exit_code"), 1);
  EXPECT_THAT(text_of(runs / "summary.html"),
              AllOf(HasSubstr("pair.gfx942.slow/report.html"), HasSubstr("No GPU has been seen"),
                    Not(HasSubstr("<script"))));

  if (run_command({"sh", "-c", "command -v python3"}).exit_code == 0) {
    const Ran table = run_command({"python3", ASMEVO_SOURCE_DIR "/tools/results_table.py",
                                   (runs / "summary.json").string(), "--strip", ".slow"});
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, AllOf(HasSubstr("**modelled (mi300x)**"), HasSubstr("| pair.gfx942 |"),
                                 HasSubstr("1 of 2 faster"), Not(HasSubstr("copy"))));
  }

  // Nothing is left to do: the same again, at once; and what came to the folder since is taken in.
  const Ran again = run_asmevo(batch_command(folder));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, ran.out);
  EXPECT_EQ(again.err, "");
  // A run that somebody has removed is made again.
  fs::remove_all(runs / "pair.gfx942.fast");
  EXPECT_THAT(run_asmevo(batch_command(folder)).err, HasSubstr("[2/3] pair.gfx942.fast: nothing faster"));
  EXPECT_TRUE(fs::exists(runs / "pair.gfx942.fast/report.html"));
  ASSERT_TRUE(write_file(in / "more.hsaco", std::string_view("nonsense, too")));
  EXPECT_THAT(run_asmevo(batch_command(folder)).out, HasSubstr("6 kernels: 1 faster, 1 not, 2 failed"));

  const Ran status = run_asmevo({"status", runs.string(), "--json"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(json_of(status.out).at("faster"), 1);
  const Ran report = run_asmevo({"report", runs.string(), "-o", (folder / "page.html").string()});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(text_of(folder / "page.html"), text_of(runs / "summary.html"));
}

TEST(Batch, GoesOnAfterAnInterruption) {
  const TemporaryFolder folder;
  inputs(folder, slow_proposals());
  std::vector<std::string> command = {
      "timeout", "--foreground", "--preserve-status", "-s", "INT", "6", ASMEVO_BINARY_DIR "/asmevo"};
  for (const std::string& word : batch_command(folder)) command.push_back(word);
  const Ran stopped = run_command(command);
  const std::string runs = (folder / "runs").string();
  EXPECT_EQ(stopped.exit_code, 1) << stopped.err;
  EXPECT_THAT(stopped.out, AllOf(HasSubstr(" not done"), HasSubstr("'asmevo resume " + runs + "' goes on")));
  EXPECT_TRUE(fs::exists(folder / "runs/summary.json"));
  EXPECT_EQ(run_asmevo({"status", runs}).exit_code, 1);
  const Ran ended = run_asmevo({"resume", runs, "--attempts", "4", "--json"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const Json summary = json_of(ended.out);
  EXPECT_EQ(summary.at("open"), 0);
  EXPECT_EQ(summary.at("not_faster"), 2);
  EXPECT_GE(row(summary, "pair.gfx942.slow").at("attempts").get<int>(), 4);
  EXPECT_EQ(run_asmevo({"status", runs}).exit_code, 0);
}

TEST(Batch, InfersLaunchesInTritonsCache) {
  const TemporaryFolder folder;
  const fs::path entry = folder / "in/ABCDEFG";
  fs::create_directories(entry);
  fs::copy_file(ASMEVO_BINARY_DIR "/kernels/mi300a/relu.gfx942.co", entry / "relu.hsaco");
  ASSERT_TRUE(
      write_file(entry / "relu.json", std::string_view(R"({"name": "relu", "num_warps": 2, "shared": 64,
    "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}})")));
  const Ran ran = run_asmevo({"optimize", (folder / "in").string(), "-o", (folder / "runs").string(),
                              "--attempts", "2", "--members", "2", "--timing-effort", "100000", "--json"});
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  const Json summary = json_of(ran.out);
  EXPECT_EQ(row(summary, "relu").at("state"), "done") << ran.out;
  EXPECT_TRUE(row(summary, "relu").at("launch_inferred").get<bool>());
  EXPECT_THAT(text_of(folder / "runs/relu.launch.toml"),
              AllOf(HasSubstr("128"), HasSubstr("dynamic_lds = 64")));
}

TEST(Batch, RefusesWhatMakesNoSense) {
  const TemporaryFolder folder;
  inputs(folder, pair_proposals);
  const auto refused = [](const std::vector<std::string>& command, const std::string& what) {
    const Ran ran = run_asmevo(command);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(what));
  };
  fs::create_directories(folder / "empty");
  refused({"optimize", (folder / "empty").string(), "-o", (folder / "runs").string()}, "no code object");
  EXPECT_FALSE(fs::exists(folder / "runs"));
  refused({"optimize", (folder / "in").string(), "-o", (folder / "in").string()},
          "is there already and is no batch");
  refused(
      {"optimize", (folder / "in/pair.gfx942.co").string(), "-o", (folder / "runs").string(), "--only", "x*"},
      "--only");
  ASSERT_TRUE(write_file(folder / "in/pair.gfx942.co", std::string_view("nonsense")));
  EXPECT_EQ(run_asmevo(batch_command(folder)).exit_code, 1); // nothing faster: all of them failed
  std::vector<std::string> other = batch_command(folder);
  other.insert(other.end(), {"--seed", "7"});
  refused(other, "a batch with another setup/seed");
  ASSERT_TRUE(write_file(folder / "runs/batch.json", std::string_view("{}")));
  refused(batch_command(folder), "no batch of this version");
}

} // namespace
} // namespace asmevo::testing
