#include "base/files.h"
#include "run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace asmevo::run {
namespace {

using ::testing::HasSubstr;

std::filesystem::path fresh_folder() {
  static int count = 0;
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("asmevo_run_{}_{}", ::getpid(), count++);
  std::filesystem::remove_all(path);
  return path;
}

Attempt attempt(uint32_t round, uint32_t slot) {
  Attempt a;
  a.round = round, a.slot = slot, a.base = 3;
  a.driver = "rules", a.direction = "latency hiding", a.rule = "waits", a.rationale = "a 'quoted' reason";
  a.edit = R"({"version":1})";
  a.evaluation.refuse(gate::Outcome::Divergent, "tiny: buffer 'y'");
  a.evaluation.gate = gate::Gate::G2;
  a.evaluation.details = {{"buffer", "y"}};
  a.evaluation.seconds = {1e-6, 2e-6};
  a.outcome = gate::Outcome::Divergent;
  a.at = 1.5;
  return a;
}

TEST(RunFolder, GivesBackWhatWasRecorded) {
  const auto path = fresh_folder();
  {
    const auto run = RunFolder::create(path, {{"driver", "rules"}}, Bytes{1, 2, 3});
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE((*run)->record(attempt(1, 0)));
    ASSERT_TRUE((*run)->record(attempt(0, 1)));
    Attempt a = attempt(0, 0);
    a.evaluation = {};
    ASSERT_TRUE((*run)->record(a));
    a.held_back = gate::Evaluation();
    a.outcome = gate::Outcome::Committed, a.node = 7, a.speedup = 1.25;
    ASSERT_TRUE((*run)->record_decision(a));
    Node n;
    n.id = 7, n.parent = 3, n.seconds = {1, 2}, n.rationale = "why", n.profile = {{"kernels", Json::array()}};
    ASSERT_TRUE((*run)->record(n));
    ASSERT_TRUE((*run)->record(Event{2, "commit", "node 7"}));
    ASSERT_TRUE((*run)->set("state", "searching"));
  }
  const auto run = RunFolder::open(path, false);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->settings().at("driver"), "rules");
  const auto attempts = (*run)->attempts();
  ASSERT_TRUE(attempts) << attempts.error().message;
  ASSERT_EQ(attempts->size(), 3U);
  EXPECT_EQ((*attempts)[0].node, 7U);
  EXPECT_EQ((*attempts)[0].outcome, gate::Outcome::Committed);
  EXPECT_TRUE((*attempts)[0].evaluation.passed()) << "what the gates before G4 said stays";
  EXPECT_TRUE((*attempts)[0].held_back);
  EXPECT_EQ((*attempts)[1].evaluation.json(), attempt(0, 1).evaluation.json());
  EXPECT_EQ((*attempts)[1].rationale, "a 'quoted' reason");
  EXPECT_EQ((*attempts)[2].round, 1U);
  const auto nodes = (*run)->nodes();
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 1U);
  EXPECT_EQ((*nodes)[0].seconds, (std::vector<double>{1, 2}));
  EXPECT_EQ((*(*run)->events()).size(), 1U);
  EXPECT_EQ(*(*run)->get("state"), Json("searching"));
  std::filesystem::remove_all(path);
}

TEST(RunFolder, TwoCannotWrite) {
  const auto path = fresh_folder();
  auto first = RunFolder::create(path, {}, Bytes{1});
  ASSERT_TRUE(first);
  EXPECT_TRUE((*first)->in_use());
  const auto second = RunFolder::open(path, true);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::Environment);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos);
  EXPECT_TRUE(RunFolder::open(path, false)) << "reading is free";
  first->reset();
  EXPECT_TRUE(RunFolder::open(path, true));
  EXPECT_FALSE((*RunFolder::open(path, false))->in_use());
  std::filesystem::remove_all(path);
}

TEST(RunFolder, WhatIsThereIsNotOverwritten) {
  const auto path = fresh_folder();
  ASSERT_TRUE(RunFolder::create(path, {}, Bytes{1}));
  const auto again = RunFolder::create(path, {}, Bytes{1});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::BadInput);
  EXPECT_NE(again.error().message.find("resume"), std::string::npos);
  std::filesystem::remove_all(path);
}

TEST(RunFolder, DamagedDatabasesAreOneLine) {
  const auto path = fresh_folder();
  ASSERT_TRUE(RunFolder::create(path, {}, Bytes{1}));
  const std::string garbage(5000, 'x');
  ASSERT_TRUE(write_file(path / "run.sqlite", garbage));
  std::filesystem::remove(path / "run.sqlite-wal");
  for (const bool write : {false, true}) {
    const auto run = RunFolder::open(path, write);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::BadInput) << run.error().message;
  }
  std::filesystem::remove_all(path);
  EXPECT_FALSE(RunFolder::open(path, false));
}

// Whatever was recorded before a process dies is there.
TEST(RunFolder, SurvivesKill) {
  const auto path = fresh_folder();
  const pid_t child = ::fork();
  if (child == 0) {
    auto run = RunFolder::create(path, {}, Bytes{1});
    for (uint32_t n = 0; n < 50; ++n) (void)(*run)->record(attempt(n, 0));
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  const auto run = RunFolder::open(path, true);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->attempts()->size(), 50U);
  std::filesystem::remove_all(path);
}

// Who looks while a run is being made finds a whole one, or is told that there is none yet.
TEST(RunFolder, IsWholeOrNotThere) {
  for (unsigned n = 0; n < 20; ++n) {
    const auto path = fresh_folder();
    std::atomic<bool> made = false;
    std::jthread maker([&] {
      EXPECT_TRUE(RunFolder::create(path, Json::object(), Bytes{1}));
      made = true;
    });
    for (bool last = false; !last;) {
      last = made;
      const auto opened = RunFolder::open(path, false);
      if (opened) continue;
      EXPECT_FALSE(last) << opened.error().message;
      EXPECT_THAT(opened.error().message,
                  ::testing::AnyOf(HasSubstr("no run of asmevo"), HasSubstr("being set up"),
                                   HasSubstr("before it began")));
    }
    maker.join();
    std::filesystem::remove_all(path);
  }
}

// Killed at a moment when there is a folder and no run in it.
TEST(RunFolder, StartsAgainOnWhatWasNeverMade) {
  const auto path = fresh_folder();
  ASSERT_TRUE(make_folder(path));
  for (const char* file : {"lock", "run.sqlite"}) ASSERT_TRUE(write_file(path / file, std::string_view()));
  const auto opened = RunFolder::open(path, false);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("before it began"), std::string::npos);
  {
    const auto lock = FileLock::take(path / "lock", "it", "run");
    ASSERT_TRUE(lock);
    EXPECT_TRUE(RunFolder::being_made(path));
    EXPECT_FALSE(RunFolder::create(path, Json::object(), Bytes{1}));
  }
  EXPECT_FALSE(RunFolder::being_made(path));
  ASSERT_TRUE(RunFolder::create(path, Json::object(), Bytes{1}));
  EXPECT_TRUE(RunFolder::open(path, false));
  EXPECT_FALSE(RunFolder::create(path, Json::object(), Bytes{1})); // now there is a run
}

} // namespace
} // namespace asmevo::run
