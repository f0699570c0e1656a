#include "rebuild/assembly_symbols.h"

#include "rebuild/assembly_names.h"

#include <elf.h>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Section;
using codeobject::Symbol;

bool made_by_linker(const Section& section) {
  switch (section.type) {
  case SHT_NULL:
  case SHT_NOTE:
  case SHT_SYMTAB:
  case SHT_DYNSYM:
  case SHT_STRTAB:
  case SHT_HASH:
  case SHT_GNU_HASH:
  case SHT_RELA:
  case SHT_DYNAMIC: return true;
  default: return section.name == ".relro_padding" || section.name == ".got";
  }
}

bool defined_by_linker(const Symbol& symbol) {
  return symbol.name == "_DYNAMIC";
}

bool preemptible(const Symbol& symbol) {
  return symbol.binding() != STB_LOCAL && symbol.visibility() == STV_DEFAULT;
}

Result<SymbolPlan> SymbolPlan::make(const CodeObject& object) {
  SymbolPlan plan;
  for (const Symbol& symbol : object.symbols()) ASMEVO_CHECK(plan.add(object, symbol));
  // A stripped object still has its dynamic symbols.
  for (const Symbol& symbol : object.dynamic_symbols())
    if (!plan.by_name_.contains(symbol.name)) ASMEVO_CHECK(plan.add(object, symbol));
  return plan;
}

Status SymbolPlan::add(const CodeObject& object, const Symbol& symbol) {
  if ((symbol.name.empty() && symbol.type() != STT_FILE) || symbol.type() == STT_SECTION) return {};
  if (defined_by_linker(symbol)) return {};
  if (symbol.type() == STT_FILE) {
    files.push_back(&symbol);
    return {};
  }
  const bool in_section = symbol.section != SHN_UNDEF && symbol.section < object.sections().size();
  if (in_section) {
    const Section& section = object.sections()[symbol.section];
    if (!section.allocated() || made_by_linker(section)) return {};
  } else if (symbol.section != SHN_UNDEF && symbol.section != SHN_ABS) {
    return unsupported("symbol '{}': section index {:#x}", symbol.name, symbol.section);
  }
  if (!writable_name(symbol.name))
    return unsupported("symbol name '{}' cannot be written as text", symbol.name);
  if (symbol.binding() > STB_WEAK)
    return unsupported("symbol '{}': binding {}", symbol.name, symbol.binding());
  if (symbol.type() > STT_FUNC) return unsupported("symbol '{}': type {}", symbol.name, symbol.type());
  if (!by_name_.emplace(symbol.name, &symbol).second)
    return unsupported("symbol '{}' is defined twice, which text cannot say", symbol.name);
  if (in_section) {
    places_[symbol.section].emplace(symbol.value - object.sections()[symbol.section].address, &symbol);
  } else {
    (symbol.section == SHN_UNDEF ? undefined : absolute).push_back(&symbol);
  }
  return {};
}

const SymbolPlan::Places& SymbolPlan::in(size_t section) const {
  static const Places none;
  const auto at = places_.find(section);
  return at == places_.end() ? none : at->second;
}

const Symbol* SymbolPlan::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

const Symbol* SymbolPlan::operand_at(size_t section, uint64_t offset, bool local_only) const {
  const auto [first, last] = in(section).equal_range(offset);
  for (auto at = first; at != last; ++at) {
    const Symbol& symbol = *at->second;
    if (!operand_name(symbol.name) || preemptible(symbol)) continue;
    // Hidden symbols are local after linking but global before (symbol_directives).
    if (local_only && (symbol.binding() != STB_LOCAL || symbol.visibility() != STV_DEFAULT)) continue;
    return &symbol;
  }
  return nullptr;
}

std::string symbol_directives(const Symbol& symbol, uint8_t visibility) {
  const std::string name = quoted_name(symbol.name);
  std::string text;
  // The linker makes hidden globals local; text has to say what they were, or they would lose their
  // visibility.
  const bool was_global = symbol.binding() == STB_LOCAL && visibility != STV_DEFAULT;
  if (symbol.binding() == STB_GLOBAL || was_global) text += fmt::format("\t.globl {}\n", name);
  if (symbol.binding() == STB_WEAK) text += fmt::format("\t.weak {}\n", name);
  if (visibility == STV_PROTECTED) text += fmt::format("\t.protected {}\n", name);
  if (visibility == STV_HIDDEN) text += fmt::format("\t.hidden {}\n", name);
  if (visibility == STV_INTERNAL) text += fmt::format("\t.internal {}\n", name);
  if (symbol.type() == STT_FUNC) text += fmt::format("\t.type {},@function\n", name);
  if (symbol.type() == STT_OBJECT) text += fmt::format("\t.type {},@object\n", name);
  return text;
}

} // namespace asmevo::rebuild
