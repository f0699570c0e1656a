// Wrong candidates of many kernels through whole runs of `asmevo optimize --driver replay`: planned evenly
// over the classes and the kernels, run, and looked at.
#pragma once

#include "run/run_folder.h"
#include "soundness/plant.h"

#include <filesystem>
#include <map>

namespace asmevo::soundness {

inline constexpr uint64_t campaign_seed = 20261130;

struct Planned {
  std::unique_ptr<const Bench> bench;
  std::vector<Candidate> candidates;
};
/// Up to `per_class` of each class, from the kernels in turn, `per_kernel` of a class at most from each.
/// Follows from the seed and the kernels alone.
Result<std::vector<Planned>> plan(const std::vector<KernelSource>&, size_t per_class, size_t per_kernel,
                                  uint64_t seed = campaign_seed);

struct Ended {
  Candidate candidate;
  run::Attempt attempt;
  bool committed() const { return attempt.outcome == gate::Outcome::Committed; }
  bool timed() const {
    return attempt.evaluation.gate >= gate::Gate::G3 || !attempt.evaluation.seconds.empty();
  }
  /// Only a case that is held back can show it, and one did; or it was stopped before.
  bool as_it_should() const;
};

struct Replayed {
  std::vector<Ended> ended;
  /// K0 without its pause and without a defect, tried last, was committed: what is right passes.
  bool right_one_committed = false;
};
/// One run, in a folder of its own, with worker processes.
Result<Replayed> replay(const Planned&, const std::filesystem::path& folder, unsigned workers);

/// "| class | planted | G1 hazard | ..." of what ended how.
std::string table(const std::vector<Ended>&);

} // namespace asmevo::soundness
