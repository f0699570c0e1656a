// Moves a bundle of a host ELF file into a segment of its own; the picture is in host_elf.h. Steps: find
// every pointer to the bundle, decide where the segment goes, write the new end of the file, redirect the
// pointers.
#include "codeobject/host_elf.h"
#include "codeobject/host_elf_tables.h"
#include "codeobject/offload_bundle.h"

#include <algorithm>
#include <map>

namespace asmevo::codeobject {

namespace {

constexpr uint32_t wrapper_magic = 0x48495046; // "HIPF"
constexpr uint64_t wrapper_size = 24, wrapper_pointer = 8;
constexpr uint64_t bundle_alignment = 4096;          // the HIP runtime maps code objects page by page
constexpr uint64_t most_padding = uint64_t{1} << 30; // bytes of zeros between old end and new segment
constexpr uint64_t address_limit = uint64_t{1} << 47;

struct NewSegment {
  uint64_t offset = 0, address = 0; // of the program header table
  uint64_t bundle = 0;              // of the bundle, from there
  uint64_t size = 0, alignment = 0;
};

class Mover {
 public:
  Mover(ByteSpan file, const ElfTables& tables, const MovingBundle& moving)
      : file_(file), tables_(tables), moving_(moving),
        old_address_(moving.section.address + (moving.offset - moving.section.offset)) {}

  Result<Bytes> run(ByteSpan bundle) {
    ASMEVO_CHECK(check_kind());
    ASMEVO_CHECK(find_wrappers());
    ASMEVO_CHECK(find_relocations());
    ASMEVO_CHECK(settle_wrappers());
    ASMEVO_CHECK(place(bundle.size()));
    return write(bundle);
  }

 private:
  Status check_kind();
  Status find_wrappers();
  Status find_relocations();
  Status settle_wrappers();
  Status place(uint64_t bundle_size);
  Result<Bytes> write(ByteSpan bundle) const;
  std::vector<Elf64_Phdr> new_segments() const;
  void write_sections(Bytes& out) const;
  void redirect_symbols(Bytes& out) const;
  void vacate(Bytes& out) const;
  bool in_bundle(uint64_t address) const { return address - old_address_ < moving_.slot; }
  uint64_t new_address() const { return segment_.address + segment_.bundle; }

  struct Wrapper {
    uint64_t field = 0;            // file offset of its pointer
    std::vector<uint64_t> addends; // file offsets of the addends of its relocations
    bool other_relocation = false;
    int64_t addend = 0;
  };

  ByteSpan file_;
  const ElfTables& tables_;
  const MovingBundle& moving_;
  uint64_t old_address_;
  uint32_t relative_ = 0;                // relocation type "base + addend"
  std::map<uint64_t, Wrapper> wrappers_; // by address of the pointer; those of other bundles too
  std::vector<uint64_t> fields_;         // file offsets of what holds the old address
  NewSegment segment_;
};

Status Mover::check_kind() {
  const Elf64_Ehdr& header = tables_.header;
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return unsupported("a larger bundle does not fit into a relocatable object; embed into the linked file");
  if (tables_.segments.empty())
    return unsupported("a larger bundle does not fit: the file has no program headers");
  if (header.e_phnum + 1 >= PN_XNUM || header.e_shnum + 1 >= SHN_LORESERVE)
    return unsupported(
        "a larger bundle does not fit: the ELF header cannot count one more segment or section");
  if (header.e_machine == EM_X86_64)
    relative_ = R_X86_64_RELATIVE;
  else if (header.e_machine == EM_AARCH64)
    relative_ = R_AARCH64_RELATIVE;
  else
    return unsupported("a larger bundle does not fit: relocations of machine {} are not known",
                       header.e_machine);
  return {};
}

Status Mover::find_wrappers() {
  uint64_t total = 0;
  for (const Elf64_Shdr& section : tables_.sections) {
    if (section_name(tables_, section) != ".hipFatBinSegment") continue;
    ASMEVO_TRY(const ByteSpan bytes, section_bytes(file_, tables_, section));
    total += bytes.size();
    if (total > file_.size()) return bad_input("ELF: .hipFatBinSegment sections lie over each other");
    for (uint64_t at = 0; bytes.size() - at >= wrapper_size; at += wrapper_size) {
      if (*load<uint32_t>(bytes, at) != wrapper_magic)
        return unsupported("a larger bundle does not fit: no wrapper at offset {:#x} of .hipFatBinSegment",
                           at);
      wrappers_[section.sh_addr + at + wrapper_pointer].field = section.sh_offset + at + wrapper_pointer;
    }
  }
  return {};
}

// Relocations are those of the loaded tables. A relative one elsewhere whose result lies in the bundle would
// be left behind.
Status Mover::find_relocations() {
  uint64_t total = 0;
  for (const Elf64_Shdr& section : tables_.sections) {
    if (section.sh_type != SHT_RELA || (section.sh_flags & SHF_ALLOC) == 0) continue;
    ASMEVO_TRY(const ByteSpan bytes, section_bytes(file_, tables_, section));
    total += bytes.size();
    if (total > file_.size()) return bad_input("ELF: relocation sections lie over each other");
    for (uint64_t at = 0; bytes.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      const auto rela = *load<Elf64_Rela>(bytes, at);
      const bool relative = ELF64_R_TYPE(rela.r_info) == relative_;
      if (const auto wrapper = wrappers_.find(rela.r_offset); wrapper != wrappers_.end()) {
        wrapper->second.other_relocation |= !relative || !wrapper->second.addends.empty();
        wrapper->second.addends.push_back(section.sh_offset + at + offsetof(Elf64_Rela, r_addend));
        wrapper->second.addend = rela.r_addend;
      } else if (relative && in_bundle(static_cast<uint64_t>(rela.r_addend))) {
        return unsupported("a larger bundle does not fit: the pointer at address {:#x} also refers to it",
                           rela.r_offset);
      }
    }
  }
  return {};
}

// A wrapper's pointer is the relocation's addend (some linkers write it into the field as well), or without a
// relocation the field itself: programs at fixed addresses, and packed relative relocations (SHT_RELR).
Status Mover::settle_wrappers() {
  for (const auto& [address, wrapper] : wrappers_) {
    const uint64_t field = *load<uint64_t>(file_, wrapper.field);
    const bool here = field == old_address_;
    if (wrapper.other_relocation) {
      if (here || static_cast<uint64_t>(wrapper.addend) == old_address_)
        return unsupported(
            "a larger bundle does not fit: the wrapper at address {:#x} has a relocation of another kind",
            address - wrapper_pointer);
      continue;
    }
    const bool relocated = !wrapper.addends.empty();
    if (relocated ? static_cast<uint64_t>(wrapper.addend) != old_address_ : !here) continue;
    if (relocated) fields_.push_back(wrapper.addends.front());
    if (here) fields_.push_back(wrapper.field);
  }
  if (fields_.empty())
    return unsupported(
        "a larger bundle does not fit: no wrapper in .hipFatBinSegment points to the one at address {:#x}",
        old_address_);
  return {};
}

Status Mover::place(uint64_t bundle_size) {
  uint64_t end = 0, base = 0;
  bool first = true;
  segment_.alignment = bundle_alignment;
  for (const Elf64_Phdr& load : tables_.segments) {
    if (load.p_type != PT_LOAD) continue;
    if (load.p_vaddr >= address_limit || load.p_memsz >= address_limit || load.p_align >= address_limit ||
        (load.p_align & (load.p_align - 1)) != 0 || load.p_offset > load.p_vaddr)
      return unsupported("a larger bundle does not fit: segment at address {:#x} is of an unknown shape",
                         load.p_vaddr);
    if (first) base = load.p_vaddr - load.p_offset;
    first = false;
    end = std::max(end, load.p_vaddr + load.p_memsz);
    segment_.alignment = std::max<uint64_t>(segment_.alignment, load.p_align);
  }
  if (first || base > end) return unsupported("a larger bundle does not fit: nothing in the file is loaded");
  segment_.offset = align_up(std::max<uint64_t>(file_.size(), end - base), segment_.alignment);
  segment_.address = base + segment_.offset;
  if (segment_.offset - file_.size() > most_padding)
    return unsupported(
        "a larger bundle does not fit: the next free address is {} bytes behind the file's end",
        segment_.offset - file_.size());
  if (base % segment_.alignment != 0)
    return unsupported("a larger bundle does not fit: the file is loaded at {:#x}, not aligned to {:#x}",
                       base, segment_.alignment);
  segment_.bundle = align_up((tables_.segments.size() + 1) * sizeof(Elf64_Phdr), bundle_alignment);
  segment_.size = segment_.bundle + bundle_size;
  if (segment_.address + segment_.size >= address_limit)
    return unsupported("a larger bundle does not fit: no address is free behind {:#x}", end);
  return {};
}

std::vector<Elf64_Phdr> Mover::new_segments() const {
  std::vector<Elf64_Phdr> segments = tables_.segments;
  const uint64_t table_size = (segments.size() + 1) * sizeof(Elf64_Phdr);
  size_t last_load = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].p_type == PT_LOAD) last_load = i;
    if (segments[i].p_type != PT_PHDR) continue;
    segments[i].p_offset = segment_.offset;
    segments[i].p_vaddr = segments[i].p_paddr = segment_.address;
    segments[i].p_filesz = segments[i].p_memsz = table_size;
  }
  // Loaded segments stand in the order of their addresses; this one has the highest.
  Elf64_Phdr added{};
  added.p_type = PT_LOAD;
  added.p_flags = PF_R;
  added.p_offset = segment_.offset;
  added.p_vaddr = added.p_paddr = segment_.address;
  added.p_filesz = added.p_memsz = segment_.size;
  added.p_align = segment_.alignment;
  segments.insert(segments.begin() + static_cast<ptrdiff_t>(last_load) + 1, added);
  return segments;
}

template <class T>
void append_table(Bytes& out, const std::vector<T>& table) {
  for (const T& row : table) append(out, row);
}

// The bundle's section moves with it where it holds nothing else; else it gets a second section of the same
// name.
void Mover::write_sections(Bytes& out) const {
  Elf64_Shdr section = tables_.sections[moving_.section.index];
  section.sh_offset = segment_.offset + segment_.bundle;
  section.sh_addr = new_address();
  section.sh_size = segment_.size - segment_.bundle;
  section.sh_addralign = bundle_alignment;
  Elf64_Ehdr header = tables_.header;
  header.e_phoff = segment_.offset;
  ++header.e_phnum;
  if (moving_.alone) {
    store(std::span(out), header.e_shoff + moving_.section.index * sizeof(Elf64_Shdr), section);
  } else {
    out.resize(align_up(out.size(), alignof(Elf64_Shdr)));
    header.e_shoff = out.size();
    ++header.e_shnum;
    append_table(out, tables_.sections);
    append(out, section);
  }
  store(std::span(out), 0, header);
}

// __hip_fatbin_<id>, where the file still has it. Nothing runs by it; debuggers show it.
void Mover::redirect_symbols(Bytes& out) const {
  uint64_t total = 0;
  for (const Elf64_Shdr& table : tables_.sections) {
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    const auto bytes = slice(file_, table.sh_offset, table.sh_size);
    if (!bytes) continue;
    total += bytes->size();
    if (total > file_.size()) continue;
    for (uint64_t at = 0; bytes->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      auto symbol = *load<Elf64_Sym>(*bytes, at);
      if (symbol.st_shndx != moving_.section.index || symbol.st_value != old_address_) continue;
      if (!moving_.alone && ELF64_ST_TYPE(symbol.st_info) == STT_SECTION) continue;
      symbol.st_value = new_address();
      if (!moving_.alone) symbol.st_shndx = static_cast<Elf64_Section>(tables_.sections.size());
      store(std::span(out), table.sh_offset + at, symbol);
    }
  }
}

// A bundle without entries holds the place among others: readers that go from one magic to the next, as
// LLVM's do, would take a section that starts with zeros for an empty one.
void Mover::vacate(Bytes& out) const {
  std::fill_n(out.begin() + static_cast<ptrdiff_t>(moving_.offset), moving_.slot, uint8_t{0});
  if (!moving_.alone && moving_.slot >= offload_bundle_magic.size() + sizeof(uint64_t))
    std::ranges::copy(offload_bundle_magic, out.begin() + static_cast<ptrdiff_t>(moving_.offset));
}

Result<Bytes> Mover::write(ByteSpan bundle) const {
  Bytes out;
  out.reserve(segment_.offset + segment_.size + (tables_.sections.size() + 2) * sizeof(Elf64_Shdr));
  out.assign(file_.begin(), file_.end());
  for (const uint64_t field : fields_) store(std::span(out), field, new_address());
  redirect_symbols(out);
  vacate(out);
  out.resize(segment_.offset);
  append_table(out, new_segments());
  out.resize(segment_.offset + segment_.bundle);
  append(out, bundle);
  write_sections(out);
  return out;
}

} // namespace

Result<Bytes> move_bundle(ByteSpan file, const MovingBundle& moving, ByteSpan bundle) {
  ASMEVO_TRY(const ElfTables tables, read_elf_tables(file));
  return Mover(file, tables, moving).run(bundle);
}

} // namespace asmevo::codeobject
