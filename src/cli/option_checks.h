// What the parser would let through.
#pragma once

#include <CLI/CLI.hpp>

namespace asmevo::cli {

/// Makes every option of every verb, and of the verbs in it, refuse an empty value, and a number that is none
/// or does not fit: CLI11 takes -1 for the largest unsigned number, and nan for a number of seconds. For
/// after all verbs were added.
void refuse_senseless_values(CLI::App&);

} // namespace asmevo::cli
