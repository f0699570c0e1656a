// Who works on what, what is put together, and what happens when nothing comes of it: without gates, from
// outcomes that are made up.
#include "made_up.h"
#include "search/integrator.h"
#include "search/planner.h"
#include "search/stall_watch.h"
#include "search/start_points.h"

namespace asmevo::search {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace): its names are this file's

// --- planner

TEST(Planner, ASingleSearcherWorksOnTheBest) {
  Lineage lineage = lineage_of();
  Planner planner(Mode::Single);
  EXPECT_EQ(planner.next(lineage), Assignment{});
  add_node(lineage, 0, 1.1, nop_before("s_endpgm"));
  const auto a = planner.next(lineage);
  ASSERT_TRUE(a);
  EXPECT_EQ(a->base, 1U);
  EXPECT_FALSE(a->direction);
  planner.exhausted(*a);
  EXPECT_FALSE(planner.next(lineage)) << "the root is no start point of one searcher";
  planner.start_from(2);
  EXPECT_EQ(planner.next(lineage)->base, 0U);
}

TEST(Planner, TheMembersOfARoundGetDifferentWork) {
  const Lineage lineage = lineage_of();
  Planner planner(Mode::Team);
  std::set<std::string> work;
  for (int n = 0; n < 4; ++n) {
    const auto a = planner.next(lineage);
    ASSERT_TRUE(a);
    work.insert(fmt::format("{} {}", a->direction ? name(*a->direction) : "any",
                            a->place ? a->place->first.text() : "anywhere"));
  }
  EXPECT_GE(work.size(), 3U);
}

std::map<std::string, int> directions(const std::string& reason, int rounds) {
  const Lineage lineage = lineage_of(reason);
  Planner planner(Mode::Team);
  std::map<std::string, int> count;
  for (int n = 0; n < rounds; ++n) {
    const auto a = planner.next(lineage);
    if (a && a->direction) ++count[std::string(name(*a->direction))];
  }
  return count;
}

// What waves stand for says what is tried first.
TEST(Planner, TheProfileIsTheFirstGuess) {
  auto waits = directions("WAITCNT", 8), contended = directions("ARBITER_NOT_WIN", 8);
  EXPECT_GT(waits["latency hiding"], contended["latency hiding"]);
  EXPECT_GT(contended["instruction simplification"], waits["instruction simplification"]);
}

// Arms that pay are tried more often than those that do not; those without ideas not at all.
TEST(Planner, ItLearnsWhatPays) {
  const Lineage lineage = lineage_of();
  Planner planner(Mode::Team);
  std::map<bool, int> tries;
  for (int n = 0; n < 400; ++n) {
    const auto a = planner.next(lineage);
    ASSERT_TRUE(a);
    const bool pays = a->direction == Direction::MemoryAccess;
    ++tries[pays];
    planner.learn(*a, Made(nop_before("s_endpgm"), pays ? 1.02 : 0.99).outcome);
  }
  EXPECT_GT(tries[true], 200);
  for (int n = 0; n < 400; ++n)
    if (const auto a = planner.next(lineage)) planner.exhausted(*a);
  EXPECT_FALSE(planner.next(lineage));
}

TEST(Planner, FailuresOfTheMachineCountForNothing) {
  const Lineage lineage = lineage_of();
  Planner tried(Mode::Team), untried(Mode::Team);
  const auto first = tried.next(lineage);
  tried.learn(*first, Made(nop_before("s_endpgm"), 1).refused(gate::Outcome::InfrastructureError).outcome);
  EXPECT_EQ(tried.next(lineage), untried.next(lineage));
}

TEST(Planner, ARedirectGivesUpWhatLedNowhere) {
  const Lineage lineage = lineage_of();
  Planner planner(Mode::Team);
  std::set<std::string> before;
  for (int n = 0; n < 300; ++n) {
    const auto a = planner.next(lineage);
    ASSERT_TRUE(a);
    if (a->direction == Direction::LatencyHiding)
      planner.learn(*a, Made(nop_before("s_endpgm"), 1).refused(gate::Outcome::Divergent).outcome);
    else
      planner.learn(*a, Made(nop_before("s_endpgm"), 1.001).outcome);
  }
  const auto given_up = planner.redirect();
  ASSERT_FALSE(given_up.empty());
  for (const std::string& text : given_up) EXPECT_TRUE(text.starts_with("latency hiding")) << text;
  for (int n = 0; n < 50; ++n) EXPECT_NE(planner.next(lineage)->direction, Direction::LatencyHiding);
  // Until something is committed: then all is open again.
  Made made(nop_before("s_endpgm"), 1.1);
  made.outcome.node = 1;
  planner.learn(*planner.next(lineage), made.outcome);
  int latency = 0;
  for (int n = 0; n < 50; ++n) latency += planner.next(lineage)->direction == Direction::LatencyHiding;
  EXPECT_GT(latency, 0);
}

// --- start points

TEST(StartPoints, FastOnesThatDiffer) {
  Lineage lineage = lineage_of();
  const program::Edit a = nop_before("s_endpgm"), b = nop_before("v_add_u32_e32 v3, v3, v4");
  add_node(lineage, 0, 1.20, a);                         // 1
  add_node(lineage, 1, 1.25, nop_before("s_endpgm", 2)); // 2: 1, and the same place again
  add_node(lineage, 0, 1.10, b);                         // 3: another idea
  EXPECT_EQ(start_points(lineage, 1), (std::vector<uint32_t>{2}));
  EXPECT_EQ(start_points(lineage, 2), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(start_points(lineage, 9).size(), 4U);
}

// --- integrator

// Two that win a little each are tried together on the best version.
TEST(Integrator, PutsTogetherWhatWasFoundApart) {
  const Lineage lineage = lineage_of();
  Integrator integrator;
  const program::Edit a = nop_before("s_endpgm"), b = nop_before("v_add_u32_e32 v3, v3, v4");
  EXPECT_FALSE(integrator.propose(lineage, true));
  integrator.learn(lineage, Made(a, 1.001).outcome);
  EXPECT_FALSE(integrator.propose(lineage, true)) << "one is not two";
  integrator.learn(lineage, Made(b, 1.002).outcome);
  const auto both = integrator.propose(lineage, true);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->edit.changes.size(), 2U);
  EXPECT_EQ(both->rule, Integrator::name);
  EXPECT_FALSE(integrator.propose(lineage, true)) << "the same again";
}

TEST(Integrator, LeavesOutWhatIsRefusedOrSlower) {
  const Lineage lineage = lineage_of();
  Integrator integrator;
  integrator.learn(lineage, Made(nop_before("s_endpgm"), 1.001).outcome);
  integrator.learn(lineage, Made(nop_before("v_add_u32_e32 v3, v3, v4"), 0.9).outcome);
  integrator.learn(lineage,
                   Made(nop_before("s_waitcnt vmcnt(0)"), 1.1).refused(gate::Outcome::Divergent).outcome);
  EXPECT_FALSE(integrator.propose(lineage, true));
}

// What overlaps cannot be done together; a third one can.
TEST(Integrator, ChangesOfAPartAreDisjoint) {
  const Lineage lineage = lineage_of();
  Integrator integrator;
  const auto wait = id_of(*k0(), "s_waitcnt vmcnt(0)");
  integrator.learn(lineage, Made(edit_of({replaced(wait, "s_waitcnt vmcnt(0)\ns_nop 0")}), 1.002).outcome);
  integrator.learn(lineage, Made(edit_of({replaced(wait, "s_waitcnt vmcnt(0)\ns_nop 1")}), 1.001).outcome);
  EXPECT_FALSE(integrator.propose(lineage, true));
  integrator.learn(lineage, Made(nop_before("s_endpgm"), 1.001).outcome);
  const auto two = integrator.propose(lineage, true);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->edit.changes.size(), 2U);
}

// What was verified on K0 goes on top of what was committed since, where that left its place alone.
TEST(Integrator, PartsMoveToANewBest) {
  Lineage lineage = lineage_of();
  Integrator integrator;
  const program::Edit a = nop_before("s_endpgm"), b = nop_before("v_add_u32_e32 v3, v3, v4");
  const auto wait = id_of(*k0(), "s_waitcnt vmcnt(0)");
  integrator.learn(lineage, Made(a, 1.004).outcome);
  integrator.learn(lineage, Made(b, 1.003).outcome);
  integrator.learn(lineage, Made(edit_of({replaced(wait, "s_waitcnt vmcnt(0)\ns_nop 0")}), 1.002).outcome);
  add_node(lineage, 0, 1.1, edit_of({replaced(wait, "s_waitcnt vmcnt(0)\ns_nop 3")}));
  const auto s = integrator.propose(lineage, false);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->edit.base, 1U);
  EXPECT_EQ(s->edit.changes.size(), 2U) << "what the new best has changed itself is out";
  const auto spliced = program::splice(lineage.best().named, s->edit, 2, k0()->codec());
  EXPECT_TRUE(spliced) << spliced.error().describe();
  // A part that the new best has already is not done to it twice.
  add_node(lineage, 1, 1.2, a);
  const auto next = integrator.propose(lineage, false);
  EXPECT_FALSE(next);
}

// Step by step, a part stays only where the time fell.
TEST(Integrator, ABadPartIsFoundStepByStep) {
  const Lineage lineage = lineage_of();
  Integrator integrator;
  const std::array<program::Edit, 4> parts = {nop_before("s_endpgm"), nop_before("v_add_u32_e32 v3, v3, v4"),
                                              nop_before("s_waitcnt vmcnt(0)"), nop_before("global_store")};
  double gain = 1.004;
  for (const program::Edit& e : parts) integrator.learn(lineage, Made(e, gain).outcome), gain -= 0.0005;
  // Whatever holds the second one is slow.
  const auto answer = [&](const Suggestion& s) {
    const bool bad = std::ranges::any_of(
        s.edit.changes, [&](const program::Change& c) { return c.before == parts[1].changes[0].before; });
    Made made(s.edit, bad ? 0.9 : 1 + 0.003 * static_cast<double>(s.edit.changes.size()));
    made.suggestion.rule = s.rule;
    integrator.learn(lineage, made.outcome);
    return bad;
  };
  size_t most_good = 0;
  for (int n = 0; n < 20; ++n) {
    const auto s = integrator.propose(lineage, true);
    if (!s) break;
    if (!answer(*s)) most_good = std::max(most_good, s->edit.changes.size());
  }
  EXPECT_EQ(most_good, 3U);
}

// --- stalls

TEST(StallWatch, OneStepAfterTheOther) {
  StallWatch watch;
  const Made slow(nop_before("s_endpgm"), 1);
  std::vector<StallStep> steps;
  for (unsigned n = 0; n < 4 * StallWatch::standard_patience; ++n) {
    for (int k = 0; k < 4; ++k) watch.see(slow.outcome);
    if (const StallStep s = watch.after_round(false); s != StallStep::None) steps.push_back(s);
  }
  EXPECT_EQ(steps,
            (std::vector{StallStep::Redirect, StallStep::Backtrack, StallStep::Widen, StallStep::GiveUp}));
  EXPECT_EQ(watch.tried(), "no direction: 160 tried (160 insufficient_speedup)");
}

TEST(StallWatch, ACommitBeginsAnew) {
  StallWatch watch;
  const Made slow(nop_before("s_endpgm"), 1);
  Made good(nop_before("s_endpgm"), 1.1);
  good.outcome.node = 1;
  for (unsigned n = 0; n < 10 * StallWatch::standard_patience; ++n) {
    watch.see(n % 5 == 4 ? good.outcome : slow.outcome);
    EXPECT_EQ(watch.after_round(false), StallStep::None);
  }
}

TEST(StallWatch, RepeatsAndFailuresAreNoticedEarlier) {
  for (const auto why : {gate::Outcome::Duplicate, gate::Outcome::InfrastructureError}) {
    StallWatch watch;
    Made made(nop_before("s_endpgm"), 1);
    made.refused(why);
    unsigned rounds = 0;
    do
      for (int k = 0; k < 4; ++k) watch.see(made.outcome);
    while (watch.after_round(false) == StallStep::None && ++rounds < 100);
    EXPECT_LT(rounds, StallWatch::standard_patience / 2);
    EXPECT_NE(watch.why().find(why == gate::Outcome::Duplicate ? "repeats" : "machine"), std::string::npos);
  }
}

// Where nobody has ideas left each step is tried at once, and then it is over.
TEST(StallWatch, ItEnds) {
  StallWatch watch;
  EXPECT_EQ(watch.after_round(true), StallStep::Redirect);
  EXPECT_EQ(watch.after_round(true), StallStep::Backtrack);
  EXPECT_EQ(watch.after_round(true), StallStep::Widen);
  EXPECT_EQ(watch.after_round(true), StallStep::GiveUp);
}

} // namespace
} // namespace asmevo::search
