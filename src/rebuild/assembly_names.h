// Names as assembly text takes them. Private to rebuild/.
#pragma once

#include <string>
#include <string_view>

namespace asmevo::rebuild {

/// Whether assembly text can define the name at all: no control characters, and not of the assembler's
/// private form
/// (".L..."), which never reaches a symbol table.
bool writable_name(std::string_view name);

/// The name, in quotes where the assembler would not read it as one word.
std::string quoted_name(std::string_view name);

/// Whether the name may stand in an operand: one plain word that is not taken for a register or a modifier.
bool operand_name(std::string_view name);

} // namespace asmevo::rebuild
