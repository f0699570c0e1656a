// A whole run for one kernel: its folder, the Setup, the search, and at the end the best object verified once
// more from the file on disk. What `asmevo optimize` and `resume` do.
#pragma once

#include "search/controller.h"

namespace asmevo::search {

/// {"attempts", "seconds"}, null where there is no limit.
gate::Json json_of(const Budget&);
Budget budget_from(const gate::Json&);

struct OptimizationSettings {
  gate::SetupRequest setup;       // k0 apart, which is in the folder
  std::string driver = "mixed";   // rules, schedule, stochastic, replay
  std::string proposals;          // replay: the file
  std::vector<std::string> rules; // rules: only these; empty: all
  Mode mode = Mode::Team;         // replay: single, whatever is asked for
  std::string memory;             // file to begin with (user_memory.h); empty: nothing is known
  bool remembers = false;         // what is learnt is added to it
  uint64_t width = 4;
  uint64_t patience = StallWatch::standard_patience; // rounds (stall_watch.h)
  Budget budget;
  gate::CommitRule commit;
  std::string command; // that reproduces the run, for people
  std::string object;  // what K0's file is called, for people
  std::string made_by; // "asmevo 0.1.0"
  gate::Json json() const;
  static OptimizationSettings from_json(const gate::Json&);
  /// BadInput: a number that no run can have, as where somebody changed them in a run's database.
  Status check() const;
};

/// How a run goes on, whatever it is: nothing of this changes its result.
struct OptimizationHooks {
  unsigned workers = 0; // 0: one a core
  std::filesystem::path program = {};
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::string_view what, size_t done, size_t of)> setting_up = {};
  std::function<void(const gate::Json& setup)> set_up = {};
  std::function<void(const Standing&)> watch = {};
  double most_seconds = 600; // of one evaluation
};

struct OptimizationResult {
  End end = End::Converged;
  Standing standing;
  std::optional<run::Node> best; // that beats K0, verified from disk; none: nothing does
  gate::Comparison structural;   // of it with K0, on models that no search saw
  gate::Json setup;
  std::vector<std::string> notes;
};

/// BadInput: the folder is there; K0 or the launch is not fit for it. The folder stays, with what was done.
Result<OptimizationResult> optimize(const std::filesystem::path& folder, const OptimizationSettings&,
                                    const Bytes& k0, const OptimizationHooks&);

/// Goes on with a run; its budget is the given one where there is one, else its own.
Result<OptimizationResult> resume(const std::filesystem::path& folder, const std::optional<Budget>&,
                                  const OptimizationHooks&);

} // namespace asmevo::search
