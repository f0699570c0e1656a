// `inspect --listing`: a kernel's instructions with the ids that edits use.
#pragma once

#include "cli/cli.h"

namespace asmevo::cli {

/// All functions of the object, or the one named `kernel`.
Result<Answer> print_listing(const std::string& file, const std::string& target, const std::string& kernel,
                             bool json);

} // namespace asmevo::cli
