// Who of the team works on what: direction, place, and the version to start from.
//
// A bandit. Its arms are, of each version that is worked on, the pairs of a direction (or any) and a hot
// window (or anywhere). What an arm is worth is first guessed from the version's profile: what waits for
// memory there speaks for latency hiding, what the busy pipes hold up for simpler instructions. Then it is
// learnt from what its proposals came to, and those that were tried least get something on top (UCB1: Auer,
// Cesa-Bianchi, Fischer 2002). An arm for which the driver has nothing left is out.
//
// Versions: the best one; when the search stalls (stall_watch.h) also others, chosen so that they are fast
// and differ (start_points.h).
//
// A single searcher has one arm: any direction, anywhere, on the best version.
#pragma once

#include "gate/commit_rule.h"
#include "search/assignment.h"
#include "search/driver.h"

#include <map>
#include <set>

namespace asmevo::search {

enum class Mode : uint8_t { Single, Team };
std::string_view name(Mode);
std::optional<Mode> mode_named(std::string_view);

class Planner {
 public:
  explicit Planner(Mode mode) : mode_(mode) {}

  /// The next member's work; none where nothing is left on any version it may start from. What it gives out
  /// counts as tried at once, so that the members of a round get different work.
  std::optional<Assignment> next(const Lineage&);
  /// The driver had nothing for it, and will not have.
  void exhausted(const Assignment&);
  void learn(const Assignment&, const Outcome&);

  /// From how many versions to start: 1 is the best alone.
  void start_from(size_t versions) { start_points_ = versions; }
  /// Begins anew with the guesses: arms that never led anywhere are out until something is committed. Their
  /// names, for people.
  std::vector<std::string> redirect();
  /// What assignments say from now on.
  void set_note(std::string note) { note_ = std::move(note); }

 private:
  struct Arm {
    std::optional<Direction> direction;
    std::optional<Place> place;
    double guess = 0; // 0 to 1
    double tries = 0, reward = 0;
    bool exhausted = false, out = false;
  };
  std::vector<Arm>& arms_of(const Lineage::Version&);
  Arm* find(const Assignment&);
  double worth(const Arm&, double all_tries) const;

  Mode mode_;
  size_t start_points_ = 1;
  std::string note_;
  std::map<uint32_t, std::vector<Arm>> arms_; // by version
};

} // namespace asmevo::search
