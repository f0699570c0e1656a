// The symbols of a code object in the order in which text defines them. Private to rebuild/.
#pragma once

#include "codeobject/code_object.h"

#include <map>
#include <string>
#include <vector>

namespace asmevo::rebuild {

/// Sections that the linker makes anew: string, symbol and hash tables, relocations, .dynamic, .got, padding.
bool made_by_linker(const codeobject::Section&);

/// Symbols that the linker defines by itself: _DYNAMIC.
bool defined_by_linker(const codeobject::Symbol&);

/// Another object in the process may stand in for the symbol, so code must reach it through the GOT.
bool preemptible(const codeobject::Symbol&);

class SymbolPlan {
 public:
  /// Unsupported: two symbols of one name, names that text cannot hold, types and bindings without directive.
  static Result<SymbolPlan> make(const codeobject::CodeObject&);

  using Places = std::multimap<uint64_t, const codeobject::Symbol*>;
  /// Symbols of one section, by offset in it (which may be its end or beyond).
  const Places& in(size_t section) const;
  const codeobject::Symbol* find(std::string_view name) const;
  /// A symbol exactly there that an operand may name; with `local_only` one that no linker can move
  /// elsewhere.
  const codeobject::Symbol* operand_at(size_t section, uint64_t offset, bool local_only) const;

  std::vector<const codeobject::Symbol*> absolute, undefined, files;

 private:
  Status add(const codeobject::CodeObject&, const codeobject::Symbol&);

  std::map<size_t, Places> places_;
  std::map<std::string_view, const codeobject::Symbol*> by_name_;
};

/// The directives of a symbol, one a line: binding, visibility, type. Not its size.
/// `visibility`: STV_* to write, which may differ from the symbol's own.
std::string symbol_directives(const codeobject::Symbol&, uint8_t visibility);

} // namespace asmevo::rebuild
