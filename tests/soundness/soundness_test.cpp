// Wrong candidates that are faster than K0 through whole runs: none is committed, and none is timed but what
// only a held-back case can show. Some of a few kernels; all of docs/soundness.md with ASMEVO_FULL=1.
#include "full_run.h"
#include "soundness/campaign.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace asmevo::soundness {
namespace {

TEST(Soundness, NothingWrongIsCommittedOrTimed) {
  const bool full = test::full_run();
  std::vector<KernelSource> list = sources();
  constexpr size_t some_kernels = 3;
  if (!full) list.resize(some_kernels);
  const size_t per_class = full ? 55 : 3;
  const auto planned = plan(list, per_class, full ? per_class : 2);
  ASSERT_TRUE(planned) << planned.error().message;
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("asmevo_soundness_{}", ::getpid());
  std::vector<Ended> all;
  for (const Planned& p : *planned) {
    const auto replayed = replay(p, folder / p.bench->source.name, 2);
    ASSERT_TRUE(replayed) << p.bench->source.name << ": " << replayed.error().message;
    EXPECT_TRUE(replayed->right_one_committed) << p.bench->source.name;
    for (const Ended& e : replayed->ended) {
      EXPECT_TRUE(e.as_it_should()) << p.bench->source.name << ": " << name(e.candidate.defect) << ": "
                                    << e.candidate.text << ": " << gate::name(e.attempt.outcome) << " "
                                    << e.attempt.text << "; wrong: " << e.candidate.proof;
      all.push_back(e);
    }
  }
  std::filesystem::remove_all(folder);
  EXPECT_GE(all.size(), full ? 500U : 20U) << table(all);
  if (full) fmt::print("{}", table(all));
}

} // namespace
} // namespace asmevo::soundness
