// The loop that owns all decisions: rounds of proposals, gates, commits, lineage, budget, end. The planner
// says who works on what, a driver proposes, the integrator puts together what was found apart, and the stall
// watch redirects them when nothing comes of it.
//
// A round is `width` proposals whatever the number of workers; they are evaluated at once and applied in
// their order, so that the lineage follows from the seed and the number of attempts alone. What is committed
// beats the best of that moment (gate/commit_rule.h) and passes the held-back cases.
#pragma once

#include "gate/worker_pool.h"
#include "search/integrator.h"
#include "search/memory.h"
#include "search/planner.h"
#include "search/stall_watch.h"

#include <chrono>

namespace asmevo::search {

struct Budget {
  std::optional<uint64_t> attempts;
  std::optional<double> seconds; // of wall-clock time, the Setup not counted
};

struct ControllerOptions {
  Budget budget;
  size_t width = 4; // proposals of a round
  gate::CommitRule commit;
  Mode mode = Mode::Team;
  bool steer = true; // with an integrator, and something is done about stalls
  unsigned patience = StallWatch::standard_patience;
};

/// What watchers are told; all of it is in the run folder, too.
struct Standing {
  uint64_t attempts = 0;
  std::array<uint64_t, gate::outcome_count> outcomes{};
  uint32_t nodes = 1; // K0 among them
  double best = 1;    // over K0
  double seconds = 0; // since the beginning
  std::string last;   // one line about the last commit; empty: none yet
};

enum class End : uint8_t { BudgetUsed, Converged, Stalled, Interrupted };
std::string_view name(End);

class Controller {
 public:
  /// The memory learns what the attempts come to, before the driver does.
  Controller(run::RunFolder& folder, gate::WorkerPool& pool, Driver& driver, Memory& memory,
             ControllerOptions options)
      : folder_(folder), pool_(pool), driver_(driver), memory_(memory), options_(options),
        planner_(options.mode), stall_(options.patience) {}

  /// `watch` is told after each attempt, from any thread, and after each round. Errors: the run folder cannot
  /// be written; it holds another run than this driver makes.
  Result<End> run(std::shared_ptr<const oracle::Subject> k0,
                  const std::function<void(const Standing&)>& watch);
  const Lineage& lineage() const { return *lineage_; }
  Standing standing() const;

 private:
  struct Slot {
    Suggestion suggestion;
    std::optional<Assignment> assignment; // none: the integrator's
    run::Attempt attempt;
    gate::Comparison comparison;
    bool known = false; // answered from the run folder
  };
  Status start(std::shared_ptr<const oracle::Subject> k0);
  Status check_same_k0(const oracle::Subject& k0, const run::Node& root) const;
  Status begin_round(std::vector<Slot>&);
  std::optional<Slot> next_slot(bool first);
  Status evaluate_round(std::vector<Slot>&);
  void evaluate(Slot&, unsigned worker);
  Status apply_round(std::vector<Slot>&);
  Status apply(Slot&);
  void teach(const Slot&);
  bool react_to_stall(bool ended);
  Status decide(Slot&);
  Status commit(Slot&);
  Status write_assembly(const std::filesystem::path& file, const Bytes& object);
  gate::Proposed proposed(const Suggestion&) const;
  bool out_of_time() const;
  double seconds() const;
  void count(const Slot&);

  run::RunFolder& folder_;
  gate::WorkerPool& pool_;
  Driver& driver_;
  Memory& memory_;
  ControllerOptions options_;
  Planner planner_;
  Integrator integrator_;
  StallWatch stall_;
  std::optional<Lineage> lineage_;
  std::map<std::pair<uint32_t, uint32_t>, run::Attempt> recorded_; // of the run that is resumed
  std::map<uint32_t, run::Node> recorded_nodes_;
  std::set<std::string> recorded_steps_; // what was done about stalls
  std::optional<run::Event> step_;       // the last of that, until a proposal follows from it
  std::map<std::string, uint32_t> seen_; // objects, by hash: the attempt that had it first
  uint32_t round_ = 0;
  uint64_t attempts_ = 0;
  double before_ = 0; // seconds of the runs that this one goes on with
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  Standing standing_;
  std::function<void(const Standing&)> watch_;
};

} // namespace asmevo::search
