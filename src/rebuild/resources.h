// Which registers a kernel's code uses, and what its descriptor and metadata must therefore declare.
//
// An edit may use registers K0 never touched. Allocation then has to grow: VGPRs and AGPRs share one file of
// 512, split at accum_offset (a multiple of 4), allocated in granules of 8 (AMDGPUUsage, COMPUTE_PGM_RSRC1
// and RSRC3; LLVM's AMDGPUBaseInfo). K0's own declaration is kept wherever the code does not need more:
// hand-written objects declare more than they use, some less in their metadata, and both are theirs to keep.
#pragma once

#include "codeobject/code_object.h"
#include "program/edit.h"
#include "program/program.h"

#include <set>
#include <string>
#include <vector>

namespace asmevo::rebuild {

/// Counts are highest index + 1.
struct RegisterUse {
  unsigned vgprs = 0, agprs = 0;
  unsigned sgprs = 0; // s0.. only
  bool vcc = false, flat_scratch = false, xnack_mask = false;
  bool scratch = false; // scratch instructions, or buffer ones through the private segment cannot be told
  bool unknown_callees =
      false; // an indirect call whose callees are not known: all device functions are counted
  friend bool operator==(const RegisterUse&, const RegisterUse&) = default;
};

/// The kernel and every function it may call. `unknown_callees`, if given, as of RegisterUse.
std::set<const program::Function*> functions_of(const program::Program&, const program::Function& kernel,
                                                bool* unknown_callees = nullptr);

/// Of these. Registers named under s_set_gpr_idx count as named: what is
/// indexed beyond them cannot be seen, so with `dynamic indexing` K0's allocation is a lower bound (grow
/// keeps it).
RegisterUse scan_registers(const program::Program& program, const program::Function& kernel);

/// One field that was changed, for reports.
struct ResourceChange {
  std::string kernel, field; // "vgprs" ...
  uint64_t from = 0, to = 0;
};

/// The descriptor and metadata counts of a kernel after an edit: K0's, grown where `now` needs more than K0
/// allocates and more than K0's own code used; shrunk to `now` where asked. BadInput: more registers than a
/// wave can have, LDS beyond the target's, scratch where the kernel has no private segment set up, or LDS
/// changed under dynamic LDS.
struct Resources {
  codeobject::KernelDescriptor descriptor;
  std::vector<ResourceChange> changes;
};
Result<Resources> resources_after(const codeobject::CodeObject& k0, const codeobject::Kernel& kernel,
                                  const RegisterUse& of_k0, const RegisterUse& now,
                                  const program::ResourceRequest& request);

/// Writes the changed counts into the metadata of kernel `index`; keys the note does not have stay absent.
void update_metadata(codeobject::Metadata& metadata, size_t index,
                     const std::vector<ResourceChange>& changes);

} // namespace asmevo::rebuild
