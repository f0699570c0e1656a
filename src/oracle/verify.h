// Whether a candidate does what K0 does: interface and static check first, then runs of both from the same
// memory, compared (compare.h). Where K0 does not always leave the same, that is reported, and a candidate
// may leave what lies within K0's own spread (prepared_case.h).
#pragma once

#include "codeobject/abi_diff.h"
#include "oracle/prepared_case.h"
#include "program/static_check.h"

namespace asmevo::oracle {

enum class Outcome : uint8_t { Equivalent, AbiInvalid, Hazard, Fault, Hang, GuardDamaged, Divergent, Race };
/// "equivalent", "abi_invalid", "guard_damaged".
std::string_view name(Outcome);

struct StaticVerdict {
  Outcome outcome = Outcome::Equivalent; // or AbiInvalid, Hazard
  codeobject::AbiDiff abi;
  std::vector<std::string> findings; // of the candidate that K0 does not have, one line each
  /// Kernels that are not K0's: their instructions, those of functions they may call, or what their
  /// descriptors and metadata say of resources.
  std::vector<std::string> changed;
};
/// BadInput: objects for different GPUs.
Result<StaticVerdict> compare_statically(const Subject& k0, const Subject& candidate);

struct VerifyOptions {
  Rule rule = Rule::Scaled;
  uint64_t seed = 0;    // of the candidate's order of waves
  unsigned threads = 0; // several cases are shared out to them, a single one's workgroups
  uint64_t most_instructions = uint64_t{1} << 32; // of a workgroup of the candidate; 16 times K0's is less
};

struct ViewReport {
  std::string name;
  ElementType type;
  BufferComparison comparison;
  uint64_t nondeterministic = 0; // elements that K0 does not always leave the same
};

struct CaseReport {
  std::string name;
  Outcome outcome = Outcome::Equivalent;
  std::string text;                // one line; empty if equivalent
  std::string buffer;              // of a divergence or of damage, where it is in one
  std::vector<ViewReport> buffers; // in the order of the case; none where a run did not complete
  std::vector<uint64_t> sample;    // the workgroups that were run; empty: all of them
  uint64_t workgroups = 0;         // of the dispatch
  uint64_t k0_instructions = 0, candidate_instructions = 0;
  sanitizer::Defects defects;  // of the candidate that K0 does not have, where the case is watched
  bool says_nothing = false;   // made up, and K0 does not agree with itself: counts for nobody
  device::LaunchOutcome ended; // the candidate's run: where it faulted, if it did
  std::vector<std::string> notes;
};

/// AbiInvalid where the candidate cannot be launched as K0 was. Unsupported as PreparedCase::make.
Result<CaseReport> verify_case(const PreparedCase&, const std::shared_ptr<const Subject>& candidate,
                               const VerifyOptions& = {});

using PreparedCases = std::vector<std::shared_ptr<const PreparedCase>>;

/// The cases up to the first one, in their order, whose outcome is not Equivalent. Several run at once, and
/// those behind one that failed not at all; the result does not depend on the number of threads. `done` is
/// called after each, from any thread.
Result<std::vector<CaseReport>> verify_cases(const PreparedCases&,
                                             const std::shared_ptr<const Subject>& candidate,
                                             const VerifyOptions& = {},
                                             const std::function<void()>& done = {});

} // namespace asmevo::oracle
