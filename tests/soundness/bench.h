// A kernel that wrong candidates are made of: K0 is one of this project's kernels with a pause in front of
// its first instruction. A candidate leaves the pause out, and so is faster than K0 on every machine model
// whatever else was done to it. What stops it must be a gate that looks at what it does; a gate that lets it
// pass commits it.
#pragma once

#include "gate/setup.h"
#include "program/edit.h"
#include "soundness/truth.h"

#include <string>
#include <vector>

namespace asmevo::soundness {

struct KernelSource {
  std::string name;           // "llm_rope"
  std::string object, launch; // files
  std::string kernel;
};
/// Those of the campaign, in its order: of the suite, and of kernels/mi300a those that work in place.
std::vector<KernelSource> sources();

struct Bench {
  KernelSource source;
  std::shared_ptr<const oracle::Subject> k0;
  program::InstrId pause;
  std::unique_ptr<Truth> truth;

  static Result<Bench> open(const KernelSource&);
  const program::Program& program() const { return k0->program(); }
  const program::Function& function() const { return *program().find_function(source.kernel); }
  const codeobject::Kernel& descriptor() const { return *k0->object().find_kernel(source.kernel); }
  std::string text(program::Index i) const { return program::print(program(), i, k0->codec()); }
  program::InstrId id(program::Index i) const { return program().entries[i].id; }

  /// These changes, with `front` in place of the pause.
  program::Edit edit(std::vector<program::Change> changes, std::string front = "") const;
  Result<std::shared_ptr<const oracle::Subject>> build(const program::Edit&) const;
  /// As `asmevo optimize --shape tiny` sets up, timing little.
  gate::SetupRequest request() const;
};

program::Change replaced(program::InstrId first, program::InstrId last, std::string text);
program::Change inserted(program::InstrId before, std::string text);

} // namespace asmevo::soundness
