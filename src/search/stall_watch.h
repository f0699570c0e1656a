// Notices that a search gets nowhere, and says what to do about it.
//
// Nowhere: many rounds without a commit; or the proposals of the last rounds were mostly repeats; or they
// failed for reasons of the machine, not of their own. One step after the other, until something is
// committed:
//
//   redirect    what was tried is summed up, directions and places that led nowhere are given up
//   backtrack   work also starts from the version before the best one and its like: two start points
//   widen       and from as many versions as a round has members
//   give up     the search ends
//
// A step that changed nothing for as many rounds again is followed by the next one. Where nobody has an idea
// left the next one is taken at once.
#pragma once

#include "search/driver.h"

#include <array>
#include <map>

namespace asmevo::search {

enum class StallStep : uint8_t { None, Redirect, Backtrack, Widen, GiveUp };
/// "redirect", ...: the kinds of the run's events.
std::string_view name(StallStep);

class StallWatch {
 public:
  static constexpr unsigned standard_patience = 10;
  /// Rounds without a commit before each step.
  explicit StallWatch(unsigned patience = standard_patience) : patience_(patience) {}

  /// What came of a round, in its order.
  void see(const Outcome&);
  /// After each round: the step to take now; None: go on. `ended`: nobody has an idea left.
  StallStep after_round(bool ended);
  /// In how far: "12 rounds without a commit".
  std::string why() const;
  /// What was tried since the last commit, for people and for drivers that read: by direction, how many
  /// attempts ended how.
  std::string tried() const;

 private:
  unsigned patience_;
  unsigned rounds_ = 0;                               // since the last commit or step
  unsigned rounds_seen_ = 0;                          // since the last commit
  size_t proposals_ = 0, repeats_ = 0, failures_ = 0; // of these rounds
  bool committed_ = false;
  StallStep step_ = StallStep::None;
  std::string why_;
  std::map<std::string, std::map<gate::Outcome, unsigned>> tried_;
};

} // namespace asmevo::search
