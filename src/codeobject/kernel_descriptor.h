// The 64-byte kernel descriptor (symbol `<kernel>.kd`, usually in .rodata) that the command processor reads
// at launch. Layout: LLVM's AMDGPUUsage, "Kernel Descriptor"; bit positions of COMPUTE_PGM_RSRC1..3 there
// too.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

/// The descriptor's words as they are, with every field named through get/set below. decode and encode are
/// exact inverses for any 64 bytes, reserved bits included.
struct KernelDescriptor {
  static constexpr size_t size = 64;      // bytes
  static constexpr size_t alignment = 64; // bytes
  static constexpr size_t entry_offset_at = 16,
                          entry_offset_size = 8; // kernel_code_entry_byte_offset's place

  uint32_t group_segment_fixed_size = 0;   // LDS bytes, static
  uint32_t private_segment_fixed_size = 0; // scratch bytes per work-item
  uint32_t kernarg_size = 0;               // bytes; 0 is common in hand-written objects
  std::array<uint8_t, 4> reserved0{};
  int64_t kernel_code_entry_byte_offset = 0; // entry address - descriptor address
  std::array<uint8_t, 20> reserved1{};
  uint32_t compute_pgm_rsrc3 = 0;
  uint32_t compute_pgm_rsrc1 = 0;
  uint32_t compute_pgm_rsrc2 = 0;
  uint16_t kernel_code_properties = 0;
  uint16_t kernarg_preload = 0;
  std::array<uint8_t, 4> reserved3{};

  static Result<KernelDescriptor> decode(ByteSpan bytes);
  std::array<uint8_t, size> encode() const;

  friend bool operator==(const KernelDescriptor&, const KernelDescriptor&) = default;
};

/// One named bit field of a descriptor, for inspect, abidiff and `.amdhsa_kernel`.
struct DescriptorField {
  std::string_view name; // as AMDGPUUsage writes it, lower case: "enable_vgpr_workitem_id"
  /// ".amdhsa_system_vgpr_workitem_id", or "" where no directive sets the field alone. The directive takes
  /// the field's value, but for `.amdhsa_accum_offset`, which takes registers: accum_offset() below.
  std::string_view directive;
  enum class Word : uint8_t {
    GroupSize,
    PrivateSize,
    KernargSize,
    EntryOffset,
    Rsrc1,
    Rsrc2,
    Rsrc3,
    Properties,
    Preload
  } word;
  uint8_t shift, width; // bits
};

/// Every field that the target's descriptor has, in order of the words. Bits no field covers are reserved.
const std::vector<DescriptorField>& descriptor_fields(const isa::Target&);
uint64_t get(const KernelDescriptor&, const DescriptorField&);
void set(KernelDescriptor&, const DescriptorField&, uint64_t value);
/// By name; the name must exist for the target (otherwise 0 is read and nothing written).
uint64_t get(const KernelDescriptor&, const isa::Target&, std::string_view name);
void set(KernelDescriptor&, const isa::Target&, std::string_view name, uint64_t value);

/// The descriptor with every named field cleared: what is left are bits that should be zero.
KernelDescriptor reserved_bits(const KernelDescriptor&, const isa::Target&);

// Register counts behind the granulated fields.
/// VGPRs allocated to a wave, AGPRs included: (granulated_workitem_vgpr_count + 1) * 8.
unsigned allocated_vgprs(const KernelDescriptor&, const isa::Target&);
/// Work-items of the largest workgroup whose waves are resident together with so many registers each.
uint64_t largest_workgroup(const isa::Target&, unsigned registers);
/// Where the AGPRs start in the unified file: (accum_offset + 1) * 4. a0 is register accum_offset.
unsigned accum_offset(const KernelDescriptor&, const isa::Target&);
/// SGPRs the descriptor covers, VCC and friends included: (granulated_wavefront_sgpr_count + 1) * 8 on GFX9.
unsigned allocated_sgprs(const KernelDescriptor&, const isa::Target&);

} // namespace asmevo::codeobject
