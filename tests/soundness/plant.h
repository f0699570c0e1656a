// Candidates of which it is known that they are wrong: drafts, in an order drawn from a seed, as far as they
// assemble, differ from one another, and are found wrong without the gates (truth.h).
#pragma once

#include "soundness/drafts.h"

#include <array>
#include <set>

namespace asmevo::soundness {

struct Candidate {
  DefectClass defect = DefectClass::WorkSkipped;
  std::string text;  // what was done, and where
  std::string proof; // what is wrong with it
  std::optional<program::Edit> edit;
  std::optional<Bytes> object; // in place of an edit
};

class Planter {
 public:
  /// `bench` must outlive it.
  Planter(const Bench& bench, uint64_t seed) : bench_(bench), seed_(seed) {}
  /// The next one of a class; none: the kernel has no more.
  std::optional<Candidate> next(DefectClass);

 private:
  struct Queue {
    bool made = false;
    Drafts drafts; // those to come, the next one last
  };
  void make(DefectClass, Queue&);
  void make_seen_only();
  uint64_t seed_of(DefectClass) const;
  std::optional<Candidate> tried(DefectClass, Draft);
  std::string proof_of(DefectClass, const Draft&, const Truth::Subject&) const;

  const Bench& bench_;
  uint64_t seed_;
  std::array<Queue, defect_classes> queues_;
  std::set<std::string> seen_;               // objects, by hash
  std::unique_ptr<const gate::Setup> setup_; // only while seen_only_ is made: it is large
  std::vector<Candidate> seen_only_;         // the next one last
};

} // namespace asmevo::soundness
