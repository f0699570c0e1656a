// The parts of compare_objects (object_gate.h), each for one aspect of the objects. Private to rebuild/.
#pragma once

#include "rebuild/object_gate.h"

#include <string>
#include <string_view>

namespace asmevo::rebuild {

/// Two objects under comparison, and what has been found so far.
struct Comparing {
  const codeobject::CodeObject& k0;
  const codeobject::CodeObject& rebuilt;
  ObjectComparison result;

  void differ(std::string section, uint64_t offset, std::string detail) {
    result.differences.push_back({std::move(section), offset, std::move(detail)});
  }
  void mask(std::string what, std::string reason) {
    result.masks.push_back({std::move(what), std::move(reason)});
  }
};

/// First offset at which two byte strings differ; the shorter one's length where one is the start of the
/// other; none where they are equal.
std::optional<uint64_t> first_difference(ByteSpan a, ByteSpan b);

/// "at 0x1a4: k0 s_nop 0, rebuilt s_nop 1": the instructions around an offset of .text, each from its own
/// object.
std::string around(const Comparing&, const codeobject::Section& k0, const codeobject::Section& rebuilt,
                   uint64_t offset);

/// An address as its meaning, which linking keeps: ".rodata+0x40".
std::string meaning_of(const codeobject::CodeObject&, uint64_t address);

/// Code: bytes, but for literals that hold the distance to the same place in another section.
void compare_text(Comparing&);
/// Sections of data, but for kernel descriptors (compared by themselves) and words that the loader fills.
void compare_data(Comparing&);
/// What the loader fills in, wherever the linker put it.
void compare_relocations(Comparing&);
/// .symtab and .dynsym as sets; values relative to their section.
void compare_symbols(Comparing&);

} // namespace asmevo::rebuild
