// What `asmevo run` says of a finished run.
#pragma once

#include "cli/cli.h"
#include "oracle/launch_run.h"

#include <string>
#include <vector>

namespace asmevo::cli {

/// A buffer to print, and how many of its elements.
struct BufferHead {
  size_t buffer = 0;
  uint64_t elements = 0;
};

/// "completed", "fault", "guard_damaged", "hang", "time_limit".
std::string_view name(device::LaunchOutcome::Kind);

/// The last line is "completed", or what went wrong.
Status print_run(const std::string& file, const oracle::LaunchMemory&, const oracle::LaunchReport&,
                 const std::vector<BufferHead>&);
Result<nlohmann::ordered_json> run_as_json(const std::string& file, const oracle::LaunchMemory&,
                                           const oracle::LaunchReport&, const std::vector<BufferHead>&);

} // namespace asmevo::cli
