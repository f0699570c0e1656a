// Whole runs over the gates, with proposals from a file.
#include "base/hash.h"
#include "gate/pair_kernel.h"
#include "search/optimization.h"

#include <unistd.h>

namespace asmevo::search {
namespace {

using gate::edit_of;
using gate::id_of;
using gate::inserted;
using gate::late_wait;
using gate::replaced;

class Runs : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("asmevo_{}_{}", info->name(), ::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static const oracle::Subject& k0() {
    static const auto subject = *oracle::Subject::open(gate::pair_request().k0);
    return *subject;
  }
  static program::Edit nops(unsigned count) {
    std::string text;
    for (unsigned n = 0; n < count; ++n) text += "s_nop 0\n";
    return edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), text)}, fmt::format("{} s_nop", count));
  }

  // Wrong ones, one that is slower, the good one twice, and one that starts from it.
  static std::vector<program::Edit> proposals() {
    std::vector<program::Edit> list = {
        edit_of({inserted(id_of(k0(), "s_endpgm"), "v_frob v1")}),
        edit_of({replaced(id_of(k0(), "s_waitcnt vmcnt(0)"), "")}),
        edit_of({replaced(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "v_sub_u32_e32 v3, v3, v4")}),
        nops(3),
        late_wait(k0()),
        late_wait(k0()),
        nops(5),
        nops(3)};
    program::Edit next = edit_of({inserted(id_of(k0(), "s_endpgm"), "s_nop 0")}, "on top");
    next.base = 1;
    list.push_back(next);
    return list;
  }

  OptimizationSettings settings(const std::vector<program::Edit>& edits) {
    std::string text;
    for (const program::Edit& e : edits) text += nlohmann::json::parse(e.json()).dump() + "\n";
    EXPECT_TRUE(write_file(folder_ / "proposals.jsonl", text));
    OptimizationSettings s;
    s.setup = gate::pair_request();
    s.driver = "replay";
    s.proposals = folder_ / "proposals.jsonl";
    return s;
  }

  OptimizationHooks hooks(unsigned workers) {
    OptimizationHooks h;
    h.workers = workers;
    h.program = ASMEVO_BINARY_DIR "/asmevo";
    h.interrupted = &interrupted_;
    return h;
  }

  Result<OptimizationResult> run(const std::string& name, const OptimizationSettings& s,
                                 unsigned workers = 2) {
    return optimize(folder_ / name, s, s.setup.k0, hooks(workers));
  }

  // What a run came to, without times of day.
  gate::Json summary(const std::string& name) {
    const auto opened = run::RunFolder::open(folder_ / name, false);
    gate::Json j = gate::Json::array();
    const auto attempts = *(*opened)->attempts();
    const auto nodes = *(*opened)->nodes();
    for (const run::Attempt& a : attempts)
      j.push_back({a.round, a.slot, a.base, gate::name(a.outcome), a.text, a.edit, a.evaluation.object_hash,
                   a.evaluation.seconds, a.node.value_or(0)});
    for (const run::Node& n : nodes)
      j.push_back(
          {n.id, n.parent, n.object_hash, n.seconds, n.held_back_seconds, n.speedup, n.edit, n.profile});
    return j;
  }

  std::vector<std::string> outcomes(const std::string& name) {
    const auto opened = run::RunFolder::open(folder_ / name, false);
    std::vector<std::string> list;
    const auto attempts = *(*opened)->attempts();
    for (const run::Attempt& a : attempts) list.emplace_back(gate::name(a.outcome));
    return list;
  }

  std::filesystem::path folder_;
  std::atomic<bool> interrupted_ = false;
};

TEST_F(Runs, EachProposalEndsAsItShould) {
  const auto result = run("run", settings(proposals()));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, End::Converged);
  EXPECT_EQ(outcomes("run"), (std::vector<std::string>{
                                 "asm_invalid", "hazard", "divergent", "insufficient_speedup", "committed",
                                 "duplicate", "insufficient_speedup", "duplicate", "insufficient_speedup"}));
  ASSERT_TRUE(result->best);
  EXPECT_GT(result->best->speedup, 1.2);
  EXPECT_GT(result->structural.speedup, 1.2);
  const auto best = read_file(folder_ / "run/best.co");
  ASSERT_TRUE(best);
  EXPECT_EQ(content_hash(*best), result->best->object_hash);
  const auto text = *read_file(folder_ / "run/best.json");
  const auto json = gate::Json::parse(text.begin(), text.end());
  EXPECT_EQ(json.at("device"), "modelled (mi300x)");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run/nodes/1/candidate.co"));
}

// The number of workers decides nothing.
TEST_F(Runs, WorkersDoNotMatter) {
  const OptimizationSettings s = settings(proposals());
  for (const unsigned workers : {1U, 2U, 4U}) ASSERT_TRUE(run(fmt::format("run{}", workers), s, workers));
  EXPECT_EQ(summary("run1"), summary("run2"));
  EXPECT_EQ(summary("run1"), summary("run4"));
}

// In pieces, and in one.
TEST_F(Runs, ResumedRunsAreTheSame) {
  OptimizationSettings s = settings(proposals());
  ASSERT_TRUE(run("whole", s));
  s.budget.attempts = 3;
  const auto first = run("pieces", s);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end, End::BudgetUsed);
  for (const uint64_t more : {5, 6, 100}) {
    const auto next = resume(folder_ / "pieces", Budget{.attempts = more, .seconds = {}}, hooks(2));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->standing.attempts, std::min<uint64_t>(more, proposals().size()));
  }
  EXPECT_EQ(summary("pieces"), summary("whole"));
}

TEST_F(Runs, NothingBetterLeavesNoBest) {
  const auto result = run("run", settings({nops(1), nops(2)}));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->best);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/best.co"));
}

TEST_F(Runs, AnInterruptedRunGoesOn) {
  const OptimizationSettings s = settings(proposals());
  ASSERT_TRUE(run("whole", s));
  OptimizationHooks h = hooks(2);
  h.watch = [&](const Standing& standing) {
    if (standing.attempts >= 5) interrupted_ = true;
  };
  const auto first = optimize(folder_ / "run", s, s.setup.k0, h);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->end, End::Interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/best.co")) << "nobody had the time to verify it";
  interrupted_ = false;
  const auto second = resume(folder_ / "run", {}, hooks(2));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->end, End::Converged);
  EXPECT_EQ(summary("run"), summary("whole"));
}

TEST_F(Runs, AnotherDriverCannotGoOn) {
  OptimizationSettings s = settings(proposals());
  s.budget.attempts = 3;
  ASSERT_TRUE(run("run", s));
  settings({nops(7), nops(8)}); // the file is another one now
  const auto next = resume(folder_ / "run", Budget{.attempts = 9, .seconds = {}}, hooks(1));
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::BadInput);
}

} // namespace
} // namespace asmevo::search
