// A process can be interrupted between judging an attempt and deciding on it. Whoever resumes the run
// decides, and that is in the run's folder afterwards as if nothing had happened.
#include "gate/pair_kernel.h"
#include "search/optimization.h"

#include <unistd.h>

namespace asmevo::search {
namespace {

std::vector<gate::Json> outcomes_of(const std::filesystem::path& folder) {
  std::vector<gate::Json> list;
  const auto run = run::RunFolder::open(folder, false);
  EXPECT_TRUE(run) << run.error().message;
  const auto attempts = (*run)->attempts();
  EXPECT_TRUE(attempts) << attempts.error().message;
  for (const run::Attempt& a : *attempts)
    list.push_back({name(a.outcome), a.text, a.over_best, a.speedup, a.evaluation.object_hash});
  return list;
}

TEST(UndecidedAttempt, IsDecidedByWhoeverResumes) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("asmevo_undecided_{}", ::getpid());
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(make_folder(folder));
  const auto k0 = oracle::Subject::open(gate::pair_request().k0);
  ASSERT_TRUE(k0);
  const auto slower = gate::edit_of({gate::inserted(gate::id_of(**k0, "v_fma_f32"), "s_nop 7")}, "slower");
  ASSERT_TRUE(
      write_file(folder / "proposals.json", "[" + slower.json() + "," + gate::late_wait(**k0).json() + "]"));

  OptimizationSettings settings;
  settings.setup = gate::pair_request();
  settings.driver = "replay", settings.proposals = (folder / "proposals.json").string();
  OptimizationHooks hooks;
  hooks.program = ASMEVO_BINARY_DIR "/asmevo", hooks.workers = 1;
  const auto result = optimize(folder / "run", settings, settings.setup.k0, hooks);
  ASSERT_TRUE(result) << result.error().message;
  const auto whole = outcomes_of(folder / "run");
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_EQ(whole[0].at(0), "insufficient_speedup");
  {
    const auto run = run::RunFolder::open(folder / "run", true);
    ASSERT_TRUE(run);
    auto attempts = (*run)->attempts();
    ASSERT_TRUE(attempts);
    run::Attempt& a = attempts->front();
    a.outcome = gate::Outcome::Passed, a.text = "", a.over_best = a.speedup = 0;
    ASSERT_TRUE((*run)->record_decision(a));
  }
  EXPECT_NE(outcomes_of(folder / "run"), whole);
  ASSERT_TRUE(resume(folder / "run", std::nullopt, hooks));
  EXPECT_EQ(outcomes_of(folder / "run"), whole);
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace asmevo::search
