// What proposes candidates. A driver sees verified versions with their profiles and the outcomes of what it
// proposed, and gives back edits; it cannot reach the gates, and nothing it says makes a candidate right or
// fast.
//
// Drivers are deterministic: the same seed and the same outcomes lead to the same proposals. Resuming a run
// rests on it, since that goes through it again from the start.
#pragma once

#include "search/assignment.h"
#include "search/lineage.h"

namespace asmevo::search {

struct Suggestion {
  program::Edit edit;          // its base is a node
  std::optional<Bytes> object; // in place of an edit: a whole object (replay only)
  std::string rule;            // what made it, for statistics; empty: nothing in particular
  std::string_view driver;     // of several in one, the one that made it; empty: there is one only
};

/// What became of a suggestion.
struct Outcome {
  const Suggestion& suggestion;
  gate::Outcome outcome = gate::Outcome::Passed; // with G4's decision
  const gate::Evaluation& evaluation;            // through G3
  const gate::Comparison& comparison;            // with the best of its moment; of what was timed
  double over_base = 0;                          // median of T(its base) / T(it); 0: not timed
  std::optional<uint32_t> node;                  // it was committed
};

/// What a proposal was worth trying, 0 to 1: 1 where it was committed, up to half where it was right and
/// faster than the best of its moment, by 1 % or more.
double reward_of(const Outcome&);

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  /// None where it has nothing for this, and will not have.
  virtual std::optional<Suggestion> propose(const Lineage&, const Assignment&) = 0;
  /// In the order of the suggestions, after each round.
  virtual void learn(const Outcome&) {}
};

} // namespace asmevo::search
