// The second half of CodeObject::parse: metadata note and kernel descriptors.
#include "codeobject/code_object_reader.h"

#include <algorithm>
#include <elf.h>
#include <unordered_map>
#include <unordered_set>

namespace asmevo::codeobject {

namespace {

constexpr uint32_t note_metadata = 32;     // NT_AMDGPU_METADATA, owner "AMDGPU"
constexpr uint32_t note_hsa_metadata = 10; // NT_AMD_HSA_METADATA of V2, owner "AMD"
constexpr std::string_view descriptor_suffix = ".kd";
constexpr uint16_t wavefront_size32 = 1 << 10; // kernel_code_properties; reserved, must be 0 on GFX9

} // namespace

Status CodeObjectReader::read_notes() {
  for (const Section& section : object_.sections_)
    if (section.type == SHT_NOTE) ASMEVO_CHECK(read_note_section(section));
  return {};
}

Status CodeObjectReader::read_note_section(const Section& section) {
  const uint64_t alignment = section.alignment == 8 ? 8 : 4, size = section.contents.size();
  for (uint64_t at = 0; at < size;) {
    const auto header = load<Elf64_Nhdr>(section.contents, at);
    if (!header)
      return bad_input("note at offset {:#x}: header runs past section {}", section.offset + at,
                       section.name);
    // Sizes are 32-bit, so none of these sums can wrap.
    const uint64_t name_at = at + sizeof(Elf64_Nhdr),
                   contents_at = align_up(name_at + header->n_namesz, alignment);
    const auto owner = slice(section.contents, name_at, header->n_namesz);
    if (!owner || !slice(section.contents, contents_at, header->n_descsz))
      return bad_input("note at offset {:#x}: {:#x} + {:#x} bytes run past section {}", section.offset + at,
                       header->n_namesz, header->n_descsz, section.name);
    const std::string_view name = as_text(*owner).substr(0, as_text(*owner).find('\0'));
    if (name == "AMDGPU" && header->n_type == note_metadata)
      ASMEVO_CHECK(read_metadata(section.offset + contents_at, header->n_descsz));
    if (name == "AMD" && header->n_type == note_hsa_metadata)
      return unsupported("note at offset {:#x}: metadata of code object V2", section.offset + at);
    at = align_up(contents_at + header->n_descsz, alignment);
  }
  return {};
}

Status CodeObjectReader::read_metadata(uint64_t offset, uint64_t size) {
  if (object_.metadata_note_) return bad_input("note at offset {:#x}: a second metadata note", offset);
  object_.metadata_note_ = CodeObject::Range{offset, size};
  auto metadata = Metadata::parse(ByteSpan(object_.bytes_).subspan(offset, size));
  if (!metadata) return failed(metadata.error(), fmt::format("note at offset {:#x}", offset));
  object_.metadata_ = *std::move(metadata);
  return {};
}

Status CodeObjectReader::read_kernels() {
  std::unordered_set<std::string_view> seen;
  // The loader goes by .dynsym; .symtab adds kernels that are not exported.
  for (const auto* table : {&object_.dynamic_symbols_, &object_.symbols_})
    for (const Symbol& symbol : *table) {
      if (symbol.type() != STT_OBJECT || symbol.section == SHN_UNDEF ||
          symbol.name.size() <= descriptor_suffix.size() || !symbol.name.ends_with(descriptor_suffix) ||
          !seen.insert(symbol.name).second)
        continue;
      auto added = add_kernel(symbol);
      if (!added) return failed(added.error(), fmt::format("kernel descriptor {}", symbol.name));
    }
  std::ranges::sort(object_.kernels_, {},
                    [](const Kernel& k) { return std::pair(k.entry, k.descriptor_address); });
  return match_metadata();
}

Status CodeObjectReader::add_kernel(const Symbol& symbol) {
  if (symbol.section >= section_count_)
    return bad_input("symbol is in no section (index {:#x})", symbol.section);
  const Section& section = object_.sections_[symbol.section];
  if (!section.contains(symbol.value))
    return bad_input("address {:#x} is outside section {}", symbol.value, section.name);
  const auto bytes = slice(section.contents, symbol.value - section.address, KernelDescriptor::size);
  if (!bytes)
    return bad_input("{} bytes at address {:#x} run past section {}", KernelDescriptor::size, symbol.value,
                     section.name);
  Kernel kernel;
  kernel.name = symbol.name.substr(0, symbol.name.size() - descriptor_suffix.size());
  kernel.descriptor_address = symbol.value;
  ASMEVO_TRY(kernel.descriptor, KernelDescriptor::decode(*bytes));
  kernel.entry = symbol.value + static_cast<uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
  const auto code = object_.section_at(kernel.entry);
  if (!code || !object_.sections_[*code].executable() || object_.sections_[*code].type == SHT_NOBITS)
    return bad_input("entry address {:#x} is not in an executable section", kernel.entry);
  if (kernel.entry % 4 != 0) return bad_input("entry address {:#x} is not a multiple of 4", kernel.entry);
  if ((kernel.descriptor.kernel_code_properties & wavefront_size32) != 0)
    return bad_input("asks for waves of 32 lanes, which {} does not have", object_.target_.name());
  object_.kernels_.push_back(std::move(kernel));
  return {};
}

Status CodeObjectReader::match_metadata() {
  if (!object_.metadata_) return {};
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < object_.kernels_.size(); ++i) by_name.emplace(object_.kernels_[i].name, i);
  ASMEVO_TRY(object_.kernel_metadata_, object_.metadata_->kernels());
  const std::vector<KernelMetadata>& listed = object_.kernel_metadata_;
  for (size_t i = 0; i < listed.size(); ++i) {
    std::string_view name = listed[i].symbol;
    if (name.ends_with(descriptor_suffix)) name.remove_suffix(descriptor_suffix.size());
    const auto kernel = by_name.find(name);
    if (kernel == by_name.end())
      return bad_input("metadata lists kernel '{}', but there is no kernel descriptor '{}'", listed[i].name,
                       listed[i].symbol);
    if (listed[i].wavefront_size != 0 && listed[i].wavefront_size != isa::limits(object_.target_).wave_size)
      return bad_input("metadata of kernel '{}': wavefront size {}, but {} has {}", listed[i].name,
                       listed[i].wavefront_size, object_.target_.name(),
                       isa::limits(object_.target_).wave_size);
    std::optional<size_t>& index = object_.kernels_[kernel->second].metadata_index;
    if (index) return bad_input("metadata lists kernel '{}' twice", listed[i].name);
    index = i;
  }
  return {};
}

} // namespace asmevo::codeobject
