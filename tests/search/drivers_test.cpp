// Drivers that walk: what they propose, and what they make of its outcome.
#include "base/random.h"
#include "made_up.h"
#include "oracle/verify.h"
#include "search/drivers/mixed.h"
#include "search/drivers/schedule.h"
#include "search/drivers/stochastic.h"
#include "search/drivers/window_lines.h"

#include <algorithm>
#include <set>

namespace asmevo::search {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace): its names are this file's

timing::Machine machine() {
  return timing::MachineModel::for_target("mi300x", k0()->object().target())->nominal();
}

std::vector<std::string> instructions_of(const program::Program& p) {
  std::vector<std::string> lines;
  const program::Function& f = *p.find_function("slow");
  for (program::Index i = f.begin; i < f.padding; ++i) lines.push_back(program::print(p, i, k0()->codec()));
  return lines;
}

std::vector<Suggestion> some(Driver& driver, const Lineage& lineage, size_t count) {
  std::vector<Suggestion> list;
  while (list.size() < count) {
    auto s = driver.propose(lineage, {});
    if (!s) break;
    list.push_back(*std::move(s));
  }
  return list;
}

// The same seed, the same proposals; another seed, others; none twice.
TEST(Walks, FollowFromTheSeed) {
  const Lineage lineage = lineage_of();
  const auto edits = [&](Driver& d) {
    std::vector<std::string> list;
    for (const Suggestion& s : some(d, lineage, 20)) list.push_back(s.edit.json());
    return list;
  };
  for (const bool schedule : {true, false}) {
    const auto make = [&](uint64_t seed) {
      return schedule ? make_schedule(machine(), "", seed) : make_stochastic("", seed);
    };
    const auto a = edits(*make(1)), again = edits(*make(1)), b = edits(*make(2));
    EXPECT_EQ(a, again);
    EXPECT_NE(a, b);
    EXPECT_GT(a.size(), schedule ? 3U : 19U);
    EXPECT_EQ(std::set<std::string>(a.begin(), a.end()).size(), a.size());
  }
}

// Order alone, waits apart; and nothing that the static check has a word to say about.
TEST(ScheduleDriver, ChangesOrderAlone) {
  const Lineage lineage = lineage_of();
  const auto driver = make_schedule(machine(), "", 3);
  const auto without_waits = [](std::vector<std::string> lines) {
    std::erase_if(lines,
                  [](const std::string& l) { return l.starts_with("s_waitcnt") || l.starts_with("s_nop"); });
    std::ranges::sort(lines);
    return lines;
  };
  const auto should = without_waits(instructions_of(k0()->program()));
  const auto proposals = some(*driver, lineage, 20);
  ASSERT_GT(proposals.size(), 3U);
  for (const Suggestion& s : proposals) {
    const auto spliced = program::splice(k0()->program(), s.edit, 1, k0()->codec());
    ASSERT_TRUE(spliced) << spliced.error().describe();
    EXPECT_EQ(without_waits(instructions_of(*spliced)), should);
    const auto built = rebuild::build_spliced(k0()->original(), k0()->program(), *spliced, s.edit);
    ASSERT_TRUE(built) << built.error().message;
    const auto verdict = oracle::compare_statically(*k0(), **oracle::Subject::open(built->object));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->outcome, oracle::Outcome::Equivalent) << s.edit.json();
  }
}

// What it keeps of a version is still there when others have come.
TEST(ScheduleDriver, GoesOnWhenTheLineageGrows) {
  Lineage lineage = lineage_of();
  const auto driver = make_schedule(machine(), "", 3);
  ASSERT_TRUE(driver->propose(lineage, {}));
  const program::Program* const root = &lineage.at(0).named;
  for (unsigned n = 0; n < 40; ++n) add_node(lineage, 0, 1.01 + 0.01 * n, nop_before("s_endpgm", n + 1));
  EXPECT_EQ(&lineage.at(0).named, root);
  for (const Suggestion& s : some(*driver, lineage, 10))
    EXPECT_TRUE(program::splice(k0()->program(), s.edit, 1, k0()->codec()));
}

// What was verified and is faster is where it goes on from; what was refused is not.
TEST(StochasticDriver, WalksOnFromWhatIsFaster) {
  const Lineage lineage = lineage_of();
  const auto driver = make_stochastic("", 5);
  const auto first = driver->propose(lineage, {});
  ASSERT_TRUE(first);
  Made faster(first->edit, 1.05);
  driver->learn(faster.outcome);
  const auto moved = [](const program::Edit& e) {
    const auto spliced = program::splice(k0()->program(), e, 1, k0()->codec());
    return spliced ? instructions_of(*spliced) : std::vector<std::string>();
  };
  const auto here = moved(first->edit);
  size_t from_here = 0, tried = 0;
  for (int n = 0; n < 20; ++n) {
    const auto next = driver->propose(lineage, {});
    ASSERT_TRUE(next);
    const auto lines = moved(next->edit);
    driver->learn(Made(next->edit, 1).refused(gate::Outcome::Divergent).outcome);
    if (lines.empty()) continue; // does not assemble
    ++tried;
    // One more move: most lines are those of the first step.
    size_t same = 0;
    for (const std::string& l : here) same += std::ranges::find(lines, l) != lines.end();
    from_here += same + 2 >= here.size();
  }
  EXPECT_EQ(from_here, tried);
}

// Whatever becomes of the lines, the change that is made of them gives just these.
TEST(WindowLines, TheLeastChangeGivesTheLines) {
  const Lineage lineage = lineage_of();
  const program::Program& p = lineage.at(0).named;
  RandomStream random(1);
  unsigned changed = 0;
  for (unsigned n = 0; n < 300; ++n) {
    std::vector<Segment> segments = segments_of(lineage.at(0), "", 3);
    ASSERT_FALSE(segments.empty());
    Segment& s = segments[random.below(segments.size())];
    for (unsigned k = 0; k < 1 + random.below(3); ++k) {
      const auto at = static_cast<std::ptrdiff_t>(random.below(s.lines.size()));
      switch (random.below(3)) {
      case 0:
        if (s.lines.size() > 1) s.lines.erase(s.lines.begin() + at);
        break;
      case 1: s.lines.insert(s.lines.begin() + at, {program::no_index, "s_nop 3"}); break;
      default: std::swap(s.lines[static_cast<size_t>(at)], s.lines.front());
      }
    }
    const auto change = change_of(s, p, k0()->codec());
    if (!change) continue;
    ++changed;
    const auto spliced = program::splice(p, edit_of({*change}), 1, k0()->codec());
    ASSERT_TRUE(spliced) << spliced.error().describe();
    std::vector<std::string> should;
    const program::Function& f = *p.find_function("slow");
    for (program::Index i = f.begin; i < s.begin; ++i) should.push_back(program::print(p, i, k0()->codec()));
    for (const Line& l : s.lines) should.push_back(l.text);
    for (program::Index i = s.end; i < f.padding; ++i) should.push_back(program::print(p, i, k0()->codec()));
    EXPECT_EQ(instructions_of(*spliced), should);
  }
  EXPECT_GT(changed, 200U);
}

class Counting : public Driver {
 public:
  Counting(std::string_view name, size_t most, size_t& learnt) : name_(name), most_(most), learnt_(learnt) {}
  std::string_view name() const override { return name_; }
  std::optional<Suggestion> propose(const Lineage&, const Assignment&) override {
    if (made_ == most_) return std::nullopt;
    Suggestion s;
    s.edit = edit_of({}, fmt::format("{} {}", name_, made_++));
    return s;
  }
  void learn(const Outcome&) override { ++learnt_; }

 private:
  std::string_view name_;
  size_t most_, made_ = 0;
  size_t& learnt_;
};

TEST(Mixed, WhoEarnsItIsAskedMoreAndAllLearn) {
  size_t learnt_a = 0, learnt_b = 0, learnt_c = 0;
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(std::make_unique<Counting>("a", 1000, learnt_a));
  drivers.push_back(std::make_unique<Counting>("b", 1000, learnt_b));
  drivers.push_back(std::make_unique<Counting>("c", 0, learnt_c));
  const auto mixed = make_mixed(std::move(drivers));
  const Lineage lineage = lineage_of();
  std::map<std::string_view, size_t> asked;
  for (int n = 0; n < 200; ++n) {
    const auto s = mixed->propose(lineage, {});
    ASSERT_TRUE(s);
    if (n == 0) {
      EXPECT_EQ(s->driver, "a");
    }
    ++asked[s->driver];
    Made made(s->edit, s->driver == "b" ? 1.02 : 0.99);
    mixed->learn(made.outcome);
  }
  EXPECT_GT(asked["b"], 120U);
  EXPECT_GT(asked["a"], 0U);
  EXPECT_FALSE(asked.contains("c"));
  EXPECT_EQ(learnt_a, 200U);
  EXPECT_EQ(learnt_c, 200U);
}

TEST(Mixed, NobodyHasAnything) {
  size_t learnt = 0;
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(std::make_unique<Counting>("a", 0, learnt));
  EXPECT_FALSE(make_mixed(std::move(drivers))->propose(lineage_of(), {}));
}

} // namespace
} // namespace asmevo::search
