// The verbs that look at a run: report, status, and diff with the reasons; on runs of the built program that
// ended, go on, were interrupted and were killed.
#include "cli/pair_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <thread>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

Json json_of(const Ran& ran) {
  Json j = Json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(j.is_object()) << ran.out << ran.err;
  return j;
}

TEST(Report, OfARunWithCommits) {
  const TemporaryFolder folder;
  const fs::path run = pair_run(folder);
  // optimize has written it.
  const std::string page = text_of(run / "report.html");
  for (const char* part : {"load_wait_late.gfx942.co",
                           "<h1>slow</h1>",
                           "modelled (mi300x)",
                           "No GPU has been seen",
                           "node 2",
                           "wait behind &lt;b&gt;some&lt;/b&gt; of the work",
                           "and behind more of it",
                           "asm_invalid",
                           "hazard",
                           "divergent",
                           "insufficient_speedup",
                           "s_waitcnt vmcnt(0)",
                           "WAITCNT",
                           "waves wait for memory",
                           "HBM",
                           "vector registers",
                           "none that must stay differs",
                           "verified once more",
                           "asmevo optimize ",
                           "--driver replay",
                           "invalid instruction"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("src=")), Not(HasSubstr("http:")),
                          Not(HasSubstr("https:"))));

  const Ran text = run_asmevo({"report", run.string(), "-o", (folder / "page.html").string()});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(StartsWith("load_wait_late.gfx942.co, kernel slow: 1."), HasSubstr("modelled (mi300x)"),
                    HasSubstr("node 2 "), HasSubstr("0 frozen differ"), HasSubstr("page.html")));
  EXPECT_EQ(text_of(folder / "page.html"), page);

  fs::remove(run / "report.html");
  const Json json = json_of(run_asmevo({"report", run.string(), "--json"}));
  EXPECT_FALSE(fs::exists(run / "report.html"));
  EXPECT_EQ(json.at("attempts").size(), 6U);
  EXPECT_EQ(json.at("commits").size(), 2U);
  EXPECT_EQ(json.at("best_node"), 2);
  EXPECT_TRUE(json.at("verified_from_disk").get<bool>());
  EXPECT_GT(json.at("speedup").get<double>(), 1.05);
  EXPECT_EQ(json.at("status").at("outcomes").at("committed"), 2);
  EXPECT_EQ(json.at("commits").at(1).at("parent"), 1);
  EXPECT_EQ(json.at("commits").at(0).at("change").at("removed"), 1);
  EXPECT_GE(json.at("abi").at("fields_compared").get<int>(), 100);
}

TEST(Report, DiffGivesTheReasons) {
  const TemporaryFolder folder;
  const fs::path run = pair_run(folder);
  const std::string best = (run / "best.co").string(), kept = (run / "k0.co").string();
  const Ran ran = run_asmevo({"diff", kept, best, "--run", run.string()});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  // Node 1 took the wait away, node 2 put it where it is.
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("@@ 0x94\n#  node 1, latency hiding: wait behind <b>some</b> of the work\n"),
                    HasSubstr("@@ 0x198\n#  node 2, latency hiding: and behind more of it\n")));
  const Json json = json_of(run_asmevo({"diff", pair_k0, best, "--run", run.string(), "--json"}));
  EXPECT_EQ(json.at("functions").at(0).at("hunks").at(1).at("commits").at(0).at("node"), 2);
  EXPECT_EQ(run_asmevo({"diff", kept, kept, "--run", run.string()}).exit_code, 0);
  for (const auto& [k0, k1, named] :
       {std::tuple{best, kept, "not the K0"}, {kept, sample("saxpy", "gfx942").string(), "no version"}}) {
    const Ran refused = run_asmevo({"diff", k0, k1, "--run", run.string()});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(named));
  }
  EXPECT_EQ(run_asmevo({"diff", kept, best, "--run", folder.path().string()}).exit_code, 2);
}

TEST(Report, StatusWhileItGoesOn) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  ASSERT_TRUE(write_file(folder / "proposals.json", slow_proposals()));
  std::vector<std::string> command = pair_command(run, folder / "proposals.json");
  command.insert(command.end(), {"--attempts", "8"});
  std::atomic<bool> over = false;
  Ran ran;
  std::jthread search([&] {
    ran = run_asmevo(command);
    over = true;
  });
  std::set<std::string> states;
  while (!over) {
    const Ran status = run_asmevo({"status", run.string(), "--json"});
    if (status.exit_code == 2 && status.err.contains("no run of asmevo")) continue; // not there yet
    EXPECT_EQ(status.exit_code, 0);
    const Json j = json_of(status);
    if (j.is_object()) states.insert(j.value("state", ""));
  }
  search.join();
  EXPECT_EQ(ran.exit_code, 1) << ran.err; // nothing is faster
  EXPECT_THAT(states, ::testing::Contains("searching"));
  const Ran status = run_asmevo({"status", run.string()});
  EXPECT_EQ(status.exit_code, 0) << status.out;
  EXPECT_THAT(status.out, AllOf(HasSubstr(": done: the budget is used up"), HasSubstr("nothing beats K0"),
                                HasSubstr("0 of 8 attempts left")));
  EXPECT_THAT(text_of(run / "report.html"),
              AllOf(HasSubstr("Nothing faster was found"), HasSubstr("8 attempts")));
}

// timeout(1) sends the signal; where the machine was so fast that the run was over, there is nothing to see.
Ran stopped_run(const TemporaryFolder& folder, const std::string& signal) {
  EXPECT_TRUE(write_file(folder / "proposals.json", slow_proposals()));
  std::vector<std::string> command = {
      "timeout", "--foreground", "-s", signal, "6", ASMEVO_BINARY_DIR "/asmevo"};
  for (const std::string& word : pair_command(folder / "run", folder / "proposals.json"))
    command.push_back(word);
  return run_command(command);
}

TEST(Report, OfARunThatWasKilled) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  stopped_run(folder, "KILL");
  Ran status;
  for (unsigned n = 0; n < 50; ++n) { // until its workers have noticed
    status = run_asmevo({"status", run});
    if (status.exit_code != 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(status.exit_code, 1) << status.out << status.err;
  EXPECT_THAT(status.out, AllOf(HasSubstr("run: killed\n"), HasSubstr("asmevo resume")));
  EXPECT_FALSE(fs::exists(folder / "run" / "report.html"));
  EXPECT_EQ(run_asmevo({"report", run}).exit_code, 0);
  EXPECT_THAT(text_of(folder / "run" / "report.html"), AllOf(HasSubstr("killed"), HasSubstr("so far")));
  // And it goes on after that.
  EXPECT_EQ(run_asmevo({"resume", run, "--attempts", "1"}).exit_code, 1);
  EXPECT_THAT(run_asmevo({"status", run}).out, HasSubstr("run: done"));
}

TEST(Report, OfARunThatWasInterrupted) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  stopped_run(folder, "INT");
  const Ran status = run_asmevo({"status", run});
  EXPECT_EQ(status.exit_code, 1) << status.out << status.err;
  EXPECT_THAT(status.out, HasSubstr("run: interrupted\n"));
  EXPECT_EQ(run_asmevo({"report", run}).exit_code, 0);
}

TEST(Report, OfARunThatWasInterruptedWhileSettingUp) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "proposals.json", slow_proposals()));
  const fs::path run = folder / "run";
  // A shell, since the signal must come when the folder is there, which is not long.
  std::vector<std::string> command = {
      "sh", "-c", R"(run=$0; "$@" & while [ ! -e "$run/lock" ]; do sleep 0.01; done; kill -TERM $!; wait $!)",
      run.string(), ASMEVO_BINARY_DIR "/asmevo"};
  for (const std::string& word : pair_command(run, folder / "proposals.json")) command.push_back(word);
  const Ran ran = run_command(command);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("interrupted"), HasSubstr("'asmevo resume " + run.string() + "' goes on")));
  EXPECT_THAT(run_asmevo({"status", run.string()}).out, HasSubstr("run: interrupted\n"));
  EXPECT_EQ(run_asmevo({"resume", run.string(), "--attempts", "1"}).exit_code, 1);
}

TEST(Report, RefusesWhatIsNoRun) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  ASSERT_TRUE(make_folder(run));
  const auto refused = [&](const std::string& why) {
    for (const std::string verb : {"report", "status"}) {
      const Ran ran = run_asmevo({verb, run.string()});
      EXPECT_EQ(ran.exit_code, 2) << why << ran.out;
      EXPECT_THAT(ran.out, IsEmpty());
      EXPECT_THAT(ran.err, AllOf(StartsWith("asmevo: "), HasSubstr(run.string())));
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    }
    EXPECT_FALSE(fs::exists(run / "report.html"));
  };
  refused("empty folder");
  for (const std::string& content :
       {std::string(), std::string("SQLite format 3"), std::string(100'000, 'x')}) {
    ASSERT_TRUE(write_file(run / "run.sqlite", content));
    refused(content.substr(0, 10));
  }
}

TEST(Report, APageThatCannotBeWrittenLeavesNothing) {
  const TemporaryFolder folder;
  const fs::path run = pair_run(folder);
  const Ran ran = run_asmevo({"report", run.string(), "-o", (folder / "no-such-folder/page.html").string()});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("no-such-folder/page.html"));
}

} // namespace
} // namespace asmevo::testing
