// The pictures of a report, as SVG to stand inside its page and take its colours.
#pragma once

#include "run/run_folder.h"

#include <span>
#include <string>

namespace asmevo::report {

enum class Along : uint8_t { Time, Attempts };

/// The best speedup over time or over attempts as steps, commits marked on it with their nodes; candidates
/// that were right and slower as dots, those that were refused as ticks at the bottom. `end`: seconds that
/// the search took.
std::string progress_chart(std::span<const run::Attempt>, Along, double end);

} // namespace asmevo::report
