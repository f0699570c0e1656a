// The code of a run's versions: K0, and what the edits on the way to a node make of it. Instructions have the
// ids by which edits name them, so that one can say which node brought an instruction, or took it away.
#pragma once

#include "oracle/subject.h"
#include "program/edit.h"
#include "run/run_folder.h"

#include <map>

namespace asmevo::report {

class VersionCode {
 public:
  /// BadInput: k0.co of the run is not there or damaged.
  static Result<VersionCode> open(const run::RunFolder&, std::vector<run::Node> nodes);

  const std::vector<run::Node>& nodes() const { return nodes_; }
  const oracle::Subject& k0() const { return *k0_; }
  isa::Codec& codec() const { return k0_->codec(); }
  const run::Node* node(uint32_t id) const;
  /// From K0's first child to `id`, itself included; empty for K0 and where the way does not lead to K0.
  std::vector<uint32_t> way_to(uint32_t id) const;
  /// Nodes that are whole objects are read from their files.
  Result<program::Program> program(uint32_t id) const;

 private:
  Result<program::Program> program_of(const run::Node&, const program::Program& parent) const;

  std::filesystem::path folder_;
  std::vector<run::Node> nodes_;
  std::shared_ptr<const oracle::Subject> k0_;
  mutable std::map<uint32_t, program::Program> programs_; // made so far
};

/// Which node brought or took away an instruction, for a version reached by edits alone.
class Authors {
 public:
  Authors() = default; // of a version of which nothing is known
  static Result<Authors> of(const VersionCode&, uint32_t id);
  /// None: K0 has it.
  std::optional<uint32_t> brought(program::InstrId) const;
  /// None: it is still there.
  std::optional<uint32_t> took(program::InstrId) const;

 private:
  std::map<program::InstrId, uint32_t> took_;
};

} // namespace asmevo::report
