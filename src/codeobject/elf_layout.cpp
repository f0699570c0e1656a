#include "codeobject/elf_layout.h"

#include <algorithm>
#include <elf.h>
#include <tuple>

namespace asmevo::codeobject {

namespace {

constexpr uint64_t largest_section = uint64_t{1} << 31;      // s_getpc pairs and branches reach no further
constexpr uint64_t largest_alignment = 1 << 21;              // pages are 4 KiB here, 2 MiB at most anywhere
constexpr size_t most_segments = 256;                        // linkers write about ten
constexpr std::string_view relro_padding = ".relro_padding"; // lld's filler up to the page that relro ends on

// The smallest multiple of `step` that brings `from` to at least `to`.
uint64_t slide_to(uint64_t from, uint64_t to, uint64_t step) {
  return from >= to ? 0 : align_up(to - from, step);
}

uint64_t end_of(const Section& section) {
  return section.address + section.size;
}

} // namespace

/// Plans in two passes: the file (offsets; how far each section slides within its segment), then memory
/// (addresses, which follow the slides, and NOBITS sections, which have no place in the file).
class ElfPlanner {
 public:
  ElfPlanner(const CodeObject& k0, const std::vector<uint64_t>& sizes) : k0_(k0) {
    layout_.k0_ = &k0;
    layout_.sizes_ = sizes;
  }

  Result<ElfLayout> plan() {
    ASMEVO_CHECK(check_sizes());
    start_from_k0();
    if (layout_.identity_) return std::move(layout_);
    ASMEVO_CHECK(check_movable());
    ASMEVO_CHECK(list_pieces());
    ASMEVO_CHECK(place_in_file());
    place_in_memory();
    place_segments();
    return std::move(layout_);
  }

 private:
  struct Load {
    size_t segment = 0;
    std::vector<size_t> sections;                 // in order of address; zero-sized ones included
    uint64_t offset_shift = 0, address_shift = 0; // whole pages
    uint64_t memory_end = 0;                      // new
  };

  Status check_sizes() {
    const auto& sections = k0_.sections();
    if (layout_.sizes_.size() != sections.size())
      return internal_error("layout of {} sections for an object of {}", layout_.sizes_.size(),
                            sections.size());
    for (size_t i = 0; i < sections.size(); ++i) {
      if (layout_.sizes_[i] == sections[i].size) continue;
      layout_.identity_ = false;
      if (sections[i].type != SHT_PROGBITS && sections[i].type != SHT_NOTE)
        return unsupported("section {}: its size cannot change (type {})", sections[i].name,
                           sections[i].type);
      if (layout_.sizes_[i] > largest_section)
        return unsupported("section {}: {:#x} bytes are too many", sections[i].name, layout_.sizes_[i]);
    }
    return {};
  }

  void start_from_k0() {
    for (const Section& section : k0_.sections()) {
      layout_.addresses_.push_back(section.address);
      layout_.offsets_.push_back(section.offset);
    }
    const auto header = *load<Elf64_Ehdr>(k0_.bytes(), 0);
    layout_.segments_ = k0_.segments();
    layout_.program_headers_ = header.e_phoff;
    layout_.section_headers_ = header.e_shoff;
    layout_.file_size_ = k0_.bytes().size();
  }

  Status check_movable() {
    if (layout_.segments_.size() > most_segments)
      return unsupported("{} segments are too many", layout_.segments_.size());
    for (const Section& section : k0_.sections()) {
      const bool relocates = section.type == SHT_REL || section.type == SHT_RELR || section.type == SHT_RELA;
      if (relocates && !(section.type == SHT_RELA && section.allocated()))
        return unsupported("section {}: relocations of type {} cannot be moved", section.name, section.type);
      if (section.alignment > largest_alignment)
        return unsupported("section {}: alignment {:#x} is too large", section.name, section.alignment);
    }
    uint64_t last_offset = 0;
    for (size_t i = 0; i < layout_.segments_.size(); ++i) {
      const Segment& segment = layout_.segments_[i];
      if (segment.type != PT_LOAD) continue;
      const uint64_t page = segment.alignment;
      if (page > largest_alignment) return unsupported("segment {}: alignment {:#x} is too large", i, page);
      if ((page & (page - 1)) != 0 || (page > 1 && (segment.offset - segment.address) % page != 0))
        return unsupported("segment {}: offset {:#x} and address {:#x} disagree modulo {:#x}", i,
                           segment.offset, segment.address, page);
      // A segment without bytes in the file (.bss alone) may name any place there, and does once others
      // moved.
      if (segment.file_size != 0 && segment.offset < last_offset)
        return unsupported("segment {}: loaded segments are not in file order", i);
      if (segment.file_size != 0) last_offset = segment.offset;
      loads_.push_back({i, {}, 0, 0, 0});
    }
    load_of_.assign(k0_.sections().size(), no_load);
    slides_.assign(k0_.sections().size(), 0);
    for (size_t i = 0; i < k0_.sections().size(); ++i) assign_load(i);
    for (Load& load : loads_)
      std::ranges::sort(load.sections, {}, [&](size_t i) {
        return std::tuple(k0_.sections()[i].address, k0_.sections()[i].size != 0, i);
      });
    return {};
  }

  void assign_load(size_t index) {
    const Section& section = k0_.sections()[index];
    if (!section.allocated()) return;
    for (size_t l = 0; l < loads_.size(); ++l) {
      const Segment& segment = layout_.segments_[loads_[l].segment];
      if (section.address < segment.address || end_of(section) > segment.address + segment.memory_size)
        continue;
      load_of_[index] = l;
      loads_[l].sections.push_back(index);
      return;
    }
  }

  Status list_pieces() {
    auto& pieces = layout_.pieces_;
    const auto& sections = k0_.sections();
    const auto table = [&](uint64_t offset, uint64_t size, uint64_t alignment) {
      if (size != 0) pieces.push_back({std::nullopt, offset, size, offset, size, alignment});
    };
    table(0, sizeof(Elf64_Ehdr), 1);
    table(layout_.program_headers_, k0_.segments().size() * sizeof(Elf64_Phdr), 8);
    table(layout_.section_headers_, sections.size() * sizeof(Elf64_Shdr), 8);
    for (size_t i = 0; i < sections.size(); ++i) {
      const Section& section = sections[i];
      if (section.type == SHT_NULL || section.type == SHT_NOBITS) continue;
      pieces.push_back({i, section.offset, section.size, section.offset,
                        std::max(section.size, layout_.sizes_[i]), std::max<uint64_t>(section.alignment, 1)});
    }
    std::ranges::sort(pieces, {},
                      [](const auto& p) { return std::tuple(p.old_offset, p.old_size != 0, p.section); });
    for (size_t i = 1; i < pieces.size(); ++i)
      if (pieces[i].old_offset < pieces[i - 1].old_offset + pieces[i - 1].old_size)
        return unsupported("file offset {:#x} belongs to two sections or headers", pieces[i].old_offset);
    return {};
  }

  // Bytes before piece `next` that have to stay between it and the one before: those that are not zero, and
  // those that its segment maps before its first section.
  uint64_t bytes_between(uint64_t old_end, const ElfLayout::Piece& next,
                         std::optional<size_t> starts_load) const {
    const uint64_t gap = next.old_offset - old_end;
    const ByteSpan bytes = k0_.bytes().subspan(old_end, gap);
    if (std::ranges::any_of(bytes, [](uint8_t b) { return b != 0; })) return gap;
    if (!starts_load) return 0;
    const Segment& segment = k0_.segments()[loads_[*starts_load].segment];
    return segment.offset > next.old_offset ? 0 : std::min(gap, next.old_offset - segment.offset);
  }

  Status place_in_file() {
    uint64_t end = 0, old_end = 0;
    size_t current = no_load;
    for (ElfLayout::Piece& piece : layout_.pieces_) {
      const size_t load = piece.section ? load_of_[*piece.section] : no_load;
      const bool starts = load != no_load && load != current;
      const uint64_t least = end + bytes_between(old_end, piece, starts ? std::optional(load) : std::nullopt);
      uint64_t natural = piece.old_offset;
      if (load != no_load) {
        if (starts) {
          // The segment that holds the ELF header starts with it and stays.
          const Segment& segment = k0_.segments()[loads_[load].segment];
          const bool first = segment.offset == 0;
          loads_[load].offset_shift =
              first ? 0 : slide_to(natural, least, std::max<uint64_t>(segment.alignment, 1));
          current = load;
        }
        natural += loads_[load].offset_shift;
      }
      const uint64_t slide = slide_to(natural, least, piece.alignment);
      piece.offset = natural + slide;
      if (piece.section) {
        layout_.offsets_[*piece.section] = piece.offset;
        slides_[*piece.section] = slide;
      } else if (piece.old_offset == layout_.section_headers_) {
        moved_section_headers_ = piece.offset;
      } else if (piece.offset != piece.old_offset) {
        return unsupported("the program headers follow a section that grows");
      }
      end = piece.offset + piece.place;
      old_end = piece.old_offset + piece.old_size;
    }
    layout_.section_headers_ = moved_section_headers_;
    layout_.file_size_ = end + (k0_.bytes().size() - old_end);
    return {};
  }

  void place_in_memory() {
    for (size_t l = 0; l < loads_.size(); ++l) {
      Load& load = loads_[l];
      const Segment& segment = k0_.segments()[load.segment];
      if (l != 0) load.address_shift = address_shift(loads_[l - 1], segment);
      uint64_t end = segment.address + load.address_shift;
      for (const size_t i : load.sections) {
        const Section& section = k0_.sections()[i];
        const uint64_t natural = section.address + load.address_shift;
        if (section.type == SHT_NOBITS) {
          slides_[i] = slide_to(natural, end, std::max<uint64_t>(section.alignment, 1));
          layout_.offsets_[i] = section.offset + load.offset_shift + slides_[i];
          if (section.name == relro_padding && slides_[i] != 0 && segment.alignment > 1 &&
              end_of(section) % segment.alignment == 0)
            layout_.sizes_[i] = align_up(natural + slides_[i], segment.alignment) - (natural + slides_[i]);
        }
        layout_.addresses_[i] = natural + slides_[i];
        end = std::max(end, layout_.addresses_[i] + place(i));
      }
      load.memory_end = std::max(end, segment.address + segment.memory_size + load.address_shift);
    }
  }

  // Whole pages, and as few as keep `segment` behind the new end of the segment before it, on a page of its
  // own if it had one.
  uint64_t address_shift(const Load& before, const Segment& segment) const {
    const Segment& old = k0_.segments()[before.segment];
    const uint64_t old_end = old.address + old.memory_size, page = std::max<uint64_t>(segment.alignment, 1);
    if (before.memory_end == old_end) return 0;
    const uint64_t first_page = segment.address / page * page;
    const bool own_page = first_page >= align_up(old_end, page);
    return own_page ? slide_to(first_page, align_up(before.memory_end, page), page)
                    : slide_to(segment.address, before.memory_end, page);
  }

  // Room for section i: what it had, or what it has now where that is more (or its filler shrank with a
  // shift).
  uint64_t place(size_t i) const {
    const Section& section = k0_.sections()[i];
    return section.type == SHT_NOBITS ? layout_.sizes_[i] : std::max(section.size, layout_.sizes_[i]);
  }

  void place_segments() {
    for (const Load& load : loads_) {
      Segment& segment = layout_.segments_[load.segment];
      const Segment old = segment;
      segment.offset += load.offset_shift;
      segment.address += load.address_shift;
      segment.physical_address += load.address_shift;
      segment.memory_size = load.memory_end - segment.address;
      uint64_t file_end = old.offset + old.file_size + load.offset_shift;
      for (const size_t i : load.sections)
        if (k0_.sections()[i].type != SHT_NOBITS)
          file_end = std::max(file_end, layout_.offsets_[i] + place(i));
      if (old.file_size != 0) segment.file_size = file_end - segment.offset;
    }
    for (Segment& segment : layout_.segments_)
      if (segment.type != PT_LOAD) place_view(segment);
  }

  // PT_DYNAMIC, PT_NOTE, PT_GNU_RELRO ... : they name a run of sections and follow its first and its last
  // one.
  void place_view(Segment& segment) const {
    const Segment old = segment;
    const auto covers = [&](size_t i, uint64_t size) {
      const Section& section = k0_.sections()[i];
      return section.allocated() && section.size != 0 && section.address >= old.address &&
             end_of(section) <= old.address + size;
    };
    std::optional<size_t> first, last, last_in_file;
    for (const Load& load : loads_)
      for (const size_t i : load.sections) {
        if (!covers(i, old.memory_size)) continue;
        if (!first) first = i;
        last = i;
        if (k0_.sections()[i].type != SHT_NOBITS && covers(i, old.file_size)) last_in_file = i;
      }
    if (!first) return;
    const uint64_t shift = layout_.addresses_[*first] - k0_.sections()[*first].address;
    segment.address += shift;
    segment.physical_address += shift;
    segment.offset += layout_.offsets_[*first] - k0_.sections()[*first].offset;
    // Readers of notes and of .dynamic take every byte as theirs: these two follow the section's size
    // exactly.
    const bool exact = old.type == PT_NOTE || old.type == PT_DYNAMIC;
    const auto grown = [&](size_t i, uint64_t size) {
      const uint64_t rest = old.address + size - end_of(k0_.sections()[i]);
      return layout_.addresses_[i] + (exact ? layout_.sizes_[i] : place(i)) + rest - segment.address;
    };
    segment.memory_size = grown(*last, old.memory_size);
    if (last_in_file) segment.file_size = grown(*last_in_file, old.file_size);
  }

  static constexpr size_t no_load = ~size_t{0};
  const CodeObject& k0_;
  ElfLayout layout_;
  std::vector<Load> loads_;
  std::vector<size_t> load_of_;  // of each section
  std::vector<uint64_t> slides_; // of each section within its segment
  uint64_t moved_section_headers_ = 0;
};

Result<ElfLayout> ElfLayout::plan(const CodeObject& k0, const std::vector<uint64_t>& sizes) {
  auto layout = ElfPlanner(k0, sizes).plan();
  if (!layout) return failed(one_line(layout.error()));
  return layout;
}

uint64_t ElfLayout::moved(uint64_t k0_address) const {
  if (const auto inside = k0_->section_at(k0_address))
    return addresses_[*inside] + (k0_address - k0_->sections()[*inside].address);
  if (k0_address == 0) return k0_address;
  if (const auto ended = k0_->section_at(k0_address - 1)) return addresses_[*ended] + sizes_[*ended];
  return k0_address;
}

} // namespace asmevo::codeobject
