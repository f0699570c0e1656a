// Runs whose files somebody changed, and other things that a run should not take for granted: each ends with
// one line, or goes on rightly.
#include "base/hash.h"
#include "cli/pair_run.h"
#include "run/database.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The run that a program makes is made once, and kept in the build folder: each test is a process of its own.
fs::path made_once() {
  const std::string of = content_hash(*read_file(ASMEVO_BINARY_DIR "/asmevo"));
  const fs::path folder = ASMEVO_BINARY_DIR "/Testing/changed_runs", kept = folder / of;
  fs::create_directories(folder);
  const int lock = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  EXPECT_EQ(::flock(lock, LOCK_EX), 0);
  if (!fs::exists(kept / "made")) {
    for (const auto& old : fs::directory_iterator(folder))
      if (old.is_directory()) fs::remove_all(old);
    fs::create_directories(kept);
    EXPECT_TRUE(write_file(kept / "proposals.json", pair_proposals));
    const Ran ran = run_asmevo(pair_command(kept / "run", kept / "proposals.json"));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(write_file(kept / "made", std::string_view()));
  }
  ::close(lock);
  return kept;
}

// Each works on a copy.
class ChangedRuns : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(made_once() / "run", run_, fs::copy_options::recursive); }

  void sql(const std::string& statement) const {
    auto database = run::Database::open(run_ / "run.sqlite", true);
    ASSERT_TRUE(database);
    EXPECT_TRUE(database->run(statement)) << statement;
  }
  static void expect_refused(const std::vector<std::string>& command, const std::string& why) {
    const Ran ran = run_asmevo(command);
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_EQ(ran.err.find("asmevo: "), ran.err.rfind("asmevo: ")) << ran.err; // one line, after progress
  }

  TemporaryFolder folder_;
  const fs::path run_ = folder_ / "run";
};

// K0's times are those of the run's beginning; under another launch candidates would look faster or slower.
TEST_F(ChangedRuns, AnotherLaunchOrK0IsNotGoneOnWith) {
  std::string launch = text_of(run_ / "launch.toml");
  const size_t at = launch.find("count = 400");
  ASSERT_NE(at, std::string::npos);
  ASSERT_TRUE(write_file(run_ / "launch.toml", launch.replace(at, 11, "count = 100")));
  expect_refused({"resume", run_.string(), "--attempts", "8"}, "K0 takes another time");
  EXPECT_THAT(run_asmevo({"status", run_.string()}).out, HasSubstr(": done"))
      << "what was found still stands";
}

TEST_F(ChangedRuns, AnotherK0IsNoticed) {
  fs::copy_file(ASMEVO_BINARY_DIR "/kernels/pairs/load_coalesced.gfx942.co", run_ / "k0.co",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(run_asmevo({"report", run_.string()}).out, HasSubstr("not the K0 of this run"))
      << "what the database has is shown, the code cannot be";
  EXPECT_EQ(run_asmevo({"resume", run_.string(), "--attempts", "8"}).exit_code, 2);
}

TEST_F(ChangedRuns, WildValuesInTheDatabase) {
  sql("UPDATE attempts SET base = 4000000000 WHERE node = 1");
  const Ran ran = run_asmevo({"resume", run_.string(), "--attempts", "7"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  sql("UPDATE meta SET value = json_set(value, '$.width', 4000000000) WHERE key = 'settings'");
  expect_refused({"resume", run_.string(), "--attempts", "8"}, "width of 4000000000");
  const std::string deep(200'000, '[');
  sql("UPDATE meta SET value = '" + deep + std::string(deep.size(), ']') + "' WHERE key = 'report'");
  expect_refused({"report", run_.string()}, "not JSON");
}

TEST_F(ChangedRuns, ASmallerBudgetTakesNothingBack) {
  const Ran ran = run_asmevo({"resume", run_.string(), "--attempts", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("6 attempts: 2 committed"));
}

TEST_F(ChangedRuns, AnotherObjectUnderTheSameNameIsAnotherProposal) {
  ASSERT_TRUE(write_file(folder_ / "p.json", R"([{"object": "o.co", "rationale": "r"}])"));
  fs::copy_file(run_ / "best.co", folder_ / "o.co");
  const fs::path other = folder_ / "other";
  ASSERT_EQ(run_asmevo(pair_command(other, folder_ / "p.json")).exit_code, 0);
  fs::copy_file(pair_k0, folder_ / "o.co", fs::copy_options::overwrite_existing);
  expect_refused({"resume", other.string(), "--attempts", "8"}, "proposals were changed");
}

TEST_F(ChangedRuns, AReportIsNoReasonToLoseAnotherFile) {
  expect_refused({"report", run_.string(), "-o", (run_ / "run.sqlite").string()}, "is no report");
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_EQ(run_asmevo({"report", run_.string(), "-o", (folder_ / "r.html").string()}).exit_code, 0);
}

TEST_F(ChangedRuns, ALockThatIsAPipe) {
  fs::remove(run_ / "lock");
  ASSERT_EQ(::mkfifo((run_ / "lock").c_str(), 0600), 0);
  EXPECT_EQ(run_asmevo({"status", run_.string()}).exit_code, 0);
}

TEST_F(ChangedRuns, AWholeObjectIsCommitted) {
  ASSERT_TRUE(write_file(folder_ / "p.json", R"([{"object": "run/best.co", "base": 7}])"));
  const fs::path other = folder_ / "other";
  const Ran ran = run_asmevo(pair_command(other, folder_ / "p.json"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(*read_file(other / "best.co"), *read_file(run_ / "best.co"));
  EXPECT_EQ(run_asmevo({"report", other.string()}).exit_code, 0);
}

TEST_F(ChangedRuns, WholeObjectsThatAreNot) {
  for (const char* proposal :
       {R"([{"object": "run/best.co", "edit": 7}])", R"([{"object": "run/best.co\u0000x"}])",
        R"([{"object": ""}])", R"([{"object": "run/best.co", "rationale": 7}])"}) {
    ASSERT_TRUE(write_file(folder_ / "p.json", std::string_view(proposal)));
    expect_refused(pair_command(folder_ / "other", folder_ / "p.json"), "p.json");
  }
}

TEST_F(ChangedRuns, WhatIsInTheWayOfAReport) {
  fs::remove(run_ / "report.html");
  ASSERT_EQ(::mkfifo((run_ / "report.html").c_str(), 0600), 0);
  EXPECT_EQ(run_asmevo({"report", run_.string()}).exit_code, 3);
}

TEST_F(ChangedRuns, WhatIsNotBestAnyMore) {
  EXPECT_THAT(run_asmevo({"status", run_.string()}).out, HasSubstr("verified from the disk"));
  ASSERT_TRUE(write_file(run_ / "best.co", std::string_view("x")));
  EXPECT_THAT(run_asmevo({"status", run_.string()}).out, HasSubstr("best.co or best.json was changed since"));
  fs::remove(run_ / "best.co");
  EXPECT_THAT(run_asmevo({"report", run_.string()}).out, HasSubstr("best.co or best.json is gone"));
}

TEST_F(ChangedRuns, AMistakeLeavesNoFolderBehind) {
  const fs::path other = folder_ / "other";
  std::vector<std::string> command = {"optimize", pair_k0,
                                      "--kernel", "slow",
                                      "--launch", ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml",
                                      "-o",       other.string()};
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--rules", "nosuch"}, {"--model", "nosuch"}, {"--shape", "nosuch"}, {"--rule", "nosuch"}}) {
    std::vector<std::string> wrong = command;
    wrong.insert(wrong.end(), {option, value});
    expect_refused(wrong, "nosuch");
    EXPECT_FALSE(fs::exists(other)) << option;
  }
}

TEST_F(ChangedRuns, NamesAndReasonsAreData) {
  const fs::path named = folder_ / "k\xff.co";
  fs::copy_file(pair_k0, named);
  const std::string proposal = R"j([{"version":1,"base":0,"kernel":"slow",
    "changes":[{"first":"94","last":"94","text":""},{"before":"118","text":"s_waitcnt vmcnt(0)"}],
    "rationale":"a \u001b[31mred\u0007 one"}])j";
  ASSERT_TRUE(write_file(folder_ / "p.json", proposal));
  std::vector<std::string> command = pair_command(folder_ / "other", folder_ / "p.json");
  command[1] = named.string();
  const Ran ran = run_asmevo(command);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(fs::exists(folder_ / "other" / "best.json"));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("committed"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
  const Ran refused = run_asmevo({"status", "x\x1b[31m"});
  EXPECT_THAT(refused.err, AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\x1b"))));
}

TEST_F(ChangedRuns, DeepProposalsAreRefused) {
  ASSERT_TRUE(write_file(folder_ / "p.json", std::string(200'000, '[') + std::string(200'000, ']')));
  expect_refused(pair_command(folder_ / "other", folder_ / "p.json"), "not JSON: nested too deeply");
}

TEST_F(ChangedRuns, ProposalsThatDoNotParseAreToldWhere) {
  ASSERT_TRUE(write_file(folder_ / "p.json", "[{\"object\": \"a.co\"},\n {\"object\" \"b.co\"}]\n"));
  expect_refused(pair_command(folder_ / "other", folder_ / "p.json"),
                 "not JSON: line 2, column 17: syntax error");
}

} // namespace
} // namespace asmevo::testing
