#include "codeobject/host_elf.h"

#include "codeobject/host_elf_tables.h"

#include <algorithm>

namespace asmevo::codeobject {

namespace {

template <class T>
Result<std::vector<T>> read_table(ByteSpan file, uint64_t offset, uint64_t count, std::string_view what) {
  const auto bytes = slice(file, offset, count * sizeof(T)); // count is 16 bits wide
  if (!bytes)
    return bad_input("ELF: {} at offset {:#x} with {} entries runs past the end ({} bytes)", what, offset,
                     count, file.size());
  std::vector<T> table(count);
  if (count != 0) std::memcpy(table.data(), bytes->data(), bytes->size());
  return table;
}

Status check_apart(const std::vector<FatbinSection>& sections) {
  for (size_t i = 1; i < sections.size(); ++i)
    if (sections[i].offset - sections[i - 1].offset < sections[i - 1].size)
      return bad_input("ELF: sections {} and {} (.hip_fatbin) lie over each other at offset {:#x}",
                       sections[i - 1].index, sections[i].index, sections[i].offset);
  return {};
}

} // namespace

Result<ElfIdentity> identify_elf(ByteSpan file) {
  if (!as_text(file).starts_with(ELFMAG)) return bad_input("ELF: magic is missing");
  const auto header = load<Elf64_Ehdr>(file, 0);
  if (!header) return bad_input("ELF: header is cut off at offset {:#x}", file.size());
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return bad_input("ELF: not 64-bit little-endian (class {} and data {} at offset 0x4)",
                     header->e_ident[EI_CLASS], header->e_ident[EI_DATA]);
  return ElfIdentity{header->e_type, header->e_machine, header->e_flags, header->e_ident[EI_OSABI],
                     header->e_ident[EI_ABIVERSION]};
}

Result<ElfTables> read_elf_tables(ByteSpan file) {
  ASMEVO_CHECK(identify_elf(file));
  ElfTables tables;
  tables.header = *load<Elf64_Ehdr>(file, 0);
  const Elf64_Ehdr& header = tables.header;
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))
    return bad_input("ELF: program header size {} at offset 0x36", header.e_phentsize);
  if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr))
    return bad_input("ELF: section header size {} at offset 0x3a", header.e_shentsize);
  if (header.e_phnum == PN_XNUM || (header.e_shnum == 0 && header.e_shoff != 0) ||
      header.e_shstrndx == SHN_XINDEX)
    return unsupported("ELF: more sections or segments than the header can count");
  ASMEVO_TRY(tables.segments,
             read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, "program header table"));
  ASMEVO_TRY(tables.sections,
             read_table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum, "section header table"));
  if (header.e_shnum == 0) return tables;
  if (header.e_shstrndx >= tables.sections.size())
    return bad_input("ELF: section name table {} at offset 0x3e does not exist", header.e_shstrndx);
  ASMEVO_TRY(tables.names, section_bytes(file, tables, tables.sections[header.e_shstrndx]));
  return tables;
}

std::string_view section_name(const ElfTables& tables, const Elf64_Shdr& section) {
  if (section.sh_name >= tables.names.size()) return {};
  const std::string_view rest = as_text(tables.names.subspan(section.sh_name));
  return rest.substr(0, rest.find('\0'));
}

Result<ByteSpan> section_bytes(ByteSpan file, const ElfTables& tables, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return ByteSpan{};
  const auto bytes = slice(file, section.sh_offset, section.sh_size);
  if (!bytes)
    return bad_input("ELF: section {} at offset {:#x} with {} bytes runs past the end ({} bytes)",
                     &section - tables.sections.data(), section.sh_offset, section.sh_size, file.size());
  return *bytes;
}

Result<std::vector<FatbinSection>> find_fatbins(ByteSpan file) {
  ASMEVO_TRY(const ElfTables tables, read_elf_tables(file));
  std::vector<FatbinSection> found;
  bool offloading = false;
  for (const Elf64_Shdr& section : tables.sections) {
    const std::string_view name = section_name(tables, section);
    offloading |= name == ".llvm.offloading" || name.starts_with("__CLANG_OFFLOAD_BUNDLE__");
    if (name != ".hip_fatbin") continue;
    if (section.sh_type == SHT_NOBITS)
      return bad_input("ELF: section .hip_fatbin has no contents in this file (debug information only?)");
    if ((section.sh_flags & SHF_COMPRESSED) != 0)
      return unsupported("ELF: section .hip_fatbin is itself compressed");
    ASMEVO_TRY(const ByteSpan bytes, section_bytes(file, tables, section));
    found.push_back({static_cast<size_t>(&section - tables.sections.data()), section.sh_offset, bytes.size(),
                     section.sh_addr});
  }
  if (found.empty() && offloading)
    return unsupported(
        "ELF: device code of an unlinked object (.llvm.offloading or __CLANG_OFFLOAD_BUNDLE__ sections); "
        "link it first");
  if (found.empty())
    return bad_input("ELF for a host machine ({}) without a .hip_fatbin section", tables.header.e_machine);
  std::ranges::sort(found, {}, &FatbinSection::offset);
  ASMEVO_CHECK(check_apart(found));
  return found;
}

} // namespace asmevo::codeobject
