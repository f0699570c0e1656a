// What there is to know about the kernels of a code object without looking at their instructions: registers,
// LDS, workgroup, how many waves fit, and where the object contradicts itself. For people (text) and programs
// (JSON).
#pragma once

#include "codeobject/code_object.h"

#include <optional>
#include <string>
#include <vector>

namespace asmevo::codeobject {

/// How many waves of a kernel a compute unit holds, and what stops more.
struct Occupancy {
  unsigned waves_per_workgroup = 1; // of the largest workgroup the kernel allows; 1 where it says nothing
  unsigned by_vgprs = 0;            // waves a SIMD has registers for
  // Workgroups a compute unit has room for, by each of its resources.
  unsigned workgroups_by_vgprs = 0, workgroups_by_lds = 0,
           workgroups_by_slots = 0;  // slots: waves and barriers
  unsigned workgroups = 0;           // the least of the three; 0: no workgroup of that size can start
  double waves_per_simd = 0;         // workgroups * waves_per_workgroup / SIMDs
  std::vector<std::string> limiters; // "VGPRs", "LDS", "workgroup size", "wave slots"
};
/// `lds_bytes`: static and dynamic. `workgroup_size`: work-items; 0 where unknown.
Occupancy occupancy(const isa::Target&, unsigned vgprs, uint64_t lds_bytes, uint64_t workgroup_size);

struct KernelInspection {
  const Kernel* kernel = nullptr; // of the object inspected
  std::string section;            // of the code
  uint64_t code_size = 0; // bytes from the entry to the next kernel or function, at most to the section's end
  unsigned vgprs = 0, arch_vgprs = 0, acc_vgprs = 0, sgprs = 0; // as the descriptor allocates them
  uint64_t lds_bytes = 0;      // static; the larger of what descriptor and metadata say
  uint64_t scratch_bytes = 0;  // per work-item
  uint64_t kernarg_bytes = 0;  // of the metadata, else of the descriptor
  uint64_t workgroup_size = 0; // required or largest; 0 where not said
  std::vector<std::pair<std::string, unsigned>>
      user_sgprs; // "kernarg_segment_ptr" and how many, in register order
  std::optional<KernelMetadata> metadata;
  Occupancy occupancy;
  std::vector<std::string> notes; // what is inconsistent or unusual, a sentence each
};

struct Inspection {
  std::vector<KernelInspection> kernels; // by entry address
  std::vector<std::string> notes;        // on the object as a whole
};

/// The object must outlive the result. `only`: the kernel to look at; empty for all.
Inspection inspect(const CodeObject&, std::string_view only = {});

/// Everything, for a person; lines end in "\n". `full`: every kernel at length, else one line a kernel.
std::string inspection_text(const CodeObject&, const Inspection&, bool full);
nlohmann::ordered_json inspection_json(const CodeObject&, const Inspection&);

} // namespace asmevo::codeobject
