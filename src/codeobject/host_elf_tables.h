// The tables of a host ELF file, read with every bound checked. Inside host_elf*.cpp only.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <elf.h>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

struct ElfTables {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
  ByteSpan names; // .shstrtab
};

/// BadInput names what is cut off. e_shnum and e_phnum overflow forms are refused.
Result<ElfTables> read_elf_tables(ByteSpan file);

/// Empty where the name is outside the table.
std::string_view section_name(const ElfTables&, const Elf64_Shdr&);

/// The section's bytes in the file.
Result<ByteSpan> section_bytes(ByteSpan file, const ElfTables&, const Elf64_Shdr&);

} // namespace asmevo::codeobject
