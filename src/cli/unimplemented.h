// The instructions that the emulator does not know: of all there are, or of one code object.
#pragma once

#include "cli/cli.h"

#include <string>

namespace asmevo::cli {

/// `file` empty: everything LLVM accepts for the three targets, or for `target`. No: some is missing;
/// graphics instructions, which compute kernels do not have, do not count.
Result<Answer> list_unimplemented(const std::string& file, const std::string& target, bool json);

} // namespace asmevo::cli
