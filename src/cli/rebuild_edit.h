// `rebuild K0 --edit edit.json`: the direct route, for one edit.
#pragma once

#include "cli/cli.h"

namespace asmevo::cli {

/// Applies the edit in `edit_file` to the code object in `file` and writes the result to `output`. Prints the
/// route taken and the resources that changed.
Result<Answer> rebuild_with_edit(const std::string& file, const std::string& target,
                                 const std::string& edit_file, const std::string& output, bool json);

} // namespace asmevo::cli
