#include "codeobject/kernel_descriptor.h"

#include <algorithm>
#include <cassert>

namespace asmevo::codeobject {

namespace {

// Byte offsets of the words (AMDGPUUsage, "Kernel Descriptor").
constexpr uint64_t group_size_at = 0, private_size_at = 4, kernarg_size_at = 8, reserved0_at = 12,
                   entry_at = 16, reserved1_at = 24, rsrc3_at = 44, rsrc1_at = 48, rsrc2_at = 52,
                   properties_at = 56, preload_at = 58, reserved3_at = 60;

using Word = DescriptorField::Word;

// What gfx90a, gfx942 and gfx950 have in common. Only two things differ: with architected flat scratch
// (gfx942 and gfx950) the assembler has one directive for the private segment where gfx90a has another, and
// knows no directives for the SGPRs that set flat scratch up by hand.
std::vector<DescriptorField> fields_of(bool architected_flat_scratch) {
  const bool afs = architected_flat_scratch;
  return {
      {"group_segment_fixed_size", ".amdhsa_group_segment_fixed_size", Word::GroupSize, 0, 32},
      {"private_segment_fixed_size", ".amdhsa_private_segment_fixed_size", Word::PrivateSize, 0, 32},
      {"kernarg_size", ".amdhsa_kernarg_size", Word::KernargSize, 0, 32},
      {"kernel_code_entry_byte_offset", "", Word::EntryOffset, 0, 64},

      {"granulated_workitem_vgpr_count", "", Word::Rsrc1, 0, 6},
      {"granulated_wavefront_sgpr_count", "", Word::Rsrc1, 6, 4},
      {"priority", "", Word::Rsrc1, 10, 2},
      {"float_round_mode_32", ".amdhsa_float_round_mode_32", Word::Rsrc1, 12, 2},
      {"float_round_mode_16_64", ".amdhsa_float_round_mode_16_64", Word::Rsrc1, 14, 2},
      {"float_denorm_mode_32", ".amdhsa_float_denorm_mode_32", Word::Rsrc1, 16, 2},
      {"float_denorm_mode_16_64", ".amdhsa_float_denorm_mode_16_64", Word::Rsrc1, 18, 2},
      {"priv", "", Word::Rsrc1, 20, 1},
      {"enable_dx10_clamp", ".amdhsa_dx10_clamp", Word::Rsrc1, 21, 1},
      {"debug_mode", "", Word::Rsrc1, 22, 1},
      {"enable_ieee_mode", ".amdhsa_ieee_mode", Word::Rsrc1, 23, 1},
      {"bulky", "", Word::Rsrc1, 24, 1},
      {"cdbg_user", "", Word::Rsrc1, 25, 1},
      {"fp16_ovfl", ".amdhsa_fp16_overflow", Word::Rsrc1, 26, 1},

      {"enable_private_segment",
       afs ? ".amdhsa_enable_private_segment" : ".amdhsa_system_sgpr_private_segment_wavefront_offset",
       Word::Rsrc2, 0, 1},
      {"user_sgpr_count", ".amdhsa_user_sgpr_count", Word::Rsrc2, 1, 5},
      {"enable_trap_handler", "", Word::Rsrc2, 6, 1},
      {"enable_sgpr_workgroup_id_x", ".amdhsa_system_sgpr_workgroup_id_x", Word::Rsrc2, 7, 1},
      {"enable_sgpr_workgroup_id_y", ".amdhsa_system_sgpr_workgroup_id_y", Word::Rsrc2, 8, 1},
      {"enable_sgpr_workgroup_id_z", ".amdhsa_system_sgpr_workgroup_id_z", Word::Rsrc2, 9, 1},
      {"enable_sgpr_workgroup_info", ".amdhsa_system_sgpr_workgroup_info", Word::Rsrc2, 10, 1},
      {"enable_vgpr_workitem_id", ".amdhsa_system_vgpr_workitem_id", Word::Rsrc2, 11, 2},
      {"enable_exception_address_watch", "", Word::Rsrc2, 13, 1},
      {"enable_exception_memory", "", Word::Rsrc2, 14, 1},
      {"granulated_lds_size", "", Word::Rsrc2, 15, 9},
      {"enable_exception_ieee_754_fp_invalid_operation", ".amdhsa_exception_fp_ieee_invalid_op", Word::Rsrc2,
       24, 1},
      {"enable_exception_fp_denormal_source", ".amdhsa_exception_fp_denorm_src", Word::Rsrc2, 25, 1},
      {"enable_exception_ieee_754_fp_division_by_zero", ".amdhsa_exception_fp_ieee_div_zero", Word::Rsrc2, 26,
       1},
      {"enable_exception_ieee_754_fp_overflow", ".amdhsa_exception_fp_ieee_overflow", Word::Rsrc2, 27, 1},
      {"enable_exception_ieee_754_fp_underflow", ".amdhsa_exception_fp_ieee_underflow", Word::Rsrc2, 28, 1},
      {"enable_exception_ieee_754_fp_inexact", ".amdhsa_exception_fp_ieee_inexact", Word::Rsrc2, 29, 1},
      {"enable_exception_int_divide_by_zero", ".amdhsa_exception_int_div_zero", Word::Rsrc2, 30, 1},

      {"accum_offset", ".amdhsa_accum_offset", Word::Rsrc3, 0, 6},
      {"tg_split", ".amdhsa_tg_split", Word::Rsrc3, 16, 1},

      {"enable_sgpr_private_segment_buffer", afs ? "" : ".amdhsa_user_sgpr_private_segment_buffer",
       Word::Properties, 0, 1},
      {"enable_sgpr_dispatch_ptr", ".amdhsa_user_sgpr_dispatch_ptr", Word::Properties, 1, 1},
      {"enable_sgpr_queue_ptr", ".amdhsa_user_sgpr_queue_ptr", Word::Properties, 2, 1},
      {"enable_sgpr_kernarg_segment_ptr", ".amdhsa_user_sgpr_kernarg_segment_ptr", Word::Properties, 3, 1},
      {"enable_sgpr_dispatch_id", ".amdhsa_user_sgpr_dispatch_id", Word::Properties, 4, 1},
      {"enable_sgpr_flat_scratch_init", afs ? "" : ".amdhsa_user_sgpr_flat_scratch_init", Word::Properties, 5,
       1},
      {"enable_sgpr_private_segment_size", ".amdhsa_user_sgpr_private_segment_size", Word::Properties, 6, 1},
      {"uses_dynamic_stack", ".amdhsa_uses_dynamic_stack", Word::Properties, 11, 1},

      {"kernarg_preload_spec_length", ".amdhsa_user_sgpr_kernarg_preload_length", Word::Preload, 0, 7},
      {"kernarg_preload_spec_offset", ".amdhsa_user_sgpr_kernarg_preload_offset", Word::Preload, 7, 9},
  };
}

uint64_t word_of(const KernelDescriptor& d, Word word) {
  switch (word) {
  case Word::GroupSize: return d.group_segment_fixed_size;
  case Word::PrivateSize: return d.private_segment_fixed_size;
  case Word::KernargSize: return d.kernarg_size;
  case Word::EntryOffset: return static_cast<uint64_t>(d.kernel_code_entry_byte_offset);
  case Word::Rsrc1: return d.compute_pgm_rsrc1;
  case Word::Rsrc2: return d.compute_pgm_rsrc2;
  case Word::Rsrc3: return d.compute_pgm_rsrc3;
  case Word::Properties: return d.kernel_code_properties;
  case Word::Preload: return d.kernarg_preload;
  }
  return 0;
}

void set_word(KernelDescriptor& d, Word word, uint64_t value) {
  switch (word) {
  case Word::GroupSize: d.group_segment_fixed_size = static_cast<uint32_t>(value); break;
  case Word::PrivateSize: d.private_segment_fixed_size = static_cast<uint32_t>(value); break;
  case Word::KernargSize: d.kernarg_size = static_cast<uint32_t>(value); break;
  case Word::EntryOffset: d.kernel_code_entry_byte_offset = static_cast<int64_t>(value); break;
  case Word::Rsrc1: d.compute_pgm_rsrc1 = static_cast<uint32_t>(value); break;
  case Word::Rsrc2: d.compute_pgm_rsrc2 = static_cast<uint32_t>(value); break;
  case Word::Rsrc3: d.compute_pgm_rsrc3 = static_cast<uint32_t>(value); break;
  case Word::Properties: d.kernel_code_properties = static_cast<uint16_t>(value); break;
  case Word::Preload: d.kernarg_preload = static_cast<uint16_t>(value); break;
  }
}

uint64_t mask_of(const DescriptorField& field) {
  return field.width == 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
}

const DescriptorField* find(const isa::Target& target, std::string_view name) {
  const auto& fields = descriptor_fields(target);
  const auto it = std::ranges::find(fields, name, &DescriptorField::name);
  assert(it != fields.end() && "no such descriptor field on this target");
  return it == fields.end() ? nullptr : &*it;
}

template <size_t n>
void load_array(ByteSpan bytes, uint64_t at, std::array<uint8_t, n>& array) {
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, array.begin());
}

} // namespace

Result<KernelDescriptor> KernelDescriptor::decode(ByteSpan bytes) {
  if (bytes.size() != size) return bad_input("a kernel descriptor has {} bytes, not {}", size, bytes.size());
  KernelDescriptor d;
  d.group_segment_fixed_size = *load<uint32_t>(bytes, group_size_at);
  d.private_segment_fixed_size = *load<uint32_t>(bytes, private_size_at);
  d.kernarg_size = *load<uint32_t>(bytes, kernarg_size_at);
  load_array(bytes, reserved0_at, d.reserved0);
  d.kernel_code_entry_byte_offset = *load<int64_t>(bytes, entry_at);
  load_array(bytes, reserved1_at, d.reserved1);
  d.compute_pgm_rsrc3 = *load<uint32_t>(bytes, rsrc3_at);
  d.compute_pgm_rsrc1 = *load<uint32_t>(bytes, rsrc1_at);
  d.compute_pgm_rsrc2 = *load<uint32_t>(bytes, rsrc2_at);
  d.kernel_code_properties = *load<uint16_t>(bytes, properties_at);
  d.kernarg_preload = *load<uint16_t>(bytes, preload_at);
  load_array(bytes, reserved3_at, d.reserved3);
  return d;
}

std::array<uint8_t, KernelDescriptor::size> KernelDescriptor::encode() const {
  std::array<uint8_t, size> bytes{};
  store(bytes, group_size_at, group_segment_fixed_size);
  store(bytes, private_size_at, private_segment_fixed_size);
  store(bytes, kernarg_size_at, kernarg_size);
  store(bytes, reserved0_at, reserved0);
  store(bytes, entry_at, kernel_code_entry_byte_offset);
  store(bytes, reserved1_at, reserved1);
  store(bytes, rsrc3_at, compute_pgm_rsrc3);
  store(bytes, rsrc1_at, compute_pgm_rsrc1);
  store(bytes, rsrc2_at, compute_pgm_rsrc2);
  store(bytes, properties_at, kernel_code_properties);
  store(bytes, preload_at, kernarg_preload);
  store(bytes, reserved3_at, reserved3);
  return bytes;
}

const std::vector<DescriptorField>& descriptor_fields(const isa::Target& target) {
  static const std::vector<DescriptorField> by_hand = fields_of(false), architected = fields_of(true);
  return target.architected_flat_scratch() ? architected : by_hand;
}

uint64_t get(const KernelDescriptor& descriptor, const DescriptorField& field) {
  return word_of(descriptor, field.word) >> field.shift & mask_of(field);
}

void set(KernelDescriptor& descriptor, const DescriptorField& field, uint64_t value) {
  const uint64_t mask = mask_of(field) << field.shift;
  const uint64_t word = word_of(descriptor, field.word);
  set_word(descriptor, field.word, (word & ~mask) | (value << field.shift & mask));
}

uint64_t get(const KernelDescriptor& descriptor, const isa::Target& target, std::string_view name) {
  const DescriptorField* field = find(target, name);
  return field ? get(descriptor, *field) : 0;
}

void set(KernelDescriptor& descriptor, const isa::Target& target, std::string_view name, uint64_t value) {
  if (const DescriptorField* field = find(target, name)) set(descriptor, *field, value);
}

KernelDescriptor reserved_bits(const KernelDescriptor& descriptor, const isa::Target& target) {
  KernelDescriptor rest = descriptor;
  for (const DescriptorField& field : descriptor_fields(target)) set(rest, field, 0);
  return rest;
}

unsigned allocated_vgprs(const KernelDescriptor& descriptor, const isa::Target& target) {
  const auto granules = static_cast<unsigned>(get(descriptor, target, "granulated_workitem_vgpr_count"));
  return (granules + 1) * isa::limits(target).vgpr_granule;
}

uint64_t largest_workgroup(const isa::Target& target, unsigned registers) {
  const isa::Limits limits = isa::limits(target);
  const unsigned waves = std::min(limits.waves_per_simd, limits.max_vgprs / std::max(1U, registers));
  return uint64_t{waves} * limits.simds * limits.wave_size;
}

unsigned accum_offset(const KernelDescriptor& descriptor, const isa::Target& target) {
  return (static_cast<unsigned>(get(descriptor, target, "accum_offset")) + 1) * 4;
}

unsigned allocated_sgprs(const KernelDescriptor& descriptor, const isa::Target& target) {
  // The field counts in eights although GFX9 allocates sixteens.
  return (static_cast<unsigned>(get(descriptor, target, "granulated_wavefront_sgpr_count")) + 1) * 8;
}

} // namespace asmevo::codeobject
