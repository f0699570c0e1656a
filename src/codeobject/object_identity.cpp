#include "codeobject/object_identity.h"

#include "codeobject/host_elf_tables.h"
#include "isa/target.h"

#include <algorithm>

namespace asmevo::codeobject {

namespace {

// EI_ABIVERSION of code object V2 (0) and V3 (1); EF_AMDGPU_FEATURE_* of both encodings (AMDGPUUsage,
// "Header").
constexpr uint8_t abi_v2 = 0, abi_v3 = 1;
constexpr unsigned char symbol_type_hsa_kernel = 10; // STT_AMDGPU_HSA_KERNEL, V2

std::vector<std::string_view> split_features(std::string_view target_id) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= target_id.size();) {
    const size_t end = std::min(target_id.find(':', start), target_id.size());
    parts.push_back(target_id.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

Result<std::vector<std::string>> names_in(ByteSpan elf, const ElfTables& tables, const Elf64_Shdr& table) {
  ASMEVO_TRY(const ByteSpan symbols, section_bytes(elf, tables, table));
  if (table.sh_link >= tables.sections.size())
    return bad_input("ELF: symbol table names string table {}, which does not exist", table.sh_link);
  ASMEVO_TRY(const ByteSpan strings, section_bytes(elf, tables, tables.sections[table.sh_link]));
  const bool v2 = tables.header.e_ident[EI_ABIVERSION] == abi_v2;
  std::vector<std::string> names;
  for (uint64_t at = 0; symbols.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    const auto symbol = *load<Elf64_Sym>(symbols, at);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
    // Long ones are no kernel: a hostile table could make every symbol's name the whole string table.
    std::string_view name =
        as_text(strings.subspan(symbol.st_name, std::min<size_t>(strings.size() - symbol.st_name, 65536)));
    name = name.substr(0, name.find('\0'));
    if (v2 ? ELF64_ST_TYPE(symbol.st_info) != symbol_type_hsa_kernel : !name.ends_with(".kd")) continue;
    if (!v2) name.remove_suffix(3);
    names.emplace_back(name);
  }
  return names;
}

} // namespace

bool device_entry(std::string_view entry_id) {
  return entry_id != "host" && !entry_id.starts_with("host-");
}

std::string target_of_entry(std::string_view entry_id) {
  const std::string_view head = entry_id.substr(0, entry_id.find(':'));
  // The triple has an empty environment, "amdgcn-amd-amdhsa-", in all but old files; a GPU may have dashes.
  size_t start = head.find("--");
  if (start != std::string_view::npos)
    start += 2;
  else if (start = head.find("-gfx"); start != std::string_view::npos)
    start += 1;
  else
    start = head.rfind('-') + 1; // npos + 1 is 0: the whole
  return std::string(entry_id.substr(start));
}

std::string target_of_elf(const ElfIdentity& elf) {
  std::string id = isa::gpu_name(elf.flags);
  if (elf.abi_version == abi_v2) return id;
  if (elf.abi_version == abi_v3) {
    if ((elf.flags & 0x200) != 0) id += ":sramecc+";
    if ((elf.flags & 0x100) != 0) id += ":xnack+";
    return id;
  }
  const uint32_t xnack = elf.flags >> 8 & 3, sramecc = elf.flags >> 10 & 3; // 2 off, 3 on
  if (sramecc >= 2) id += sramecc == 3 ? ":sramecc+" : ":sramecc-";
  if (xnack >= 2) id += xnack == 3 ? ":xnack+" : ":xnack-";
  return id;
}

bool covers(std::string_view general, std::string_view special) {
  const auto wanted = split_features(general), present = split_features(special);
  if (wanted.front() != present.front()) return false;
  return std::ranges::all_of(
      wanted, [&](std::string_view part) { return std::ranges::find(present, part) != present.end(); });
}

Result<std::vector<std::string>> kernel_names(ByteSpan elf) {
  ASMEVO_TRY(const ElfTables tables, read_elf_tables(elf));
  if (tables.header.e_machine != machine_amdgpu)
    return bad_input("ELF for machine {}, not an AMDGPU code object", tables.header.e_machine);
  // Every kernel is in .dynsym, by which the loader finds it; .symtab may have been stripped.
  for (const uint32_t type : {SHT_DYNSYM, SHT_SYMTAB}) {
    const auto table = std::ranges::find(tables.sections, type, &Elf64_Shdr::sh_type);
    if (table == tables.sections.end()) continue;
    ASMEVO_TRY(std::vector<std::string> names, names_in(elf, tables, *table));
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
  }
  return std::vector<std::string>{};
}

} // namespace asmevo::codeobject
