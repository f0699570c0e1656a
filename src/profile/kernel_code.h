// A kernel's code with the analyses that profiles are read against, made once.
#pragma once

#include "codeobject/inspection.h"
#include "profile/kernel_profile.h"
#include "program/liveness.h"
#include "rebuild/rebuild.h"

#include <memory>

namespace asmevo::profile {

class KernelCode {
 public:
  /// `original` must outlive the result. `start`: of the launches it is looked at for. BadInput: no such
  /// kernel.
  static Result<std::unique_ptr<const KernelCode>> open(const rebuild::Original&, std::string_view kernel,
                                                        program::StartLanes start = program::StartLanes::Any);
  /// The same of an object that edits made: `named` is its program as they left it, the kernel entry for
  /// entry that of the object but for padding, with the ids by which edits go on. It must outlive the result,
  /// too.
  static Result<std::unique_ptr<const KernelCode>> open(const rebuild::Original&,
                                                        const program::Program& named,
                                                        std::string_view kernel,
                                                        program::StartLanes start = program::StartLanes::Any);
  KernelCode(const KernelCode&) = delete;

  const program::Program& program() const { return program_; }
  const program::Function& function() const { return function_; }
  const program::Cfg& cfg() const { return cfg_; }
  const program::Liveness& liveness() const { return liveness_; }
  /// As the descriptor and the metadata have it.
  const codeobject::KernelInspection& resources() const { return resources_; }

  const isa::Instruction& instruction(program::Index i) const { return program().instruction(i); }
  std::string id(program::Index i) const { return program().entries[i].id.text(); }
  /// In the code object, as profiles name instructions.
  uint64_t address(program::Index i) const { return addresses_[i - function_.begin]; }
  /// Behind the last entry that is not padding: functions are filled up with s_nop that nothing reaches.
  program::Index code_end() const;
  /// The entry of the function at that address; no_index: none.
  program::Index at(uint64_t address) const;

 private:
  KernelCode(const rebuild::Original&, const program::Program&, const program::Function& named,
             const program::Function& built, program::StartLanes);
  const program::Program& program_;
  program::Function function_;
  program::Cfg cfg_;
  program::Liveness liveness_;
  codeobject::KernelInspection resources_;
  std::vector<uint64_t> addresses_; // by entry, from the function's first
};

} // namespace asmevo::profile
