#include "codeobject/inspection.h"

#include "codeobject/inspection_notes.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::codeobject {

namespace {

// A workgroup of several waves takes one of 16 barriers of its compute unit (LLVM, AMDGPUBaseInfo,
// getMaxWorkGroupsPerCU).
constexpr unsigned barriers_per_cu = 16;

// VGPRs are per SIMD, and the waves of a workgroup are dealt to the SIMDs in turn.
unsigned workgroups_by_vgprs(const isa::Limits& limits, unsigned waves_per_simd,
                             unsigned waves_per_workgroup) {
  const unsigned largest_share = (waves_per_workgroup + limits.simds - 1) / limits.simds;
  return largest_share > waves_per_simd ? 0 : waves_per_simd * limits.simds / waves_per_workgroup;
}

unsigned workgroups_by_slots(const isa::Limits& limits, unsigned waves_per_workgroup) {
  const unsigned by_waves = workgroups_by_vgprs(limits, limits.waves_per_simd, waves_per_workgroup);
  return waves_per_workgroup == 1 ? by_waves : std::min(by_waves, barriers_per_cu);
}

uint64_t workgroup_size_of(const KernelMetadata& metadata) {
  uint64_t size = 1;
  if (!metadata.reqd_workgroup_size || metadata.reqd_workgroup_size->empty())
    return metadata.max_flat_workgroup_size;
  for (const uint64_t extent : *metadata.reqd_workgroup_size)
    if (__builtin_mul_overflow(size, extent, &size)) return metadata.max_flat_workgroup_size;
  return size;
}

std::vector<std::pair<std::string, unsigned>> user_sgprs_of(const KernelDescriptor& d,
                                                            const isa::Target& target) {
  // Set up in this order (AMDGPUUsage, "Initial Kernel Execution State").
  constexpr std::pair<std::string_view, unsigned> order[] = {
      {"private_segment_buffer", 4}, {"dispatch_ptr", 2}, {"queue_ptr", 2},
      {"kernarg_segment_ptr", 2},    {"dispatch_id", 2},  {"flat_scratch_init", 2},
      {"private_segment_size", 1}};
  std::vector<std::pair<std::string, unsigned>> sgprs;
  for (const auto& [name, count] : order)
    if (get(d, target, fmt::format("enable_sgpr_{}", name)) != 0) sgprs.emplace_back(name, count);
  if (const auto preload = static_cast<unsigned>(get(d, target, "kernarg_preload_spec_length")); preload != 0)
    sgprs.emplace_back("preloaded kernargs", preload);
  return sgprs;
}

// Start addresses of kernels and functions, for where a kernel's code ends.
std::vector<uint64_t> code_starts(const CodeObject& object) {
  std::vector<uint64_t> starts;
  for (const Kernel& kernel : object.kernels()) starts.push_back(kernel.entry);
  for (const auto* table : {&object.symbols(), &object.dynamic_symbols()})
    for (const Symbol& symbol : *table)
      if (symbol.type() == STT_FUNC && symbol.section != SHN_UNDEF) starts.push_back(symbol.value);
  std::ranges::sort(starts);
  return starts;
}

KernelInspection inspect_kernel(const CodeObject& object, const Kernel& kernel,
                                const std::vector<uint64_t>& starts) {
  KernelInspection seen;
  const isa::Target& target = object.target();
  const Section& section = object.sections()[*object.section_at(kernel.entry)];
  seen.kernel = &kernel;
  seen.section = section.name;
  const auto next = std::ranges::upper_bound(starts, kernel.entry);
  const uint64_t section_end = section.address + section.size;
  seen.code_size = (next == starts.end() ? section_end : std::min(section_end, *next)) - kernel.entry;
  seen.vgprs = allocated_vgprs(kernel.descriptor, target);
  seen.arch_vgprs = std::min(seen.vgprs, accum_offset(kernel.descriptor, target));
  seen.acc_vgprs = seen.vgprs - seen.arch_vgprs;
  seen.sgprs = allocated_sgprs(kernel.descriptor, target);
  seen.lds_bytes = kernel.descriptor.group_segment_fixed_size;
  seen.scratch_bytes = kernel.descriptor.private_segment_fixed_size;
  seen.kernarg_bytes = kernel.descriptor.kernarg_size;
  seen.user_sgprs = user_sgprs_of(kernel.descriptor, target);
  if (const KernelMetadata* metadata = object.metadata_of(kernel)) {
    seen.metadata = *metadata;
    seen.lds_bytes = std::max(seen.lds_bytes, seen.metadata->group_segment_fixed_size);
    seen.scratch_bytes = std::max(seen.scratch_bytes, seen.metadata->private_segment_fixed_size);
    seen.kernarg_bytes = seen.metadata->kernarg_segment_size;
    seen.workgroup_size = workgroup_size_of(*seen.metadata);
  }
  seen.occupancy = occupancy(target, seen.vgprs, seen.lds_bytes, seen.workgroup_size);
  return seen;
}

} // namespace

Occupancy occupancy(const isa::Target& target, unsigned vgprs, uint64_t lds_bytes, uint64_t workgroup_size) {
  const isa::Limits limits = isa::limits(target);
  const unsigned most_waves = limits.waves_per_simd * limits.simds;
  Occupancy o;
  const uint64_t waves =
      std::max<uint64_t>(1, workgroup_size / limits.wave_size + (workgroup_size % limits.wave_size != 0));
  // A claimed size beyond all bounds need only stay beyond them.
  o.waves_per_workgroup = static_cast<unsigned>(std::min<uint64_t>(waves, 2 * most_waves));
  const unsigned allocated = static_cast<unsigned>(align_up(std::max(1U, vgprs), limits.vgpr_granule));
  o.by_vgprs = std::min(limits.max_vgprs / allocated, limits.waves_per_simd);
  o.workgroups_by_vgprs = workgroups_by_vgprs(limits, o.by_vgprs, o.waves_per_workgroup);
  o.workgroups_by_slots = workgroups_by_slots(limits, o.waves_per_workgroup);
  o.workgroups_by_lds = most_waves;
  if (lds_bytes > limits.lds_bytes)
    o.workgroups_by_lds = 0;
  else if (lds_bytes != 0)
    o.workgroups_by_lds = std::min(
        most_waves, static_cast<unsigned>(limits.lds_bytes / align_up(lds_bytes, limits.lds_granule)));
  o.workgroups = std::min({o.workgroups_by_vgprs, o.workgroups_by_lds, o.workgroups_by_slots});
  o.waves_per_simd = static_cast<double>(o.workgroups) * o.waves_per_workgroup / limits.simds;
  if (o.workgroups_by_vgprs == o.workgroups && o.by_vgprs < limits.waves_per_simd)
    o.limiters.emplace_back("VGPRs");
  if (o.workgroups_by_lds == o.workgroups && lds_bytes != 0) o.limiters.emplace_back("LDS");
  const bool full = o.workgroups * o.waves_per_workgroup == most_waves;
  if (o.workgroups_by_slots == o.workgroups) o.limiters.emplace_back(full ? "wave slots" : "workgroup size");
  return o;
}

Inspection inspect(const CodeObject& object, std::string_view only) {
  Inspection inspection;
  const std::vector<uint64_t> starts = code_starts(object);
  const NoteWriter notes(object);
  for (const Kernel& kernel : object.kernels()) {
    if (!only.empty() && kernel.name != only) continue;
    inspection.kernels.push_back(inspect_kernel(object, kernel, starts));
    inspection.kernels.back().notes = notes.of_kernel(inspection.kernels.back());
  }
  inspection.notes = notes.of_object();
  return inspection;
}

} // namespace asmevo::codeobject
