// The second half of ElfLayout: copying the file to its new places and moving every address in it.
#include "codeobject/elf_layout.h"

#include <algorithm>
#include <array>
#include <elf.h>

namespace asmevo::codeobject {

namespace {

// .dynamic entries that hold an address; the others are sizes, counts, flags and string offsets.
bool holds_address(int64_t tag) {
  constexpr std::array<int64_t, 14> tags = {
      DT_PLTGOT, DT_HASH,   DT_STRTAB,     DT_SYMTAB,     DT_RELA,          DT_INIT,     DT_FINI,
      DT_REL,    DT_JMPREL, DT_INIT_ARRAY, DT_FINI_ARRAY, DT_PREINIT_ARRAY, DT_GNU_HASH, DT_VERSYM};
  return std::ranges::find(tags, tag) != tags.end();
}

} // namespace

class ElfWriter {
 public:
  ElfWriter(const ElfLayout& layout, const std::vector<Bytes>& contents,
            const std::function<uint64_t(uint64_t)>& map_address)
      : layout_(layout), k0_(*layout.k0_), contents_(contents), map_address_(map_address) {}

  Result<Bytes> write() {
    ASMEVO_CHECK(copy());
    patch_headers();
    for (size_t i = 0; i < k0_.sections().size(); ++i) {
      const Section& section = k0_.sections()[i];
      if (section.type == SHT_SYMTAB) patch_symbols(i, k0_.symbols());
      if (section.type == SHT_DYNSYM) patch_symbols(i, k0_.dynamic_symbols());
      if (section.type == SHT_DYNAMIC) patch_dynamic(i);
    }
    ASMEVO_CHECK(patch_relocations());
    ASMEVO_CHECK(patch_descriptors());
    return std::move(out_);
  }

 private:
  bool changed(size_t section) const { return section < contents_.size() && !contents_[section].empty(); }

  Status copy() {
    for (size_t i = 0; i < k0_.sections().size(); ++i) {
      const bool resized =
          layout_.sizes_[i] != k0_.sections()[i].size && k0_.sections()[i].type != SHT_NOBITS;
      if (changed(i) ? contents_[i].size() != layout_.sizes_[i] : resized && layout_.sizes_[i] != 0)
        return internal_error("section {}: {:#x} bytes given, {:#x} planned", k0_.sections()[i].name,
                              changed(i) ? contents_[i].size() : 0, layout_.sizes_[i]);
    }
    if (layout_.identity_) {
      out_.assign(k0_.bytes().begin(), k0_.bytes().end());
    } else {
      out_.assign(layout_.file_size_, 0);
      for (size_t i = 0; i < layout_.pieces_.size(); ++i) copy_piece(i);
    }
    for (size_t i = 0; i < contents_.size() && i < k0_.sections().size(); ++i)
      if (changed(i)) put(layout_.offsets_[i], contents_[i]);
    return {};
  }

  // A piece and the bytes after it that no piece covers. The planner has dropped some of those only where all
  // are zero.
  void copy_piece(size_t index) {
    const auto& piece = layout_.pieces_[index];
    const bool last = index + 1 == layout_.pieces_.size();
    const uint64_t old_end = piece.old_offset + piece.old_size, end = piece.offset + piece.place;
    const uint64_t old_next = last ? k0_.bytes().size() : layout_.pieces_[index + 1].old_offset;
    const uint64_t next = last ? out_.size() : layout_.pieces_[index + 1].offset;
    const uint64_t size =
        piece.section ? std::min(piece.old_size, layout_.sizes_[*piece.section]) : piece.old_size;
    put(piece.offset, k0_.bytes().subspan(piece.old_offset, size));
    put(end, k0_.bytes().subspan(old_end, std::min(old_next - old_end, next - end)));
  }

  void put(uint64_t offset, ByteSpan bytes) {
    std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  template <class T>
  T get(uint64_t offset) const {
    return *load<T>(out_, offset);
  }

  // An address of K0 in section `section` (it may be its end). A section with new contents is the caller's to
  // map.
  uint64_t map_in(size_t section, uint64_t address) const {
    if (changed(section) && map_address_) return map_address_(address);
    const Section& old = k0_.sections()[section];
    if (address == old.address + old.size) return layout_.addresses_[section] + layout_.sizes_[section];
    return layout_.addresses_[section] + (address - old.address);
  }
  uint64_t map(uint64_t address) const {
    const auto section = k0_.section_at(address);
    return section ? map_in(*section, address) : layout_.moved(address);
  }
  /// Where in the new file the `size` bytes at an address of K0 are.
  std::optional<uint64_t> place_of(uint64_t address, uint64_t size) const {
    const auto section = k0_.section_at(address);
    if (!section || k0_.sections()[*section].type == SHT_NOBITS) return std::nullopt;
    const uint64_t inside = map_in(*section, address) - layout_.addresses_[*section];
    if (inside > layout_.sizes_[*section] || layout_.sizes_[*section] - inside < size) return std::nullopt;
    return layout_.offsets_[*section] + inside;
  }

  void patch_headers() {
    auto header = get<Elf64_Ehdr>(0);
    header.e_shoff = layout_.section_headers_;
    if (header.e_entry != 0) header.e_entry = map(header.e_entry);
    store(out_, 0, header);
    for (size_t i = 0; i < layout_.segments_.size(); ++i) {
      const uint64_t at = layout_.program_headers_ + i * sizeof(Elf64_Phdr);
      auto raw = get<Elf64_Phdr>(at);
      const Segment& segment = layout_.segments_[i];
      raw.p_offset = segment.offset;
      raw.p_vaddr = segment.address;
      raw.p_paddr = segment.physical_address;
      raw.p_filesz = segment.file_size;
      raw.p_memsz = segment.memory_size;
      store(out_, at, raw);
    }
    for (size_t i = 0; i < k0_.sections().size(); ++i) {
      const uint64_t at = layout_.section_headers_ + i * sizeof(Elf64_Shdr);
      auto raw = get<Elf64_Shdr>(at);
      raw.sh_addr = layout_.addresses_[i];
      raw.sh_offset = layout_.offsets_[i];
      raw.sh_size = layout_.sizes_[i];
      store(out_, at, raw);
    }
  }

  void patch_symbols(size_t table, const std::vector<Symbol>& symbols) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      const Symbol& symbol = symbols[i];
      if (symbol.section == SHN_UNDEF || symbol.section >= k0_.sections().size() ||
          symbol.type() == STT_TLS || !k0_.sections()[symbol.section].allocated())
        continue;
      const uint64_t at = layout_.offsets_[table] + i * sizeof(Elf64_Sym);
      auto raw = get<Elf64_Sym>(at);
      raw.st_value = map_in(symbol.section, symbol.value);
      if (symbol.type() == STT_FUNC && symbol.size != 0 && changed(symbol.section))
        raw.st_size = map_in(symbol.section, symbol.value + symbol.size) - raw.st_value;
      store(out_, at, raw);
    }
  }

  void patch_dynamic(size_t section) {
    const uint64_t size = k0_.sections()[section].size;
    for (uint64_t inside = 0; inside + sizeof(Elf64_Dyn) <= size; inside += sizeof(Elf64_Dyn)) {
      const uint64_t at = layout_.offsets_[section] + inside;
      auto raw = get<Elf64_Dyn>(at);
      if (raw.d_tag == DT_NULL) break;
      if (!holds_address(raw.d_tag) || raw.d_un.d_ptr == 0) continue;
      raw.d_un.d_ptr = map(raw.d_un.d_ptr);
      store(out_, at, raw);
    }
  }

  Status patch_relocations() {
    size_t next = 0; // relocations() lists the tables one after another
    for (size_t i = 0; i < k0_.sections().size(); ++i) {
      const Section& table = k0_.sections()[i];
      if (table.type != SHT_RELA || !table.allocated()) continue;
      for (uint64_t inside = 0; inside < table.size; inside += sizeof(Elf64_Rela), ++next)
        patch_relocation(k0_.relocations()[next], layout_.offsets_[i] + inside);
    }
    return {};
  }

  void patch_relocation(const Relocation& relocation, uint64_t at) {
    auto raw = get<Elf64_Rela>(at);
    const auto place = place_of(relocation.address, sizeof(uint64_t));
    raw.r_offset = map(relocation.address);
    raw.r_addend = map_addend(relocation);
    store(out_, at, raw);
    // Some linkers also leave the value in place (lld: --apply-dynamic-relocs).
    if (relocation.type == codeobject::relocation::relative64 && place && relocation.addend != 0 &&
        get<int64_t>(*place) == relocation.addend)
      store(out_, *place, raw.r_addend);
  }

  // The addend of a relocation without symbol is an address; with one, a distance from that symbol, which may
  // change where it reaches into a section whose insides shift.
  int64_t map_addend(const Relocation& relocation) const {
    const auto addend = static_cast<uint64_t>(relocation.addend);
    if (relocation.type == codeobject::relocation::relative64) return static_cast<int64_t>(map(addend));
    if (relocation.symbol == 0 || relocation.addend == 0) return relocation.addend;
    const Symbol& symbol = k0_.dynamic_symbols()[relocation.symbol];
    if (symbol.section == SHN_UNDEF || symbol.section >= k0_.sections().size()) return relocation.addend;
    const Section& section = k0_.sections()[symbol.section];
    const uint64_t target = symbol.value + addend;
    if (target < section.address || target - section.address > section.size) return relocation.addend;
    return static_cast<int64_t>(map_in(symbol.section, target) - map_in(symbol.section, symbol.value));
  }

  Status patch_descriptors() {
    for (const Kernel& kernel : k0_.kernels()) {
      const auto at = place_of(kernel.descriptor_address, KernelDescriptor::size);
      if (!at) return internal_error("kernel {}: its descriptor is mapped outside its section", kernel.name);
      store(out_, *at + KernelDescriptor::entry_offset_at,
            map(kernel.entry) - map(kernel.descriptor_address));
    }
    return {};
  }

  const ElfLayout& layout_;
  const CodeObject& k0_;
  const std::vector<Bytes>& contents_;
  const std::function<uint64_t(uint64_t)>& map_address_;
  Bytes out_;
};

Result<Bytes> ElfLayout::write(const std::vector<Bytes>& contents,
                               const std::function<uint64_t(uint64_t)>& map_address) const {
  return ElfWriter(*this, contents, map_address).write();
}

} // namespace asmevo::codeobject
