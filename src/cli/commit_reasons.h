// Which commits of a run stand behind a difference between K0 and one of the run's versions.
#pragma once

#include "report/version_code.h"

namespace asmevo::cli {

class CommitReasons {
 public:
  /// BadInput: `k0` is not the run's K0, or `candidate` none of its versions (content hashes of both).
  /// `names`: what they are called.
  static Result<CommitReasons> open(const std::filesystem::path& run, const std::string& k0_hash,
                                    const std::string& candidate_hash,
                                    const std::pair<std::string, std::string>& names);

  /// Nodes that took away K0's entries [k0_begin, k0_end) or brought the version's [begin, end).
  std::vector<uint32_t> of(const program::Program& k0, program::Index k0_begin, program::Index k0_end,
                           program::Index begin, program::Index end) const;
  const run::Node& node(uint32_t id) const { return *code_.node(id); }

 private:
  CommitReasons(report::VersionCode code, uint32_t version) : code_(std::move(code)), version_(version) {}

  report::VersionCode code_;
  uint32_t version_ = 0; // node
  report::Authors authors_;
  program::Program named_; // the version, with the ids of what was inserted
};

} // namespace asmevo::cli
