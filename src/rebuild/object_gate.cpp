#include "rebuild/object_gate.h"

#include "rebuild/gate_parts.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Kernel;
using codeobject::Section;

namespace {

std::string byte_at(ByteSpan bytes, uint64_t at) {
  return at < bytes.size() ? fmt::format("{:#04x}", bytes[at]) : std::string("end");
}

// The same layout: every byte, named by the section that holds it.
void compare_files(Comparing& comparing) {
  const ByteSpan a = comparing.k0.bytes(), b = comparing.rebuilt.bytes();
  const auto at = first_difference(a, b);
  if (!at) return;
  const std::string bytes = fmt::format("k0 {}, rebuilt {}", byte_at(a, *at), byte_at(b, *at));
  for (const Section& section : comparing.k0.sections()) {
    if (section.contents.empty() || *at < section.offset || *at - section.offset >= section.size) continue;
    const uint64_t offset = *at - section.offset;
    const auto other = comparing.rebuilt.find_section(section.name);
    if (section.executable() && other)
      comparing.differ(section.name, offset,
                       around(comparing, section, comparing.rebuilt.sections()[*other], offset));
    else
      comparing.differ(section.name, offset, bytes);
    return;
  }
  comparing.differ("file", *at, bytes);
}

void compare_header(Comparing& comparing) {
  const auto a = *load<Elf64_Ehdr>(comparing.k0.bytes(), 0),
             b = *load<Elf64_Ehdr>(comparing.rebuilt.bytes(), 0);
  if (a.e_flags != b.e_flags)
    comparing.differ("e_flags", offsetof(Elf64_Ehdr, e_flags),
                     fmt::format("k0 {:#x} ({}), rebuilt {:#x} ({})", a.e_flags, comparing.k0.target().id(),
                                 b.e_flags, comparing.rebuilt.target().id()));
  if (a.e_ident[EI_ABIVERSION] != b.e_ident[EI_ABIVERSION])
    comparing.differ("ABI version", EI_ABIVERSION,
                     fmt::format("k0 {}, rebuilt {}", a.e_ident[EI_ABIVERSION], b.e_ident[EI_ABIVERSION]));
  comparing.mask("section addresses and file offsets, segments, tables of names and hashes, .dynamic",
                 "linking decides them; what refers to a place is compared by section and offset in it");
}

// Every field of the 64 bytes but the entry, which is compared by where it leads.
void compare_descriptor(Comparing& comparing, const Kernel& a, const Kernel& b) {
  const std::string what = fmt::format("kernel descriptor {}.kd", a.name);
  auto x = a.descriptor.encode(), y = b.descriptor.encode();
  std::fill_n(x.begin() + codeobject::KernelDescriptor::entry_offset_at,
              codeobject::KernelDescriptor::entry_offset_size, uint8_t{0});
  std::fill_n(y.begin() + codeobject::KernelDescriptor::entry_offset_at,
              codeobject::KernelDescriptor::entry_offset_size, uint8_t{0});
  if (const auto at = first_difference(x, y))
    comparing.differ(what, *at, fmt::format("k0 {}, rebuilt {}", byte_at(x, *at), byte_at(y, *at)));
  const std::string to_a = meaning_of(comparing.k0, a.entry), to_b = meaning_of(comparing.rebuilt, b.entry);
  if (to_a != to_b)
    comparing.differ(what, codeobject::KernelDescriptor::entry_offset_at,
                     fmt::format("k0's entry is {}, rebuilt's {}", to_a, to_b));
  else if (a.descriptor.kernel_code_entry_byte_offset != b.descriptor.kernel_code_entry_byte_offset)
    comparing.mask(what + ": kernel_code_entry_byte_offset",
                   "linking decides the distance from .rodata to .text; the entry is compared instead");
}

void compare_kernels(Comparing& comparing) {
  for (const Kernel& kernel : comparing.k0.kernels()) {
    const Kernel* other = comparing.rebuilt.find_kernel(kernel.name);
    if (other)
      compare_descriptor(comparing, kernel, *other);
    else
      comparing.differ("kernel descriptor " + kernel.name + ".kd", 0, "missing in rebuilt");
  }
  for (const Kernel& kernel : comparing.rebuilt.kernels())
    if (!comparing.k0.find_kernel(kernel.name))
      comparing.differ("kernel descriptor " + kernel.name + ".kd", 0, "not in k0");
}

ByteSpan note_of(const CodeObject& object) {
  const auto range = object.metadata_note();
  return range ? object.bytes().subspan(range->offset, range->size) : ByteSpan();
}

void compare_metadata(Comparing& comparing) {
  const ByteSpan a = note_of(comparing.k0), b = note_of(comparing.rebuilt);
  if (const auto at = first_difference(a, b))
    comparing.differ("metadata note", *at,
                     fmt::format("k0 {}, rebuilt {}", byte_at(a, *at), byte_at(b, *at)));
}

} // namespace

std::optional<uint64_t> first_difference(ByteSpan a, ByteSpan b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() && y == b.end()) return std::nullopt;
  return static_cast<uint64_t>(x - a.begin());
}

std::string meaning_of(const CodeObject& object, uint64_t address) {
  const auto named = [&](const Section& s) { return fmt::format("{}+{:#x}", s.name, address - s.address); };
  if (const auto section = object.section_at(address)) return named(object.sections()[*section]);
  // The end of a section belongs to it; the linker puts other sections behind it as it likes.
  for (const Section& s : object.sections())
    if (s.allocated() && s.size != 0 && address == s.address + s.size) return named(s);
  return fmt::format("{:#x}", address);
}

ObjectComparison compare_objects(const CodeObject& k0, const CodeObject& rebuilt, Route route) {
  Comparing comparing{k0, rebuilt, {}};
  if (route == Route::Direct) {
    compare_files(comparing);
    return std::move(comparing.result);
  }
  compare_header(comparing);
  compare_text(comparing);
  compare_kernels(comparing);
  compare_metadata(comparing);
  compare_data(comparing);
  compare_relocations(comparing);
  compare_symbols(comparing);
  return std::move(comparing.result);
}

} // namespace asmevo::rebuild
