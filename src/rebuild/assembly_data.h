// Sections of data as assembly text: bytes, symbols, kernel descriptors, words that the loader relocates.
// Private to rebuild/.
#pragma once

#include "codeobject/code_object.h"
#include "rebuild/assembly_descriptor.h"
#include "rebuild/assembly_symbols.h"

#include <functional>
#include <map>
#include <string>

namespace asmevo::rebuild {

struct DataContext {
  const codeobject::CodeObject& object;
  const SymbolPlan& symbols;
  const std::map<uint64_t, DescriptorForm>& descriptors; // by address
  /// What text calls an address of K0, in a form that stays within this object: ".L_40", "table+8".
  std::function<Result<std::string>(uint64_t address)> place;
};

/// The private label at the start of a section: ".Lstart_7", by its index in K0.
std::string section_label(size_t section);

/// ".section NAME,flags,type" and ".p2align". Unsupported: types and flags that text has no word for.
Result<std::string> section_directive(const codeobject::Section&);

/// One section whole. Unsupported: relocations of types that a linked object should not have, or inside a
/// descriptor.
Result<std::string> write_data_section(const DataContext&, size_t section);

/// Bytes as .long, .byte and .zero lines.
std::string data_lines(ByteSpan bytes);

} // namespace asmevo::rebuild
