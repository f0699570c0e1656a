// LLVM's assembler on a whole .s file. Private to rebuild/; assembly.h has what others use.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "isa/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::rebuild {

/// ".amdgcn_target" and ".amdhsa_code_object_version", with which every file begins.
std::string assembly_header(const isa::Target& target, unsigned code_object_version);

/// The relocatable object. BadInput: "file_name:line:column: message" of the first error; text without
/// .amdgcn_target. For use from any thread.
Result<Bytes> assemble_relocatable(std::string_view text, std::string_view file_name);

/// The numbers (from 1, ascending) of the lines that the assembler refuses.
Result<std::vector<unsigned>> refused_lines(std::string_view text);

/// The contents of a section of a relocatable object; empty where there is none of that name.
Result<Bytes> relocatable_section(ByteSpan relocatable, std::string_view name);

} // namespace asmevo::rebuild
