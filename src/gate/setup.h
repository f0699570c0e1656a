// Everything that is done once for a kernel before candidates are judged: K0 comes back from its own
// assembly byte for byte, its launches become cases with K0's side of them done, a second set of cases is
// held back, and K0 is timed. A candidate is then a few hundred runs and one timing away from a verdict.
#pragma once

#include "gate/outcome.h"
#include "oracle/case_set.h"
#include "oracle/launch_time.h"

#include <filesystem>

namespace asmevo::gate {

struct SetupRequest {
  Bytes k0;
  // One of the two.
  std::filesystem::path launch;  // file
  std::filesystem::path capture; // folder
  std::string kernel;            // launched in place of the launch's own, where that does not launch it
  std::string model;             // machine model, name or file; empty: the target's
  std::string shape;             // that times are taken at; empty: `full`, else `search`, else none
  std::string rule = "scaled";
  unsigned members = 10;       // of the ensemble: one may disagree
  uint64_t effort = 1'000'000; // instructions simulated for each member
  uint64_t seed = 0;           // mixed into the launch's
  unsigned threads = 0;
  uint64_t most_instructions = uint64_t{1} << 32; // of a workgroup of K0
  Json json() const;
  static SetupRequest from_json(const Json&);
};

/// What can be said of a request without running anything: so that a mistake leaves nothing behind.
Status check_request(const SetupRequest&, const oracle::Subject& k0);

class Setup {
 public:
  /// BadInput where K0 does not come back byte for byte, or cannot run its launch. `progress` is called now
  /// and then, from any thread.
  static Result<std::unique_ptr<const Setup>>
  make(SetupRequest, const std::function<void(std::string_view what, size_t done, size_t of)>& progress = {});
  Setup(const Setup&) = delete;

  const SetupRequest& request() const { return request_; }
  const std::shared_ptr<const oracle::Subject>& k0() const { return k0_; }
  oracle::Rule rule() const { return rule_; }
  const oracle::PreparedCases& cases() const { return cases_.cases; }
  const oracle::PreparedCases& held_back() const { return held_back_.cases; }
  const timing::MachineModel& model() const { return *model_; }
  const std::vector<timing::EnsembleMember>& members() const { return members_; }
  const std::vector<double>& k0_seconds() const { return k0_seconds_; }
  /// Other draws from the same ranges, for what is about to be committed: among many candidates some are
  /// faster on all members by chance, and then hardly on these as well.
  const std::vector<timing::EnsembleMember>& held_back_members() const { return held_back_members_; }

  /// The launches as the cycle model replays them, run by `object`; `schedule` of waves matters where what
  /// kernels do depends on time.
  Result<oracle::LaunchTraces> trace(const std::shared_ptr<const oracle::Subject>& object,
                                     const timing::Machine&, uint64_t schedule,
                                     timing::LeftOut = timing::LeftOut::Nothing) const;
  /// Times of such a trace of an object by member, in order, as long as `go_on` (asked after each) says so.
  /// Where what kernels do depends on time, the object is traced anew for each. `left_out`: as of the trace;
  /// only whole ones may decide that something is committed.
  Result<std::vector<double>> replay(const oracle::LaunchTraces&,
                                     const std::shared_ptr<const oracle::Subject>& object,
                                     std::span<const timing::EnsembleMember> members, unsigned threads,
                                     const std::function<bool(std::span<const double>)>& go_on = {},
                                     timing::LeftOut left_out = timing::LeftOut::Nothing) const;
  /// Traced and replayed, on one thread.
  Result<std::vector<double>> times(const std::shared_ptr<const oracle::Subject>& object,
                                    std::span<const timing::EnsembleMember> members,
                                    const std::function<bool(std::span<const double>)>& go_on = {},
                                    timing::LeftOut left_out = timing::LeftOut::Nothing) const;
  /// What K0 does not need for a trace, and candidates hardly, as they do what it does.
  timing::LeftOut not_needed() const { return not_needed_; }
  /// Whether an object's trace without that is the same as its whole one.
  bool goes_its_way_without(timing::LeftOut, const oracle::LaunchTraces& whole,
                            const std::shared_ptr<const oracle::Subject>& object) const;

  /// What a person wants to know of it: cases, what was left out and why, K0's time, notes.
  Json report() const;

 private:
  Setup() = default;
  Status open();
  void find_not_needed(const oracle::LaunchTraces& whole);
  Status make_cases(const std::function<void(std::string_view, size_t, size_t)>& progress);
  void hold_back_expensive();

  SetupRequest request_;
  oracle::Rule rule_ = oracle::Rule::Scaled;
  std::shared_ptr<const oracle::Subject> k0_;
  std::optional<oracle::LaunchPlan> plan_; // at the shape that is timed
  std::string in_place_;                   // kernel that is launched in place of others; empty: none
  std::optional<oracle::Case> captured_;
  /// Of plan_, from K0's run on; workers inherit what is there when they are forked.
  std::shared_ptr<oracle::FirstContents> first_contents_ = std::make_shared<oracle::FirstContents>();
  oracle::CaseSet cases_, held_back_;
  std::optional<timing::MachineModel> model_;
  std::vector<timing::EnsembleMember> members_, held_back_members_;
  std::vector<double> k0_seconds_, k0_held_back_seconds_;
  timing::LeftOut not_needed_ = timing::LeftOut::Nothing;
};

} // namespace asmevo::gate
