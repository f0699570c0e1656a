// Runs that are ended with kill -9 at some moment, and then resumed: what comes of them is what comes of one
// that nobody disturbs. And two processes at one run.
#include "base/files.h"
#include "base/random.h"
#include "cli/pair_run.h"
#include "full_run.h"
#include "run/run_folder.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

const std::string attempts = "20";

std::vector<std::string> command(const fs::path& run) {
  return {"optimize",   pair_k0,           "--kernel",
          "slow",       "--launch",        ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml",
          "--model",    "mi300x",          "--members",
          "3",          "--workers",       "2",
          "--attempts", attempts,          "-o",
          run.string(), "--timing-effort", "50000"};
}

// What a run came to, but for times of day; and whether its database is whole.
Json summary(const fs::path& folder) {
  Json j = Json::array();
  const auto database = run::Database::open(folder / "run.sqlite", true);
  if (!database) return database.error().message;
  const auto whole = database->rows("PRAGMA integrity_check");
  if (!whole || run::as_text(whole->at(0).at(0)) != "ok") return "run.sqlite is damaged";
  const auto opened = run::RunFolder::open(folder, false);
  if (!opened) return opened.error().message;
  const auto tried = *(*opened)->attempts();
  for (const run::Attempt& a : tried)
    j.push_back({a.round, a.slot, a.base, name(a.outcome), a.text, a.edit, a.evaluation.object_hash,
                 a.evaluation.seconds, a.over_best, a.speedup, a.node.value_or(0)});
  const auto nodes = *(*opened)->nodes();
  for (const run::Node& n : nodes)
    j.push_back({n.id, n.parent, n.round, n.slot, n.object_hash, n.seconds, n.held_back_seconds, n.speedup,
                 n.edit, n.rule, n.profile});
  const auto events = *(*opened)->events();
  for (const run::Event& e : events)
    if (e.kind == "commit") j.push_back(e.text);
  for (const char* file : {"best.co", "best.json"}) {
    const auto bytes = read_file(folder / file);
    j.push_back(bytes ? std::string(bytes->begin(), bytes->end()) : bytes.error().message);
  }
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A process of asmevo, leader of a group, that says nothing.
pid_t start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ASMEVO_BINARY_DIR "/asmevo");
  std::vector<char*> words;
  for (std::string& a : arguments) words.push_back(a.data());
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  ::execv(words[0], words.data());
  ::_exit(127);
}

// Whether it was still there to be killed. With `all`, its workers go at the same moment.
bool killed_after(pid_t child, double seconds, bool all) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  if (all) ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

// The run as if nobody had disturbed it, and how long that takes.
struct Undisturbed {
  TemporaryFolder folder;
  Json summary;
  double seconds = 0;
  Undisturbed() {
    const auto before = Clock::now();
    const Ran ran = run_asmevo(command(folder / "run"));
    seconds = std::chrono::duration<double>(Clock::now() - before).count();
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    summary = testing::summary(folder / "run");
  }
};

// Until it comes to its end; also where it was killed before there was anything to resume.
void finish(const fs::path& run) {
  Ran ran = run_asmevo({"resume", run.string(), "--attempts", attempts, "--workers", "2"});
  if (ran.exit_code == 2) {
    EXPECT_THAT(ran.err, ::testing::AnyOf(HasSubstr("no run of asmevo"), HasSubstr("before it began")));
    ran = run_asmevo(command(run));
  }
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST(KilledRuns, GoOnAsIfNothingHadHappened) {
  const Undisturbed whole;
  const unsigned kills = test::full_run() ? 50 : 3;
  RandomStream random(20261130);
  for (unsigned n = 0; n < kills; ++n) {
    const TemporaryFolder folder;
    // Spread over the whole run, which takes longer under load: the last ones may come too late.
    const double moment = whole.seconds * (n + static_cast<double>(random.below(1000)) / 1000) / kills;
    killed_after(start(command(folder / "run")), moment, n % 2 == 1);
    // Once more on the way.
    if (n % 3 == 2)
      killed_after(start({"resume", (folder / "run").string(), "--attempts", attempts}), moment / 2,
                   n % 2 == 0);
    finish(folder / "run");
    EXPECT_EQ(summary(folder / "run"), whole.summary) << "killed after " << moment << " s";
    for (const auto& entry : fs::recursive_directory_iterator(folder / "run"))
      EXPECT_THAT(entry.path().extension().string(),
                  ::testing::AnyOf("", ".co", ".s", ".json", ".toml", ".html", ".sqlite", ".sqlite-wal",
                                   ".sqlite-shm"));
  }
}

// What making a folder leaves at each of its steps.
TEST(KilledRuns, AFolderThatWasOnlyBegunIsUsed) {
  for (const auto& files : std::vector<std::vector<std::string>>{
           {"lock"}, {"lock", "k0.co"}, {"lock", "k0.co", "k0.co.x1Y2z3"}, {"lock", "k0.co", "run.sqlite"}}) {
    const TemporaryFolder folder;
    fs::create_directories(folder / "run");
    for (const std::string& f : files) ASSERT_TRUE(write_file(folder / "run" / f, ""));
    const Ran resumed = run_asmevo({"resume", (folder / "run").string()});
    EXPECT_EQ(resumed.exit_code, 2);
    EXPECT_THAT(resumed.err, HasSubstr("before it began"));
    auto run = run::RunFolder::create(folder / "run", {{"driver", "rules"}}, Bytes{1});
    ASSERT_TRUE(run) << run.error().message;
    run->reset();
    EXPECT_FALSE(run::RunFolder::create(folder / "run", {}, Bytes{1})) << "now it is one";
  }
  const TemporaryFolder other;
  fs::create_directories(other / "run");
  ASSERT_TRUE(write_file(other / "run" / "k0.co", "mine"));
  EXPECT_FALSE(run::RunFolder::create(other / "run", {}, Bytes{1})) << "nobody says that this was a run";
}

TEST(KilledRuns, TwoProcessesCannotWorkOnOneRun) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  ASSERT_TRUE(write_file(folder / "proposals.json", slow_proposals()));
  const pid_t first = start(pair_command(run, folder / "proposals.json"));
  const auto too_late = Clock::now() + std::chrono::seconds(60);
  while (!fs::exists(run / "launch.toml") && Clock::now() < too_late)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const Ran second = run_asmevo({"resume", run.string()});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_EQ(second.err, fmt::format("asmevo: {}: another process works on this run\n", run.string()));
  const Ran third = run_asmevo(pair_command(run, folder / "proposals.json"));
  EXPECT_EQ(third.exit_code, 2);
  EXPECT_THAT(third.err, HasSubstr("is there already"));
  EXPECT_TRUE(killed_after(first, 0, false)) << "they did not disturb it";
}

} // namespace
} // namespace asmevo::testing
