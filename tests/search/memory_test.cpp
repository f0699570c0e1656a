// What searches remember of each other.
#include "base/files.h"
#include "search/user_memory.h"

#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>

namespace asmevo::search {
namespace {

run::Attempt attempt(const std::string& rule, gate::Outcome outcome, double over_best = 1) {
  run::Attempt a;
  a.rule = rule, a.outcome = outcome, a.over_best = over_best;
  return a;
}

TEST(Memory, WhatPaidIsWorthMore) {
  Memory m;
  EXPECT_EQ(m.factor("waits", "L2"), 1);
  for (int n = 0; n < 10; ++n) {
    m.learn(attempt("waits", gate::Outcome::Committed, 1.03), "L2");
    m.learn(attempt("hoisted", gate::Outcome::Divergent), "L2");
  }
  EXPECT_GT(m.factor("waits", "L2"), 2);
  EXPECT_LT(m.factor("hoisted", "L2"), 0.6);
  EXPECT_EQ(m.factor("waits", "matrix"), 1) << "another pattern says nothing";
}

TEST(Memory, TheMachinesFailuresSayNothing) {
  Memory m;
  m.learn(attempt("waits", gate::Outcome::InfrastructureError), "L2");
  m.learn(attempt("waits", gate::Outcome::Duplicate), "L2");
  EXPECT_TRUE(m.yields().empty());
}

TEST(Memory, ComesBackFromText) {
  Memory m;
  m.learn(attempt("waits", gate::Outcome::Committed, 1.03), "L2");
  m.learn(attempt("waits", gate::Outcome::Hazard), "L2");
  m.note({"L2", "wide loads pay"});
  const auto again = Memory::parse(m.json().dump());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->json(), m.json());
}

TEST(Memory, IsBounded) {
  Memory m;
  for (int n = 0; n < 2000; ++n) {
    m.learn(attempt(fmt::format("rule{}", n), gate::Outcome::Divergent), "L2");
    m.note({"L2", fmt::format("insight {} {}", n, std::string(1000, 'x'))});
  }
  EXPECT_EQ(m.yields().size(), Memory::most_yields);
  EXPECT_EQ(m.insights().size(), Memory::most_insights);
  EXPECT_LT(m.json().dump().size(), 200'000U);
  EXPECT_LE(m.digest("L2", 20).size(), 20U);
}

TEST(Memory, WhatIsNoMemoryIsRefused) {
  for (
      const char* text :
      {"", "[]", "{}", "{\"version\":2}", "{\"version\":1}", "{\"version\":1,\"yields\":{}}",
       R"({"version":1,"yields":[{"rule":"a"}],"failures":[],"insights":[]})",
       R"({"version":1,"yields":[{"rule":"a","pattern":"","attempts":1,"verified":2,"commits":0,"log_gain":0}],"failures":[],"insights":[]})",
       R"({"version":1,"yields":[],"failures":[],"insights":[7]})"}) {
    const auto m = Memory::parse(text);
    ASSERT_FALSE(m) << text;
    EXPECT_EQ(m.error().kind, ErrorKind::BadInput);
  }
}

// Several at once, and none is lost.
TEST(UserMemory, EverybodyAddsToIt) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("asmevo_memory_{}", ::getpid());
  std::filesystem::remove_all(folder);
  const auto file = folder / "deep/memory.json";
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Memory learnt;
      learnt.learn(attempt("waits", gate::Outcome::Divergent), "L2");
      for (int n = 0; n < 5; ++n) EXPECT_TRUE(add_to_user_memory(file, learnt));
    });
  threads.clear();
  const auto all = read_user_memory(file);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->yields().at({"waits", "L2"}).attempts, 20U);
  ASSERT_TRUE(write_file(file, std::string_view("garbage")));
  EXPECT_FALSE(read_user_memory(file));
  EXPECT_FALSE(add_to_user_memory(file, Memory())) << "what is not ours is not overwritten";
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace asmevo::search
