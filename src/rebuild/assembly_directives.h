// Which directives text from outside may hold: those that write_assembly writes and others that only lay out
// data, name symbols or describe the file. Not those that repeat, include or define text (.rept, .include,
// .macro): a few nested ones make an assembler run for hours or read any file.
#pragma once

#include "base/result.h"

#include <string_view>

namespace asmevo::rebuild {

/// Reads statements as LLVM's lexer does for AMDGPU: a line each, labels in front, comments by ; // # and
/// slash-star. BadInput: "file_name:line:column: ..." of the first directive that is not taken, or that asks
/// for more than 1 GiB by itself.
Status check_directives(std::string_view text, std::string_view file_name);

} // namespace asmevo::rebuild
