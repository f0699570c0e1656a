// Diagnostics on stderr. stdout belongs to results.
#pragma once

#include <spdlog/spdlog.h>

namespace asmevo::log {

/// Sends spdlog's default logger to stderr as plain "level: message" lines; quiet below warnings unless
/// verbose.
void set_up(bool verbose);

} // namespace asmevo::log
