// Reports on runs that are made here, entry by entry: what they contain, and that nothing in a run, however
// hostile, gets out of its place in the page.
#include "base/files.h"
#include "base/hash.h"
#include "report/html.h"
#include "report/markup.h"
#include "report/run_report.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace asmevo::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Bytes k0_bytes() {
  return *read_file(ASMEVO_BINARY_DIR "/kernels/saxpy.gfx942.co");
}

// A run folder that goes with the object.
class MadeRun {
 public:
  explicit MadeRun(const search::OptimizationSettings& settings = {}) {
    static int count = 0;
    path_ = fs::temp_directory_path() / fmt::format("asmevo_report_{}_{}", ::getpid(), count++);
    fs::remove_all(path_);
    auto run = run::RunFolder::create(path_, settings.json(), k0_bytes());
    EXPECT_TRUE(run) << run.error().message;
    run_ = *std::move(run);
  }
  ~MadeRun() {
    run_.reset();
    fs::remove_all(path_);
  }
  MadeRun(const MadeRun&) = delete;

  run::RunFolder& operator*() { return *run_; }
  run::RunFolder* operator->() { return run_.get(); }
  /// Nobody works on it any more.
  void leave() { run_.reset(); }
  const fs::path& path() const { return path_; }

  void set_up(const std::vector<std::string>& left_out = {}) {
    EXPECT_TRUE(run_->set("report", {{"target", "gfx942"},
                                     {"model", "mi308x"},
                                     {"shape", "full"},
                                     {"rule", "scaled"},
                                     {"cases", 183},
                                     {"held_back", 86},
                                     {"left_out", left_out},
                                     {"warnings", left_out},
                                     {"notes", left_out},
                                     {"k0_seconds", {2e-4, 2.2e-4}}}));
    run::Node root;
    root.object_hash = content_hash(k0_bytes());
    root.seconds = {2e-4, 2.2e-4};
    root.profile = gate::NodeProfile().json();
    EXPECT_TRUE(run_->record(root));
  }

  run::Attempt attempt(uint32_t round, gate::Outcome outcome, const std::string& text) {
    run::Attempt a;
    a.round = round, a.driver = "rules", a.direction = "latency hiding", a.rule = "waits";
    a.rationale = "wait later", a.text = text, a.at = round + 0.5;
    a.outcome = outcome;
    return a;
  }

  // The first instruction of saxpy, twice: a node of the same results.
  void commit(uint32_t id, double speedup, const std::string& rationale) {
    run::Node n;
    n.id = id, n.round = id, n.speedup = speedup, n.over_parent = speedup;
    n.seconds = {2e-4 / speedup, 2.2e-4 / speedup};
    n.edit = R"({"version":1,"base":0,"kernel":"saxpy","changes":[{"before":"0","text":"s_nop 0"}]})";
    n.object_hash = content_hash(k0_bytes());
    n.direction = "latency hiding", n.rule = "waits", n.rationale = rationale, n.at = id + 0.5;
    n.profile = gate::NodeProfile().json();
    EXPECT_TRUE(make_folder(path_ / "nodes" / std::to_string(id)));
    EXPECT_TRUE(write_file(path_ / "nodes" / std::to_string(id) / "candidate.co", k0_bytes()));
    EXPECT_TRUE(run_->record(n));
    run::Attempt a = attempt(id, gate::Outcome::Committed, "fast");
    a.node = id, a.speedup = speedup, a.over_best = speedup, a.rationale = rationale;
    EXPECT_TRUE(run_->record(a));
  }

 private:
  fs::path path_;
  std::unique_ptr<run::RunFolder> run_;
};

std::string page_of(const fs::path& folder) {
  const auto report = RunReport::read(folder);
  EXPECT_TRUE(report) << report.error().message;
  if (!report) return "";
  const std::string page = html_of(*report);
  const auto error = markup_error(page);
  EXPECT_FALSE(error) << *error;
  EXPECT_THAT(page, AllOf(Not(HasSubstr("src=")), Not(HasSubstr("http:")), Not(HasSubstr("https:")),
                          Not(HasSubstr("url(")), Not(HasSubstr("<script"))));
  return page;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(HtmlText, IsHarmless) {
  EXPECT_EQ(html_text("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
  EXPECT_EQ(html_text(std::string("a\x01\n\x1b[0m\0b", 9)), "a\\x01\\x0a\\x1b[0m\\x00b");
  EXPECT_EQ(html_text("\u0085\u202e\u2066x\u200f"), "\\x85\\u202e\\u2066x\\u200f");
  EXPECT_EQ(html_text("a\xff\xc0\xaf\xed\xa0\x80z"), "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdz");
  EXPECT_EQ(html_text("\u00fc\u65e5\U0001f600"), "\u00fc\u65e5\U0001f600");
  EXPECT_EQ(html_text("\u65e5\u65e5", 4), "\u65e5\u2026");
  EXPECT_EQ(html_text("\xf0\x9f\x98"), "\ufffd\ufffd\ufffd");
}

TEST(MarkupError, FindsMistakes) {
  EXPECT_FALSE(markup_error("<html a=\"b&amp;\"><p>x</p><br/></html>\n"));
  for (const char* bad :
       {"<html><p></html>", "<html>a & b</html>", "<html a=b></html>", "<html>", "<html>a < b</html>",
        "<html a=\"<\"></html>", "<html>\x01</html>", "<html></html>x"})
    EXPECT_TRUE(markup_error(bad)) << bad;
}

TEST(RunReport, HasEverythingOfACommit) {
  search::OptimizationSettings settings;
  settings.object = "saxpy.co", settings.command = "asmevo optimize saxpy.co -o RUN",
  settings.made_by = "asmevo 9.8.7";
  settings.setup.kernel = "saxpy", settings.setup.seed = 77;
  MadeRun run(settings);
  run.set_up({"a size that K0 hangs at"});
  ASSERT_TRUE(run->record(run.attempt(0, gate::Outcome::Divergent, "buffer 'y': first at 3")));
  run.commit(1, 1.25, "the wait stands behind the work");
  ASSERT_TRUE(run->record(run::Event{3, "end", "there are no more ideas"}));
  ASSERT_TRUE(run->set("state", "done"));
  run.leave();
  const std::string page = page_of(run.path());
  for (const char* part : {"saxpy.co",
                           "<h1>saxpy</h1>",
                           "1.250\u00d7",
                           "modelled (mi308x)",
                           "No GPU has been seen",
                           "210.00 us",
                           "168.00 us",
                           "there are no more ideas",
                           "the wait stands behind the work",
                           "s_nop 0",
                           "1.0",
                           "latency hiding",
                           "waits",
                           "buffer &#39;y&#39;: first at 3",
                           "divergent",
                           "insufficient_speedup",
                           "a size that K0 hangs at",
                           "<b>183</b>",
                           "<b>86</b>",
                           "none that must stay differs",
                           "asmevo optimize saxpy.co -o RUN",
                           "asmevo 9.8.7",
                           "77",
                           "prefers-color-scheme: dark",
                           "Content-Security-Policy",
                           "best.co or best.json is gone"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_EQ(count_of(page, "<svg"), 2U);

  const Json json = json_of(*RunReport::read(run.path()));
  EXPECT_EQ(json.at("speedup"), 1.25);
  EXPECT_EQ(json.at("commits").at(0).at("change").at("added"), 1);
  EXPECT_EQ(json.at("abi").at("frozen_differ"), 0);
  EXPECT_EQ(json.at("attempts").size(), 2U);
  EXPECT_EQ(json.at("directions").at(0).at("attempts"), 2);
  EXPECT_THAT(text_of(*RunReport::read(run.path())),
              AllOf(HasSubstr("1.250x, modelled (mi308x): 210.00 us -> 168.00 us"), HasSubstr("node 1")));
}

TEST(RunReport, SaysWhatIsVerifiedFromDisk) {
  MadeRun run;
  run.set_up();
  run.commit(1, 1.25, "");
  ASSERT_TRUE(write_file(run.path() / "best.co", k0_bytes()));
  const auto state = [&] { return RunStatus::read(run.path())->best_file.state; };
  EXPECT_EQ(state(), BestFile::NotYet);
  ASSERT_TRUE(run->set("state", "done"));
  run.leave();
  EXPECT_EQ(state(), BestFile::Gone);
  const std::string hash = content_hash(k0_bytes());
  ASSERT_TRUE(write_file(run.path() / "best.json", Json({{"object_hash", 7}}).dump()));
  EXPECT_EQ(state(), BestFile::Changed);
  ASSERT_TRUE(write_file(run.path() / "best.json", Json({{"object_hash", hash}}).dump()));
  EXPECT_EQ(state(), BestFile::Verified);
  // best.co of an earlier end, another object since: not this one.
  ASSERT_TRUE(write_file(run.path() / "best.co", "something else"));
  EXPECT_EQ(state(), BestFile::Changed);
  EXPECT_THAT(text_of(*RunReport::read(run.path())), HasSubstr("was changed since"));
  // A node whose object is not what was committed: no word about its interface.
  ASSERT_TRUE(write_file(run.path() / "nodes/1/candidate.co", "something else"));
  const auto report = RunReport::read(run.path());
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->abi);
  EXPECT_THAT(report->notes, ::testing::Contains(HasSubstr("not the object that was committed")));
  page_of(run.path());
}

TEST(RunReport, OfARunThatFoundNothing) {
  MadeRun run;
  run.set_up();
  ASSERT_TRUE(run->record(run.attempt(0, gate::Outcome::InsufficientSpeedup, "0.99 times the best")));
  ASSERT_TRUE(run->set("state", "done"));
  run.leave();
  const std::string page = page_of(run.path());
  EXPECT_THAT(page, AllOf(HasSubstr("Nothing faster was found"), HasSubstr("1 attempt in"),
                          Not(HasSubstr("best.co")), HasSubstr("0.99 times the best"),
                          Not(HasSubstr("id=\"commits\""))));
}

TEST(RunReport, OfARunThatHasHardlyBegun) {
  MadeRun run;
  EXPECT_EQ(RunStatus::read(run.path())->state, RunState::SettingUp);
  EXPECT_THAT(page_of(run.path()), AllOf(HasSubstr("Nothing faster so far"), HasSubstr("setting up")));
  EXPECT_THAT(text_of(*RunReport::read(run.path())), HasSubstr("not known yet"));
  run.leave();
  EXPECT_EQ(RunStatus::read(run.path())->state, RunState::Killed);
}

TEST(RunReport, StatesOfARun) {
  MadeRun run;
  run.set_up();
  ASSERT_TRUE(run->set("state", "searching"));
  ASSERT_TRUE(run->record(run.attempt(0, gate::Outcome::Hazard, "")));
  EXPECT_EQ(RunStatus::read(run.path())->state, RunState::Searching);
  run.leave();
  EXPECT_EQ(RunStatus::read(run.path())->state, RunState::Killed);
  EXPECT_THAT(text_of(*RunStatus::read(run.path())), HasSubstr("asmevo resume"));
  for (const auto& [written, state] : {std::pair{"interrupted", RunState::Interrupted},
                                       {"failed", RunState::Failed},
                                       {"done", RunState::Done}}) {
    {
      const auto again = run::RunFolder::open(run.path(), true);
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_TRUE((*again)->set("state", written));
      ASSERT_TRUE((*again)->record(run::Event{1, "end", "why"}));
    }
    const auto status = RunStatus::read(run.path());
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->state, state);
    EXPECT_EQ(status->end, "why");
    EXPECT_EQ(status->tally.attempts, 1U);
    EXPECT_THAT(page_of(run.path()), HasSubstr(std::string(name(state))));
  }
}

// Everything that comes from outside, at once.
TEST(RunReport, HostileTextsStayInTheirPlace) {
  const std::string evil = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)> \"' & &lt; "
                           "]]> --> \x01\x1b[31m\x7f\u202e\xff\xc3 javascript:alert(3) " +
                           std::string(300'000, 'A');
  search::OptimizationSettings settings;
  settings.object = evil, settings.command = evil, settings.made_by = evil, settings.driver = evil;
  settings.setup.kernel = evil, settings.setup.launch = evil, settings.setup.capture = evil;
  settings.setup.shape = evil, settings.setup.rule = evil;
  MadeRun run(settings);
  run.set_up({evil, evil});
  run.commit(1, 1.25, evil);
  for (uint32_t n = 2; n < 40; ++n) {
    run::Attempt a = run.attempt(n, static_cast<gate::Outcome>(n % gate::outcome_count), evil);
    a.driver = a.direction = a.rule = a.rationale = evil;
    a.direction += std::to_string(n);
    a.speedup = 0.9, a.over_best = 0.9;
    ASSERT_TRUE(run->record(a));
  }
  for (const char* kind : {"failed", "not_confirmed", "end"})
    ASSERT_TRUE(run->record(run::Event{3, kind, evil}));
  ASSERT_TRUE(run->set("state", "failed"));
  run.leave();
  const auto report = RunReport::read(run.path());
  ASSERT_TRUE(report) << report.error().message;
  const std::string page = html_of(*report);
  const auto error = markup_error(page);
  EXPECT_FALSE(error) << *error;
  EXPECT_EQ(count_of(page, "</style>"), 1U);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                          Not(HasSubstr("\u202e")), HasSubstr("&lt;script&gt;alert(1)")));
  EXPECT_LT(page.size(), 600'000U);
  EXPECT_THAT(json_of(*report).dump(-1, ' ', false, Json::error_handler_t::replace), Not(HasSubstr("\x1b")));
  const std::string text = text_of(*report) + text_of(report->status);
  EXPECT_FALSE(text.contains('\x1b') || text.contains('\x01'));
  EXPECT_LT(text.size(), 20'000U);
}

TEST(RunReport, NumbersThatAreNoneDoNoHarm) {
  MadeRun run;
  run.set_up();
  run.commit(1, std::numeric_limits<double>::infinity(), "inf");
  run::Attempt a = run.attempt(2, gate::Outcome::InsufficientSpeedup, "");
  a.speedup = std::numeric_limits<double>::quiet_NaN(), a.at = 1e300;
  ASSERT_TRUE(run->record(a));
  run.leave();
  page_of(run.path());
}

TEST(RunReport, ALongRunHasAPageOfAMegabyteAtMost) {
  MadeRun run;
  run.set_up();
  for (uint32_t n = 0; n < 20'000; ++n) {
    run::Attempt a =
        run.attempt(n, n % 3 == 0 ? gate::Outcome::Divergent : gate::Outcome::InsufficientSpeedup, "no");
    a.speedup = n % 3 == 0 ? 0 : 0.9 + n * 1e-6;
    ASSERT_TRUE(run->record(a));
  }
  EXPECT_LT(page_of(run.path()).size(), 1'000'000U);
}

TEST(RunReport, RefusesWhatIsNoRun) {
  const auto refused = [](const fs::path& folder) {
    const auto report = RunReport::read(folder);
    const auto status = RunStatus::read(folder);
    ASSERT_FALSE(report);
    ASSERT_FALSE(status);
    for (const Error& e : {report.error(), status.error()}) {
      EXPECT_EQ(e.exit_code(), 2) << e.message;
      EXPECT_THAT(e.message, HasSubstr(folder.string()));
      EXPECT_THAT(e.message, Not(HasSubstr("\n")));
    }
  };
  refused("/no/such/folder");
  MadeRun run;
  run.set_up();
  run.commit(1, 1.25, "");
  run.leave();
  const fs::path database = run.path() / "run.sqlite";
  const Bytes whole = *read_file(database);
  Bytes garbage = whole;
  for (size_t n = 0; n < garbage.size(); ++n) garbage[n] = static_cast<uint8_t>(n * 37);
  for (const Bytes& damaged : {Bytes(), Bytes(whole.begin(), whole.begin() + 50), garbage}) {
    ASSERT_TRUE(write_file(database, damaged));
    refused(run.path());
  }
  // Torn in the middle, or with pages of nothing: refused or read, but never more than that.
  for (size_t page = 1; page * 4096 < whole.size(); ++page) {
    Bytes torn = whole;
    std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, uint8_t{0xa5});
    ASSERT_TRUE(write_file(database, torn));
    if (const auto report = RunReport::read(run.path()); !report) {
      EXPECT_EQ(report.error().exit_code(), 2) << report.error().message;
    }
  }
}

TEST(RunReport, ValuesOfOtherKindsAreRefused) {
  for (const auto& [key, value] : {std::pair<std::string, Json>{"report", 7},
                                   {"report", {{"model", 3}, {"cases", "many"}}},
                                   {"settings", Json::array()},
                                   {"settings", {{"setup", 1}}}}) {
    MadeRun run;
    run.set_up();
    ASSERT_TRUE(run->set(key, value));
    run.leave();
    const auto report = RunReport::read(run.path());
    if (!report) {
      EXPECT_EQ(report.error().exit_code(), 2);
    } else {
      EXPECT_FALSE(html_of(*report).empty());
    }
  }
}

TEST(RunStatus, DoesNotDisturbTheWriter) {
  MadeRun run;
  run.set_up();
  ASSERT_TRUE(run->set("state", "searching"));
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      const auto status = RunStatus::read(run.path());
      EXPECT_TRUE(status) << status.error().message;
      EXPECT_TRUE(status && status->state == RunState::Searching);
    }
  });
  for (uint32_t n = 0; n < 300; ++n) ASSERT_TRUE(run->record(run.attempt(n, gate::Outcome::Hazard, "")));
  stop = true;
  reader.join();
  EXPECT_EQ(RunStatus::read(run.path())->tally.attempts, 300U);
}

// As a user who may read and not write: of a run that was left in good order, and of one that is open, whose
// last attempts stand beside the database.
TEST(RunStatus, ReadsWhereNothingMayBeWritten) {
  for (const bool open : {false, true}) {
    MadeRun run;
    run.set_up();
    ASSERT_TRUE(run->record(run.attempt(0, gate::Outcome::Hazard, "")));
    if (!open) run.leave();
    const fs::path copy = run.path().string() + "_copy";
    fs::remove_all(copy);
    fs::copy(run.path(), copy, fs::copy_options::recursive);
    fs::remove(copy / "run.sqlite-shm");
    for (const auto& entry : fs::directory_iterator(copy))
      if (entry.is_regular_file()) ::chmod(entry.path().c_str(), 0444);
    ::chmod(copy.c_str(), 0555);
    const pid_t child = ::fork();
    if (child == 0) {
      constexpr uid_t nobody = 65534;
      if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(9);
      const auto status = RunStatus::read(copy);
      ::_exit(status && status->tally.attempts == 1 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << (open ? "open" : "left");
    ::chmod(copy.c_str(), 0755);
    fs::remove_all(copy);
  }
}

} // namespace
} // namespace asmevo::report
