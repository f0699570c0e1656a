#include "cli/commit_reasons.h"

#include <algorithm>
#include <set>

namespace asmevo::cli {

Result<CommitReasons> CommitReasons::open(const std::filesystem::path& folder, const std::string& k0_hash,
                                          const std::string& candidate_hash,
                                          const std::pair<std::string, std::string>& names) {
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder, false));
  auto nodes = run->nodes();
  if (!nodes) return failed(nodes.error(), folder.string());
  if (nodes->empty() || nodes->front().object_hash != k0_hash)
    return bad_input("{}: not the K0 of {}", names.first, folder.string());
  const auto found = std::ranges::find(*nodes, candidate_hash, &run::Node::object_hash);
  if (found == nodes->end()) return bad_input("{}: no version of {}", names.second, folder.string());
  const uint32_t version = found->id;
  ASMEVO_TRY(report::VersionCode code, report::VersionCode::open(*run, *std::move(nodes)));
  CommitReasons reasons(std::move(code), version);
  ASMEVO_TRY(reasons.authors_, report::Authors::of(reasons.code_, version));
  ASMEVO_TRY(reasons.named_, reasons.code_.program(version));
  return reasons;
}

std::vector<uint32_t> CommitReasons::of(const program::Program& k0, program::Index k0_begin,
                                        program::Index k0_end, program::Index begin,
                                        program::Index end) const {
  std::set<uint32_t> nodes;
  for (program::Index i = k0_begin; i < k0_end; ++i)
    if (const auto node = authors_.took(k0.entries[i].id)) nodes.insert(*node);
  for (program::Index i = begin; i < std::min<size_t>(end, named_.entries.size()); ++i)
    if (const auto node = authors_.brought(named_.entries[i].id); node && code_.node(*node) != nullptr)
      nodes.insert(*node);
  // Of whole objects nothing is known but that they are one change.
  if (nodes.empty() && version_ != 0) nodes.insert(version_);
  return {nodes.begin(), nodes.end()};
}

} // namespace asmevo::cli
