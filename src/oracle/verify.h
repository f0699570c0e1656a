// Whether a candidate does what K0 does: interface and static check first, then runs of both from the same
// memory, compared (compare.h). K0 comes first against itself, with its waves in other orders: where it does
// not always leave the same, that is reported, and a candidate may leave what lies within K0's own spread.
#pragma once

#include "codeobject/abi_diff.h"
#include "oracle/case.h"
#include "oracle/compare.h"
#include "program/static_check.h"
#include "rebuild/rebuild.h"

namespace asmevo::oracle {

/// A code object ready to be checked and run.
class Subject {
 public:
  static Result<std::shared_ptr<const Subject>> open(Bytes);
  const codeobject::CodeObject& object() const { return original_->object; }
  const program::Program& program() const { return original_->program(); }
  isa::Codec& codec() const { return *codec_; }

 private:
  std::unique_ptr<isa::Codec> codec_;
  std::optional<rebuild::Original> original_;
};
/// The object of a subject, which lives as long as it.
std::shared_ptr<const codeobject::CodeObject> object_of(std::shared_ptr<const Subject>);

enum class Outcome : uint8_t { Equivalent, AbiInvalid, Hazard, Fault, Hang, GuardDamaged, Divergent };
/// As in design.md: "equivalent", "abi_invalid", "guard_damaged".
std::string_view name(Outcome);

struct StaticVerdict {
  Outcome outcome = Outcome::Equivalent; // or AbiInvalid, Hazard
  codeobject::AbiDiff abi;
  std::vector<std::string> findings; // of the candidate that K0 does not have, one line each
};
/// BadInput: objects for different GPUs.
Result<StaticVerdict> compare_statically(const Subject& k0, const Subject& candidate);

/// Runs K0 on a case and keeps what it leaves as the case's post-state. BadInput where it does not complete.
Status record_after(Case&, const std::shared_ptr<const Subject>& k0, unsigned threads = 0);

struct VerifyOptions {
  Rule rule = Rule::Scaled;
  unsigned schedules = 8; // runs of K0, its waves in another order each time
  /// Of more workgroups, so many are run, the same ones of both; 0: always all.
  uint64_t sample = 0;
  uint64_t seed = 0; // of the sample and of the candidate's order of waves
  unsigned threads = 0;
  uint64_t most_instructions = uint64_t{1} << 32; // of a workgroup of K0
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
  std::vector<std::string> notes;
};

/// BadInput where K0 itself faults, hangs or damages guards, or is not what the case asks for. Unsupported: a
/// sample of a kernel with atomics on memory, whose results depend on all workgroups.
Result<CaseReport> verify_case(const Case&, const std::shared_ptr<const Subject>& k0,
                               const std::shared_ptr<const Subject>& candidate, const VerifyOptions&);

} // namespace asmevo::oracle
