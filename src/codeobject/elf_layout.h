// Writes a code object again after sections have changed: contents, sizes, addresses.
//
// Relinking is not the way: another lld version orders sections and fills hash tables differently, and a
// change of three instructions would then change bytes all over the file. Instead the file of K0 is kept as
// it is, and what follows a section that grew moves up: by as little as alignment demands within its segment,
// by whole pages across segments so that p_offset and p_vaddr stay congruent. What need not move stays: lld
// leaves the rest of a page between two segments, so that most growth of .text moves no address at all.
//
//   K0      .note .. .rodata | .text            | .dynamic
//   offset  200      1a80    | 1b00 .. 8e60     | 8e60        .text grows by 100h:
//   address 200      1a80    | 2b00 .. 9e60     | ae60        .dynamic goes to offset 9e60, address ae60
//
// A section that shrinks leaves its place empty (zeros) and nothing moves. Bytes that no section covers are
// kept. With no change the result is K0, byte for byte.
//
// What holds addresses and is moved with them: program and section headers, e_entry and table offsets,
// .symtab and .dynsym values, .dynamic entries, .rela.dyn places and R_AMDGPU_RELATIVE64/ABS64 addends, the
// kernel descriptors' entry offsets. Code holds addresses too (s_getpc pairs); those are the caller's to
// write, with address() below. DWARF sections are left as they are.
#pragma once

#include "codeobject/code_object.h"

#include <functional>
#include <optional>
#include <vector>

namespace asmevo::codeobject {

class ElfLayout {
 public:
  /// `sizes[i]`: bytes section i is to have; equal to K0's for those that stay. Only progbits/note sections
  /// may change size. Unsupported where a section cannot move (a segment shape never seen from a linker,
  /// static or packed relocations). K0 must outlive the layout.
  static Result<ElfLayout> plan(const CodeObject& k0, const std::vector<uint64_t>& sizes);

  /// The section's address in the new object.
  uint64_t address(size_t section) const { return addresses_[section]; }
  /// Maps an address of K0 to the new object for sections that only move (outside all sections: unchanged, or
  /// moved with the section it ends).
  uint64_t moved(uint64_t k0_address) const;

  /// The new file. `contents[i]`: new bytes of section i, of the planned size; empty (or `contents` too
  /// short) where K0's are kept. `map_address`: address of K0 -> new address for sections with new contents,
  /// whose insides may shift too (.text, also its end); use moved() for others. Without it such sections only
  /// move. Symbol sizes of functions in changed sections follow map_address(value + size). Descriptors in new
  /// contents are expected to be complete but for their entry offset.
  Result<Bytes> write(const std::vector<Bytes>& contents,
                      const std::function<uint64_t(uint64_t)>& map_address) const;

 private:
  friend class ElfPlanner; // elf_layout.cpp
  friend class ElfWriter;  // elf_layout_write.cpp

  /// A stretch of the file that moves as a whole: a header table or a section. `place` is its room: the
  /// larger of the old and the new size.
  struct Piece {
    std::optional<size_t> section; // none: ELF header, program headers, section headers
    uint64_t old_offset = 0, old_size = 0, offset = 0, place = 0, alignment = 1;
  };

  const CodeObject* k0_ = nullptr;
  bool identity_ = true; // all sizes are K0's
  std::vector<uint64_t> sizes_, addresses_, offsets_;
  std::vector<Segment> segments_;
  std::vector<Piece> pieces_; // in file order
  uint64_t program_headers_ = 0, section_headers_ = 0, file_size_ = 0;
};

} // namespace asmevo::codeobject
