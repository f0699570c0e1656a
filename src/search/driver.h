// What proposes candidates. A driver sees verified versions with their profiles and the outcomes of what it
// proposed, and gives back edits; it cannot reach the gates, and nothing it says makes a candidate right or
// fast.
//
// Drivers are deterministic: the same seed and the same outcomes lead to the same proposals. Resuming a run
// rests on it, since that goes through it again from the start.
#pragma once

#include "search/lineage.h"

namespace asmevo::search {

struct Suggestion {
  program::Edit edit;          // its base is a node
  std::optional<Bytes> object; // in place of an edit: a whole object (replay only)
  std::string rule;            // what made it, for statistics; empty: nothing in particular
};

/// What became of a suggestion.
struct Outcome {
  const Suggestion& suggestion;
  const gate::Evaluation& evaluation;
  const gate::Comparison& comparison; // with the best of its moment; of what was timed
  std::optional<uint32_t> node;       // it was committed
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  /// At most `count`; fewer where it has no more ideas for now, none where it has no more at all.
  virtual std::vector<Suggestion> propose(const Lineage&, size_t count) = 0;
  /// In the order of the suggestions, after each round.
  virtual void learn(const Outcome&) {}
};

} // namespace asmevo::search
