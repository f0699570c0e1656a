// A launch for a kernel that comes with none, as the text of a launch file.
#pragma once

#include "infer/infer.h"

#include <filesystem>

namespace asmevo::search {

/// BadInput where K0 does not complete with what was inferred: such a launch says nothing of a candidate.
/// Errors begin with `name`.
Result<std::string> inferred_launch(Bytes k0, const infer::InferOptions&, const std::string& name);

} // namespace asmevo::search
