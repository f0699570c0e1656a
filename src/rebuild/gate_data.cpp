// Data, relocations and symbols compared, everything by section and offset in it.
#include "rebuild/assembly_symbols.h"
#include "rebuild/gate_parts.h"

#include <algorithm>
#include <array>
#include <elf.h>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Relocation;
using codeobject::Section;
using codeobject::Symbol;

namespace {

constexpr uint64_t attribute_flags = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR;

// Bytes with what is compared by other means set to zero: kernel descriptors and words that the loader fills.
Bytes plain_contents(const CodeObject& object, const Section& section) {
  Bytes bytes(section.contents.begin(), section.contents.end());
  const auto clear = [&](uint64_t address, size_t size) {
    if (!section.contains(address)) return;
    const uint64_t offset = address - section.address;
    if (offset >= bytes.size()) return;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                std::min<size_t>(size, bytes.size() - offset), uint8_t{0});
  };
  for (const codeobject::Kernel& kernel : object.kernels())
    clear(kernel.descriptor_address, codeobject::KernelDescriptor::size);
  for (const Relocation& r : object.relocations()) clear(r.address, sizeof(uint64_t));
  return bytes;
}

void compare_section(Comparing& comparing, const Section& a, const Section& b) {
  if ((a.flags & attribute_flags) != (b.flags & attribute_flags) || a.type != b.type)
    comparing.differ(a.name, 0,
                     fmt::format("k0 has type {} flags {:#x}, rebuilt type {} flags {:#x}", a.type, a.flags,
                                 b.type, b.flags));
  if (a.alignment != b.alignment)
    comparing.differ(a.name, 0, fmt::format("alignment {} in k0, {} in rebuilt", a.alignment, b.alignment));
  if (a.size != b.size)
    comparing.differ(a.name, std::min(a.size, b.size),
                     fmt::format("{} bytes in k0, {} in rebuilt", a.size, b.size));
  else if (!a.executable())
    if (const auto at =
            first_difference(plain_contents(comparing.k0, a), plain_contents(comparing.rebuilt, b)))
      comparing.differ(a.name, *at,
                       fmt::format("k0 {:#04x}, rebuilt {:#04x}", a.contents[*at], b.contents[*at]));
}

// A section that is loaded and that the linker does not make.
bool from_input(const Section& section) {
  return section.allocated() && !made_by_linker(section) && section.size != 0;
}

// "OBJECT GLOBAL PROTECTED foo = .rodata+0x40, 64 bytes"
std::string describe(const CodeObject& object, const Symbol& symbol) {
  constexpr std::array<std::string_view, 4> visibilities = {"DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED"};
  constexpr std::array<std::string_view, 7> types = {"NOTYPE", "OBJECT", "FUNC", "SECTION",
                                                     "FILE",   "COMMON", "TLS"};
  constexpr std::array<std::string_view, 3> bindings = {"LOCAL", "GLOBAL", "WEAK"};
  const auto word = [](const auto& words, uint8_t n) {
    return n < words.size() ? std::string(words[n]) : fmt::format("{}", n);
  };
  std::string where = symbol.section == SHN_UNDEF ? "undefined" : fmt::format("{:#x}", symbol.value);
  if (symbol.section != SHN_UNDEF && symbol.section < object.sections().size()) {
    const Section& section = object.sections()[symbol.section];
    where = fmt::format("{}+{:#x}", section.name, symbol.value - section.address);
  }
  return fmt::format("{} {} {} {} = {}, {} bytes", word(types, symbol.type()),
                     word(bindings, symbol.binding()), word(visibilities, symbol.visibility()), symbol.name,
                     where, symbol.size);
}

bool not_loaded(const CodeObject& object, const Symbol& symbol) {
  return symbol.section != SHN_UNDEF && symbol.section < object.sections().size() &&
         !object.sections()[symbol.section].allocated();
}

struct SymbolSet {
  std::vector<std::string> symbols; // sorted
  size_t by_linker = 0, not_loaded = 0;
};

SymbolSet symbol_set(const CodeObject& object, const std::vector<Symbol>& table) {
  SymbolSet set;
  for (const Symbol& symbol : table) {
    if (symbol.type() == STT_SECTION || (symbol.name.empty() && symbol.type() == STT_NOTYPE)) continue;
    if (defined_by_linker(symbol))
      ++set.by_linker;
    else if (not_loaded(object, symbol))
      ++set.not_loaded;
    else
      set.symbols.push_back(describe(object, symbol));
  }
  std::ranges::sort(set.symbols);
  return set;
}

void compare_lists(Comparing& comparing, const std::string& what, const std::vector<std::string>& a,
                   const std::vector<std::string>& b) {
  std::vector<std::string> missing, extra;
  std::ranges::set_difference(a, b, std::back_inserter(missing));
  std::ranges::set_difference(b, a, std::back_inserter(extra));
  if (missing.empty() && extra.empty()) return;
  std::string detail;
  if (!missing.empty()) detail = fmt::format("{} only in k0, the first: {}", missing.size(), missing.front());
  if (!extra.empty())
    detail += fmt::format("{}{} only in rebuilt, the first: {}", detail.empty() ? "" : "; ", extra.size(),
                          extra.front());
  comparing.differ(what, 0, std::move(detail));
}

// "RELATIVE .data+0x8 -> .rodata+0x40". The GOT's order is the linker's.
std::vector<std::string> relocation_list(const CodeObject& object) {
  std::vector<std::string> list;
  for (const Relocation& r : object.relocations()) {
    std::string place = meaning_of(object, r.address);
    if (place.starts_with(".got+")) place = ".got";
    std::string target = r.symbol == 0
                             ? meaning_of(object, static_cast<uint64_t>(r.addend))
                             : fmt::format("{}{:+}", object.dynamic_symbols()[r.symbol].name, r.addend);
    list.push_back(fmt::format("type {} at {} to {}", r.type, place, target));
  }
  std::ranges::sort(list);
  return list;
}

} // namespace

void compare_data(Comparing& comparing) {
  std::string left_out;
  for (const Section& a : comparing.k0.sections()) {
    if (!from_input(a)) {
      if (!a.name.empty() && !made_by_linker(a)) left_out += (left_out.empty() ? "" : ", ") + a.name;
      continue;
    }
    const auto other = comparing.rebuilt.find_section(a.name);
    if (other)
      compare_section(comparing, a, comparing.rebuilt.sections()[*other]);
    else
      comparing.differ(a.name, 0, "missing in rebuilt");
  }
  for (const Section& b : comparing.rebuilt.sections())
    if (from_input(b) && !comparing.k0.find_section(b.name)) comparing.differ(b.name, 0, "not in k0");
  if (!left_out.empty())
    comparing.mask("sections that are empty or not loaded: " + left_out, "they take no part in a launch");
  const bool merged = std::ranges::any_of(comparing.k0.sections(), [](const Section& s) {
    return from_input(s) && (s.flags & (SHF_MERGE | SHF_STRINGS)) != 0;
  });
  if (merged)
    comparing.mask("section flags MERGE and STRINGS", "they tell a linker that has already acted on them");
}

void compare_relocations(Comparing& comparing) {
  compare_lists(comparing, "relocations", relocation_list(comparing.k0), relocation_list(comparing.rebuilt));
  if (!comparing.k0.relocations().empty())
    comparing.mask("bytes that a relocation fills, order of relocations and of .got",
                   "linking decides them; relocations are compared by place and target");
}

void compare_symbols(Comparing& comparing) {
  const CodeObject &k0 = comparing.k0, &rebuilt = comparing.rebuilt;
  const SymbolSet dynamic_a = symbol_set(k0, k0.dynamic_symbols()),
                  dynamic_b = symbol_set(rebuilt, rebuilt.dynamic_symbols());
  compare_lists(comparing, ".dynsym", dynamic_a.symbols, dynamic_b.symbols);
  if (k0.symbols().empty()) {
    comparing.mask(".symtab", "k0 is stripped of it");
    return;
  }
  const SymbolSet a = symbol_set(k0, k0.symbols()), b = symbol_set(rebuilt, rebuilt.symbols());
  compare_lists(comparing, ".symtab", a.symbols, b.symbols);
  if (a.by_linker + b.by_linker != 0) comparing.mask("symbol _DYNAMIC", "the linker defines it");
  if (a.not_loaded != 0)
    comparing.mask(fmt::format("{} symbols of sections that are not loaded", a.not_loaded),
                   "they take no part in a launch");
}

} // namespace asmevo::rebuild
