// Whether a loader that goes by .dynamic finds each dynamic symbol by its name: through DT_HASH (System V
// ABI, "Hash Table") and DT_GNU_HASH (as ld.so and lld have it).
#pragma once

#include "codeobject/code_object.h"

#include <vector>

namespace asmevo::codeobject {

struct HashTable {
  bool present = false;    // .dynamic names one, within a section
  std::vector<bool> finds; // by index into dynamic_symbols: looking the name up comes to it
};

struct SymbolLookup {
  HashTable sysv, gnu;
  bool symbols = false, names = false; // .dynamic names .dynsym and its string table
};

/// In time linear in the tables' size, whatever they hold.
SymbolLookup symbol_lookup(const CodeObject&);

} // namespace asmevo::codeobject
