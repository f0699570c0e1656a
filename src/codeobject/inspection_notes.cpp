#include "codeobject/inspection_notes.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::codeobject {

namespace {

using Notes = std::vector<std::string>;

template <class... Args>
void add(Notes& notes, fmt::format_string<Args...> format, Args&&... args) {
  notes.push_back(fmt::format(format, std::forward<Args>(args)...));
}

void compare_sizes(Notes& notes, std::string_view what, uint64_t descriptor, uint64_t metadata) {
  if (descriptor != metadata)
    add(notes, "{}: {} in the descriptor, {} in the metadata", what, descriptor, metadata);
}

void on_registers(Notes& notes, const KernelInspection& k, const isa::Target& target) {
  const KernelMetadata& m = *k.metadata;
  const isa::Limits limits = isa::limits(target);
  if (m.vgpr_count && align_up(std::max<uint64_t>(*m.vgpr_count, 1), limits.vgpr_granule) != k.vgprs)
    add(notes, "VGPRs: the descriptor allocates {}, .vgpr_count says {}", k.vgprs, *m.vgpr_count);
  if (m.agpr_count && *m.agpr_count > k.acc_vgprs)
    add(notes, "AGPRs: the descriptor allocates {}, .agpr_count says {}", k.acc_vgprs, *m.agpr_count);
  if (m.sgpr_count && *m.sgpr_count > k.sgprs)
    add(notes, "SGPRs: the descriptor allocates {}, .sgpr_count says {}", k.sgprs, *m.sgpr_count);
}

// Whether the arguments fill the kernarg segment, and nothing else.
void on_arguments(Notes& notes, const KernelInspection& k) {
  const KernelMetadata& m = *k.metadata;
  std::vector<const KernelArgument*> order;
  order.reserve(m.args.size());
  for (const KernelArgument& argument : m.args) order.push_back(&argument);
  std::ranges::sort(order, {}, [](const KernelArgument* a) { return std::pair(a->offset, a); });
  uint64_t end = 0, gaps = 0;
  bool hidden = false;
  for (const KernelArgument* argument : order) {
    // Compilers align an argument to its size, 16 bytes at most; more is a gap. Hidden ones have fixed
    // places.
    hidden |= argument->hidden();
    if (!hidden && argument->offset > align_up(end, 16)) ++gaps;
    end = std::max(end, argument->offset + argument->size);
  }
  if (end > m.kernarg_segment_size)
    add(notes, "arguments end at byte {}, past the kernarg segment of {} bytes", end, m.kernarg_segment_size);
  else if (!hidden && align_up(end, 8) < m.kernarg_segment_size) // compilers round up a little
    add(notes, "arguments end at byte {}, short of the kernarg segment of {} bytes", end,
        m.kernarg_segment_size);
  if (gaps != 0) add(notes, "arguments leave {} gap{} in the kernarg segment", gaps, gaps == 1 ? "" : "s");
}

void on_occupancy(Notes& notes, const KernelInspection& k, const isa::Target& target) {
  const isa::Limits limits = isa::limits(target);
  if (k.workgroup_size == 0 && k.metadata) notes.emplace_back("the largest workgroup size is not given");
  if (k.lds_bytes > limits.lds_bytes)
    add(notes, "LDS of {} bytes is more than the {} a compute unit has", k.lds_bytes, limits.lds_bytes);
  if (k.vgprs > limits.max_vgprs)
    add(notes, "{} VGPRs are more than the {} a wave can have", k.vgprs, limits.max_vgprs);
  if (k.occupancy.workgroups_by_vgprs == 0 && k.workgroup_size != 0)
    add(notes, "a workgroup of {} work-items cannot start: with {} VGPRs a SIMD holds {} of its {} waves",
        k.workgroup_size, k.vgprs, k.occupancy.by_vgprs,
        (k.occupancy.waves_per_workgroup + limits.simds - 1) / limits.simds);
}

} // namespace

NoteWriter::NoteWriter(const CodeObject& object) : object_(object) {
  for (const auto* table : {&object.dynamic_symbols(), &object.symbols()})
    for (const Symbol& symbol : *table)
      if (symbol.section != SHN_UNDEF) symbols_.emplace(symbol.name, &symbol);
}

Notes NoteWriter::of_object() const {
  Notes notes;
  if (object_.kernels().empty()) notes.emplace_back("no kernels");
  if (!object_.metadata()) {
    notes.emplace_back("no metadata note");
    return notes;
  }
  const auto& document = object_.metadata()->document();
  if (const auto it = document.find("amdhsa.target"); it != document.end() && it->is_string()) {
    const auto target = isa::Target::from_id(it->get_ref<const std::string&>());
    const bool same = target && target->id() == object_.target().id();
    if (!same)
      add(notes, "target: {} in the ELF flags, {} in the metadata", object_.target().id(),
          it->get_ref<const std::string&>());
  }
  if (const auto it = document.find("amdhsa.version");
      it != document.end() && it->is_array() && it->size() == 2) {
    // V3 writes 1.0, V4 1.1, V5 and V6 1.2.
    const nlohmann::ordered_json expected = {1, std::min(object_.version(), 5U) - 3};
    if (*it != expected)
      add(notes, "metadata version {}.{} is not that of code object V{} ({}.{})",
          (*it)[0].dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace),
          (*it)[1].dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace), object_.version(),
          expected[0].dump(), expected[1].dump());
  }
  return notes;
}

Notes NoteWriter::of_kernel(const KernelInspection& k) const {
  Notes notes;
  const Kernel& kernel = *k.kernel;
  const isa::Target& target = object_.target();
  const KernelDescriptor& d = kernel.descriptor;
  const auto function = symbols_.find(kernel.name);
  if (function == symbols_.end())
    notes.emplace_back("no symbol names the entry");
  else if (function->second->value != kernel.entry)
    add(notes, "entry: address {:#x} by the descriptor, {:#x} by symbol {}", kernel.entry,
        function->second->value, kernel.name);
  if (kernel.entry % 256 != 0) add(notes, "entry address {:#x} is not a multiple of 256", kernel.entry);
  if (kernel.descriptor_address % KernelDescriptor::alignment != 0)
    add(notes, "descriptor address {:#x} is not a multiple of {}", kernel.descriptor_address,
        KernelDescriptor::alignment);
  if (!(reserved_bits(d, target) == KernelDescriptor{}))
    notes.emplace_back("reserved bits of the descriptor are not zero");
  if (accum_offset(d, target) > k.vgprs)
    add(notes, "AGPRs would start at register {} of {}", accum_offset(d, target), k.vgprs);
  uint64_t named = 0;
  for (const auto& sgprs : k.user_sgprs) named += sgprs.second;
  if (const uint64_t count = get(d, target, "user_sgpr_count"); named != count)
    add(notes, "user SGPRs: {} counted, {} enabled by name", count, named);
  if (!k.metadata) {
    notes.emplace_back("the metadata does not list it");
  } else {
    compare_sizes(notes, "kernarg segment", d.kernarg_size, k.metadata->kernarg_segment_size);
    compare_sizes(notes, "LDS", d.group_segment_fixed_size, k.metadata->group_segment_fixed_size);
    compare_sizes(notes, "scratch", d.private_segment_fixed_size, k.metadata->private_segment_fixed_size);
    on_registers(notes, k, target);
    on_arguments(notes, k);
  }
  on_occupancy(notes, k, target);
  return notes;
}

} // namespace asmevo::codeobject
