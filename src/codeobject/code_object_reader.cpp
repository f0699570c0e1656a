#include "codeobject/code_object_reader.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::codeobject {

namespace {

// Overlapping names in a string table can claim far more text than the file has bytes; real tables share
// tails at most between .symtab and .dynsym.
constexpr size_t longest_name = 1 << 16, name_bytes_floor = 1 << 20;

std::string_view section_name(const CodeObject& object, size_t index) {
  const std::string& name = object.sections()[index].name;
  return name.empty() ? std::string_view("(unnamed)") : std::string_view(name);
}

bool has_file_bytes(const Section& section) {
  return section.type != SHT_NOBITS && section.type != SHT_NULL;
}

} // namespace

Result<CodeObject> CodeObjectReader::read(Bytes bytes) {
  object_.bytes_ = std::move(bytes);
  ASMEVO_CHECK(read_header());
  ASMEVO_CHECK(read_target());
  ASMEVO_CHECK(read_segments());
  ASMEVO_CHECK(read_sections());
  ASMEVO_CHECK(read_tables());
  ASMEVO_CHECK(read_notes());
  ASMEVO_CHECK(read_kernels());
  return std::move(object_);
}

Status CodeObjectReader::read_header() {
  const ByteSpan bytes = object_.bytes_;
  if (bytes.empty()) return bad_input("empty file");
  if (bytes.size() < SELFMAG || as_text(bytes.first(SELFMAG)) != ELFMAG) return bad_input("not an ELF file");
  const auto header = load<Elf64_Ehdr>(bytes, 0);
  if (bytes.size() > EI_CLASS && bytes[EI_CLASS] != ELFCLASS64)
    return bad_input("offset {:#x}: not a 64-bit ELF file", EI_CLASS);
  if (!header)
    return bad_input("truncated ELF header: {} bytes, expected {}", bytes.size(), sizeof(Elf64_Ehdr));
  if (header->e_ident[EI_DATA] != ELFDATA2LSB)
    return bad_input("offset {:#x}: not a little-endian ELF file", EI_DATA);
  if (header->e_machine != EM_AMDGPU)
    return unsupported("offset {:#x}: ELF machine {} is not AMDGPU ({})", offsetof(Elf64_Ehdr, e_machine),
                       header->e_machine, EM_AMDGPU);
  if (header->e_type != ET_DYN)
    return unsupported("offset {:#x}: ELF type {} is not a shared object; link it first",
                       offsetof(Elf64_Ehdr, e_type), header->e_type);
  if (header->e_shnum == 0 || header->e_shoff == 0) return bad_input("no section headers");
  if (header->e_shentsize != sizeof(Elf64_Shdr))
    return bad_input("offset {:#x}: section headers of {} bytes, expected {}",
                     offsetof(Elf64_Ehdr, e_shentsize), header->e_shentsize, sizeof(Elf64_Shdr));
  if (header->e_phnum != 0 && header->e_phentsize != sizeof(Elf64_Phdr))
    return bad_input("offset {:#x}: program headers of {} bytes, expected {}",
                     offsetof(Elf64_Ehdr, e_phentsize), header->e_phentsize, sizeof(Elf64_Phdr));
  section_headers_at_ = header->e_shoff;
  program_headers_at_ = header->e_phoff;
  section_count_ = header->e_shnum;
  segment_count_ = header->e_phnum;
  section_names_ = header->e_shstrndx;
  object_.elf_flags_ = header->e_flags;
  return {};
}

Status CodeObjectReader::read_target() {
  constexpr uint8_t os_abi_hsa = 64;                       // ELFOSABI_AMDGPU_HSA
  constexpr uint8_t abi_v2 = 0, abi_v3 = 1, abi_v6 = 4;    // ELFABIVERSION_AMDGPU_HSA_*
  constexpr uint32_t xnack_v3 = 0x100, sramecc_v3 = 0x200; // EF_AMDGPU_FEATURE_*_V3
  const uint8_t os_abi = object_.bytes_[EI_OSABI], abi = object_.bytes_[EI_ABIVERSION];
  if (os_abi != os_abi_hsa)
    return unsupported("offset {:#x}: OS ABI {} is not AMDGPU HSA ({})", EI_OSABI, os_abi, os_abi_hsa);
  if (abi == abi_v2)
    return unsupported("code object V2 (offset {:#x}): this program handles V3 to V6", EI_ABIVERSION);
  if (abi > abi_v6)
    return unsupported("code object with ABI version {} (offset {:#x}): this program handles V3 to V6", abi,
                       EI_ABIVERSION);
  object_.version_ = abi + 2U;
  uint32_t flags = object_.elf_flags_;
  if (abi == abi_v3) {
    // V3 knows "on" and "off" only, one bit each; put as V4 writes them.
    flags &= 0xff;
    flags |= (object_.elf_flags_ & xnack_v3) != 0 ? 0x300 : 0x200;
    flags |= (object_.elf_flags_ & sramecc_v3) != 0 ? 0xc00 : 0x800;
  }
  ASMEVO_TRY(object_.target_, isa::Target::from_elf_flags(flags));
  return {};
}

Status CodeObjectReader::read_segments() {
  const ByteSpan bytes = object_.bytes_;
  if (segment_count_ != 0 && !slice(bytes, program_headers_at_, segment_count_ * sizeof(Elf64_Phdr)))
    return bad_input("program headers past the end of the file: {} at offset {:#x} of {} bytes",
                     segment_count_, program_headers_at_, bytes.size());
  for (size_t i = 0; i < segment_count_; ++i) {
    const auto raw = *load<Elf64_Phdr>(bytes, program_headers_at_ + i * sizeof(Elf64_Phdr));
    const Segment segment{raw.p_type,  raw.p_flags,  raw.p_offset, raw.p_vaddr,
                          raw.p_paddr, raw.p_filesz, raw.p_memsz,  raw.p_align};
    if (segment.file_size != 0 && !slice(bytes, segment.offset, segment.file_size))
      return bad_input("segment {} past the end of the file: {:#x} bytes at offset {:#x} of {:#x}", i,
                       segment.file_size, segment.offset, bytes.size());
    if (segment.address + segment.memory_size < segment.address)
      return bad_input("segment {}: {:#x} bytes at address {:#x} wrap around", i, segment.memory_size,
                       segment.address);
    object_.segments_.push_back(segment);
    if (segment.type != PT_LOAD) continue;
    if (segment.file_size > segment.memory_size)
      return bad_input("segment {}: {:#x} bytes in the file, {:#x} in memory", i, segment.file_size,
                       segment.memory_size);
    if (!loads_.empty()) {
      const Segment& before = object_.segments_[loads_.back()];
      if (segment.address < before.address + before.memory_size)
        return bad_input("segment {} at address {:#x} overlaps segment {} or precedes it", i, segment.address,
                         loads_.back());
    }
    loads_.push_back(i);
  }
  return {};
}

Status CodeObjectReader::read_sections() {
  const ByteSpan bytes = object_.bytes_;
  if (!slice(bytes, section_headers_at_, section_count_ * sizeof(Elf64_Shdr)))
    return bad_input("section headers past the end of the file: {} at offset {:#x} of {} bytes",
                     section_count_, section_headers_at_, bytes.size());
  std::vector<uint32_t> names;
  for (size_t i = 0; i < section_count_; ++i) {
    const auto raw = *load<Elf64_Shdr>(bytes, section_headers_at_ + i * sizeof(Elf64_Shdr));
    Section section{{},          raw.sh_type, raw.sh_flags, raw.sh_addr,      raw.sh_offset,
                    raw.sh_size, raw.sh_link, raw.sh_info,  raw.sh_addralign, raw.sh_entsize,
                    {}};
    if (has_file_bytes(section)) {
      const auto contents = slice(bytes, section.offset, section.size);
      if (!contents)
        return bad_input("section {} past the end of the file: {:#x} bytes at offset {:#x} of {:#x}", i,
                         section.size, section.offset, bytes.size());
      section.contents = *contents;
    }
    object_.sections_.push_back(std::move(section));
    names.push_back(raw.sh_name);
  }
  if (section_names_ >= section_count_ || object_.sections_[section_names_].type != SHT_STRTAB)
    return bad_input("section {} is not the table of section names", section_names_);
  for (size_t i = 0; i < section_count_; ++i) {
    ASMEVO_TRY(object_.sections_[i].name, read_string(object_.sections_[section_names_], names[i],
                                                      fmt::format("name of section {}", i)));
    ASMEVO_CHECK(check_section(i));
  }
  return order_by_address();
}

Status CodeObjectReader::check_section(size_t index) const {
  const Section& section = object_.sections_[index];
  if ((section.alignment & (section.alignment - 1)) != 0)
    return bad_input("section {} ({}): alignment {} is not a power of two", index,
                     section_name(object_, index), section.alignment);
  if (section.allocated() && section.address + section.size < section.address)
    return bad_input("section {} ({}): {:#x} bytes at address {:#x} wrap around", index,
                     section_name(object_, index), section.size, section.address);
  return {};
}

Status CodeObjectReader::order_by_address() {
  std::vector<size_t>& order = object_.by_address_;
  for (size_t i = 0; i < section_count_; ++i)
    if (object_.sections_[i].allocated() && object_.sections_[i].size != 0) order.push_back(i);
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(object_.sections_[i].address, i); });
  for (size_t i = 0; i < order.size(); ++i) {
    ASMEVO_CHECK(check_segment_of(order[i]));
    if (i == 0) continue;
    const Section &before = object_.sections_[order[i - 1]], &section = object_.sections_[order[i]];
    if (section.address < before.address + before.size)
      return bad_input("section {} at address {:#x} overlaps section {}", section_name(object_, order[i]),
                       section.address, section_name(object_, order[i - 1]));
  }
  return {};
}

// The loader goes by segments, everything here by sections: they must agree.
Status CodeObjectReader::check_segment_of(size_t index) const {
  const Section& section = object_.sections_[index];
  const auto above = std::ranges::upper_bound(loads_, section.address, {},
                                              [&](size_t i) { return object_.segments_[i].address; });
  if (above != loads_.begin()) {
    const Segment& load = object_.segments_[*std::prev(above)];
    const uint64_t inside = section.address - load.address;
    const bool in_memory = inside <= load.memory_size && section.size <= load.memory_size - inside;
    const bool in_file =
        section.type == SHT_NOBITS || (inside <= load.file_size && section.size <= load.file_size - inside &&
                                       load.offset + inside == section.offset);
    if (in_memory && in_file) return {};
  }
  return bad_input("section {} (offset {:#x}, address {:#x}) is not where a PT_LOAD segment puts it",
                   section_name(object_, index), section.offset, section.address);
}

Result<std::string> CodeObjectReader::read_string(const Section& table, uint64_t offset,
                                                  std::string_view what) {
  if (offset >= table.contents.size()) {
    if (offset == 0) return std::string(); // no names at all
    return bad_input("{}: offset {:#x} is outside string table {} of {:#x} bytes", what, offset,
                     table.name.empty() ? "(unnamed)" : table.name, table.contents.size());
  }
  const std::string_view rest = as_text(table.contents.subspan(offset)).substr(0, longest_name + 1);
  const size_t length = rest.find('\0');
  if (length == std::string_view::npos)
    return bad_input("{}: string at offset {:#x} does not end within its table or {} bytes", what,
                     table.offset + offset, longest_name);
  name_bytes_ += length;
  if (name_bytes_ > 4 * object_.bytes_.size() + name_bytes_floor)
    return bad_input("{}: the names of symbols and sections are together larger than the file can hold",
                     what);
  return std::string(rest.substr(0, length));
}

Status CodeObjectReader::read_tables() {
  bool symtab = false, dynsym = false;
  for (size_t i = 0; i < section_count_; ++i) {
    const Section& section = object_.sections_[i];
    if (section.type == SHT_SYMTAB) {
      if (std::exchange(symtab, true)) return bad_input("section {} is a second symbol table", i);
      ASMEVO_TRY(object_.symbols_, read_symbols(i));
    } else if (section.type == SHT_DYNSYM) {
      if (std::exchange(dynsym, true)) return bad_input("section {} is a second dynamic symbol table", i);
      ASMEVO_TRY(object_.dynamic_symbols_, read_symbols(i));
    }
  }
  for (size_t i = 0; i < section_count_; ++i)
    if (object_.sections_[i].type == SHT_RELA && object_.sections_[i].allocated())
      ASMEVO_CHECK(read_relocations(i));
  return {};
}

// A launch or a call that goes by this symbol must end at an instruction of its section.
Status CodeObjectReader::check_function(const Symbol& symbol) const {
  if (symbol.type() != STT_FUNC || symbol.section == SHN_UNDEF || symbol.section >= section_count_) return {};
  const Section& section = object_.sections_[symbol.section];
  const uint64_t offset = symbol.value - section.address; // wraps to far outside where it is in front
  if (offset > section.size || symbol.size > section.size - offset)
    return bad_input("function {}: {:#x} + {:#x} is outside section {}", printable(symbol.name, whole_text),
                     symbol.value, symbol.size, section_name(object_, symbol.section));
  if (symbol.value % 4 != 0)
    return bad_input("function {}: address {:#x} is not a multiple of 4", printable(symbol.name, whole_text),
                     symbol.value);
  return {};
}

Result<std::vector<Symbol>> CodeObjectReader::read_symbols(size_t index) {
  const Section& table = object_.sections_[index];
  const std::string_view name = section_name(object_, index);
  if (table.entry_size != sizeof(Elf64_Sym) || table.size % sizeof(Elf64_Sym) != 0)
    return bad_input("symbol table {}: {:#x} bytes of entries of {}, expected {}", name, table.size,
                     table.entry_size, sizeof(Elf64_Sym));
  if (table.link >= section_count_ || object_.sections_[table.link].type != SHT_STRTAB)
    return bad_input("symbol table {}: section {} is not its string table", name, table.link);
  std::vector<Symbol> symbols;
  symbols.reserve(table.size / sizeof(Elf64_Sym));
  for (uint64_t at = 0; at < table.size; at += sizeof(Elf64_Sym)) {
    const auto raw = *load<Elf64_Sym>(table.contents, at);
    Symbol symbol{{}, raw.st_value, raw.st_size, raw.st_info, raw.st_other, raw.st_shndx};
    if (raw.st_shndx >= section_count_ && raw.st_shndx < SHN_LORESERVE)
      return bad_input("symbol {} of {}: section {} does not exist", symbols.size(), name, raw.st_shndx);
    auto text = read_string(object_.sections_[table.link], raw.st_name, "symbol name");
    if (!text) return failed(text.error(), fmt::format("symbol {} of {}", symbols.size(), name));
    symbol.name = *std::move(text);
    ASMEVO_CHECK(check_function(symbol));
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

Status CodeObjectReader::read_relocations(size_t index) {
  const Section& table = object_.sections_[index];
  const std::string_view name = section_name(object_, index);
  if (table.entry_size != sizeof(Elf64_Rela) || table.size % sizeof(Elf64_Rela) != 0)
    return bad_input("relocations {}: {:#x} bytes of entries of {}, expected {}", name, table.size,
                     table.entry_size, sizeof(Elf64_Rela));
  for (uint64_t at = 0; at < table.size; at += sizeof(Elf64_Rela)) {
    const auto raw = *load<Elf64_Rela>(table.contents, at);
    const Relocation relocation{raw.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info)),
                                static_cast<uint32_t>(ELF64_R_SYM(raw.r_info)), raw.r_addend};
    if (relocation.symbol != 0 && relocation.symbol >= object_.dynamic_symbols_.size())
      return bad_input("relocation at offset {:#x}: dynamic symbol {} does not exist", table.offset + at,
                       relocation.symbol);
    if (!object_.section_at(relocation.address))
      return bad_input("relocation at offset {:#x}: address {:#x} is outside all sections", table.offset + at,
                       relocation.address);
    object_.relocations_.push_back(relocation);
  }
  return {};
}

} // namespace asmevo::codeobject
