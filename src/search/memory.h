// What searches have learnt: small, readable, the same for all members.
//
//   yields     what each rule's proposals came to on kernels of a pattern (what the kernel is bound by), so
//              that the next search tries first what pays there
//   failures   why proposals were refused, and how often, by rule
//   insights   sentences, of drivers that write (docs/optimize.md)
//
// A run begins with a copy of the user's memory, kept in the run folder as memory.json, so that it can be
// repeated; at its end what it learnt is added to the user's (user_memory.h). Kernels are not named in it.
#pragma once

#include "gate/outcome.h"
#include "run/run_folder.h"

#include <map>
#include <set>

namespace asmevo::search {

class Memory {
 public:
  static constexpr size_t most_yields = 512, most_failures = 256, most_insights = 64, longest_text = 400;

  struct Yield {
    uint64_t attempts = 0, verified = 0, commits = 0;
    double log_gain = 0; // of the commits, over what was the best then
  };
  struct Insight {
    std::string pattern, text;
    friend bool operator==(const Insight&, const Insight&) = default;
  };

  /// BadInput names the key.
  static Result<Memory> parse(std::string_view json);
  gate::Json json() const;

  void learn(const run::Attempt&, std::string_view pattern);
  void note(Insight); // the oldest goes where there are too many
  /// Adds what another one has learnt.
  void add(const Memory&);

  /// How much more (up to 4) or less (down to 1/4) than it promises a rule's proposal is worth trying on a
  /// pattern: 1 where nothing is known.
  double factor(std::string_view rule, std::string_view pattern) const;
  /// For people and for drivers that read: at most `most` lines.
  std::vector<std::string> digest(std::string_view pattern, size_t most) const;

  const std::map<std::pair<std::string, std::string>, Yield>& yields() const { return yields_; }
  const std::vector<Insight>& insights() const { return insights_; }

 private:
  void bound();

  std::map<std::pair<std::string, std::string>, Yield> yields_;      // by rule and pattern
  std::map<std::pair<std::string, std::string>, uint64_t> failures_; // by rule and why
  std::vector<Insight> insights_;
};

/// What the kernel is bound by, of a version's profile: "L2", "matrix", ...; of several kernels the longest.
std::string pattern_of(const gate::Json& node_profile);

} // namespace asmevo::search
