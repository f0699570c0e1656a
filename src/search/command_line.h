// The command that makes a run again, for people: with paths as they were given.
#pragma once

#include "search/optimization.h"

namespace asmevo::search {

/// What was given and is not in the settings, or stands there in another form.
struct GivenWords {
  std::string file, launch, capture, target;
  std::vector<std::string> more = {}; // other options, as they are
};

/// "asmevo optimize kernel.co --launch launch.toml --budget 180s -o RUN"
std::string command_line(const OptimizationSettings&, const GivenWords&, std::string_view output = "RUN");

} // namespace asmevo::search
