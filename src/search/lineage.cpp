#include "search/lineage.h"

namespace asmevo::search {

Result<Lineage> Lineage::start(std::shared_ptr<const oracle::Subject> k0, run::Node root,
                               gate::NodeProfile profile) {
  Lineage lineage;
  Version v;
  v.node = std::move(root);
  v.named = k0->program();
  v.object = Bytes(k0->object().bytes().begin(), k0->object().bytes().end());
  v.subject = std::move(k0);
  v.profile = std::move(profile);
  lineage.versions_.push_back(std::move(v));
  return lineage;
}

Status Lineage::add(run::Node node, Bytes object, gate::NodeProfile profile) {
  if (node.id != size()) return internal_error("node {} after {}", node.id, size());
  if (node.parent >= size()) node.parent = 0; // a whole object may name a base that is not there
  Version v;
  const Version& parent = versions_[node.parent];
  v.editable = parent.editable && !node.edit.empty();
  if (v.editable) {
    ASMEVO_TRY(program::Edit edit, program::Edit::parse(node.edit));
    v.chain = parent.chain;
    v.chain.push_back({std::move(edit), node.id});
    ASMEVO_TRY(v.named, gate::program_after(*versions_[0].subject, v.chain));
  }
  ASMEVO_TRY(v.subject, oracle::Subject::open(object));
  v.object = std::move(object);
  v.node = std::move(node);
  v.profile = std::move(profile);
  versions_.push_back(std::move(v));
  if (versions_.back().node.speedup > versions_[best_].node.speedup) best_ = size() - 1;
  return {};
}

} // namespace asmevo::search
