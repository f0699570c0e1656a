// Puts together what members found apart.
//
// Two edits that each win a little, but too little to be committed, may win enough together; and what was
// verified on a version that is no longer the best may be done to the best one, too. The integrator keeps
// every edit that passed the gates and was hardly slower than what it was made from (a part), and proposes
// compositions of them on the best version, as anybody else proposes: they are rebuilt and go through all
// gates, and are committed only if they beat the best version, which none of their parts did.
//
// An edit fits another version if the instructions that it names are there and nothing has changed between
// the first and the last of a range it replaces. Parts of one composition change disjoint ranges.
//
// In which order: first all parts that won something at once; where that is not enough, the better half of
// them, and so on, as one bad part can spoil it; then step by step, the best part first, each further one
// kept only if the modelled time fell.
#pragma once

#include "search/driver.h"

#include <map>
#include <set>

namespace asmevo::search {

class Integrator {
 public:
  static constexpr std::string_view name = "integrator";

  /// What every driver's proposals came to; its own as well.
  void learn(const Lineage&, const Outcome&);
  /// The next composition on the best version; none where there is none to try now. It begins anew when there
  /// are half as many parts again, or, where nobody else has ideas left, one.
  std::optional<Suggestion> propose(const Lineage&, bool last_ideas);

 private:
  struct Part {
    program::Edit edit;
    double gain = 1; // median of T(its base) / T(it)
    std::string rule;
  };
  using Parts = std::vector<const Part*>;

  void begin(const Lineage&);
  std::optional<Suggestion> next_half(const Lineage::Version& best);
  std::optional<Suggestion> next_step(const Lineage::Version& best);
  std::optional<Suggestion> compose(const Lineage::Version& best, const Parts&, std::string_view how);

  std::map<std::string, Part> parts_; // by what they change
  uint32_t base_ = ~0U;               // the version that the rest is about
  size_t parts_then_ = 0;             // when this began
  Parts fitting_;                     // parts that fit it, most gain first
  std::set<std::string> tried_;       // compositions on it, by what they change
  size_t halvings_ = 0;               // of fitting_ so far
  // Step by step: what was kept, and what it wins; the part that is on trial, and its composition.
  Parts kept_;
  double kept_gain_ = 1;
  size_t next_part_ = 0;
  std::optional<std::string> on_trial_;
};

/// Whether the edit means on `to` what it means on `from`.
bool fits(const program::Edit&, const program::Program& from, const program::Program& to);

} // namespace asmevo::search
