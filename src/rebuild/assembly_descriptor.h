// A kernel descriptor as `.amdhsa_` directives (AMDGPUUsage, "Code Object V3 and Above: .amdhsa_kernel").
// Private to rebuild/.
#pragma once

#include "codeobject/code_object.h"
#include "rebuild/assembly_symbols.h"

#include <map>
#include <string>

namespace asmevo::rebuild {

/// How text writes one descriptor.
struct DescriptorForm {
  const codeobject::Kernel* kernel = nullptr;
  /// The lines between .amdhsa_kernel and .end_amdhsa_kernel; empty where directives cannot express the
  /// descriptor.
  std::string directives;
  /// Then: why not, for the comment at its bytes.
  std::string reason;
};

/// The directives that should give the descriptor; whether they do, the assembler has to say.
std::string descriptor_directives(const codeobject::KernelDescriptor&, const isa::Target&);

/// The form of every kernel's descriptor, by address. Each is assembled and compared with what it stands for.
Result<std::map<uint64_t, DescriptorForm>> descriptor_forms(const codeobject::CodeObject&, const SymbolPlan&);

} // namespace asmevo::rebuild
