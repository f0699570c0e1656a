// The verified versions of a kernel: a tree whose root is K0. Every node can be worked on further.
#pragma once

#include "gate/node_profile.h"
#include "run/run_folder.h"

#include <deque>

namespace asmevo::search {

class Lineage {
 public:
  /// `k0`: the object, and what is known of it.
  static Result<Lineage> start(std::shared_ptr<const oracle::Subject> k0, run::Node root,
                               gate::NodeProfile profile);

  /// A node with everything an edit of it needs.
  struct Version {
    run::Node node;
    Bytes object;
    std::vector<gate::Proposed::Step> chain; // the edits that make it out of K0
    std::shared_ptr<const oracle::Subject> subject;
    program::Program named; // with the ids by which edits go on
    gate::NodeProfile profile;
    /// Node 0, or made of edits alone. Whole objects that were given cannot be edited further.
    bool editable = true;
  };

  /// The same object as long as the lineage lives.
  const Version& at(uint32_t id) const { return versions_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(versions_.size()); }
  /// The fastest over K0, of equal ones the first.
  const Version& best() const { return versions_[best_]; }
  const std::vector<double>& k0_seconds() const { return versions_[0].node.seconds; }

  /// `node.id` must be size(). BadInput where the edit does not fit its base.
  Status add(run::Node node, Bytes object, gate::NodeProfile profile);

 private:
  std::deque<Version> versions_; // they stay where they are: drivers keep analyses of their programs
  uint32_t best_ = 0;
};

} // namespace asmevo::search
