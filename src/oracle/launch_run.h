// Runs the steps of a launch plan on a device.
#pragma once

#include "oracle/launch_memory.h"

namespace asmevo::oracle {

enum class BeforeLaunch : uint8_t {
  Run,
  Skip, // goes on behind it, as if it had been run
  Stop, // the run ends here, as if completed
};

struct LaunchRunOptions {
  std::string kernel; // in place of what the steps say; empty: as they say
  /// Before each launch; for progress.
  std::function<void(const std::string& kernel, const device::LaunchShape&)> starting;
  /// Before each launch, with memory as the kernel will find it.
  std::function<Result<BeforeLaunch>(const std::string& kernel, const device::LaunchShape&,
                                     const device::LaunchArguments&)>
      before_launch;
  /// Bytes that steps other than launches may touch of all buffers together: they are held in memory, where
  /// buffers that only kernels touch are not.
  uint64_t most_touched = uint64_t{8} << 30;
};

/// Launches of one kernel with the same grid, one right after another.
struct LaunchRecord {
  std::string kernel;
  device::LaunchShape shape;
  uint64_t times = 0, instructions = 0;
};

struct LaunchReport {
  device::LaunchOutcome
      outcome; // of the launch that did not complete, else Completed; instructions of all launches
  std::vector<LaunchRecord> launches;
  uint64_t fills = 0, filled_bytes = 0; // memset and copy steps, each a launch of its own on a GPU
  std::vector<std::string> notes;       // one line each: what is odd, though nothing failed
};

/// The kernels of the plan's launch steps, as `options` change them, each once.
Result<std::vector<std::string>> kernels_of(const LaunchPlan&, const codeobject::CodeObject&,
                                            const LaunchRunOptions&);

/// Until a launch does not complete. Afterwards guards and padding are looked at. BadInput, with file and
/// line: an unknown kernel, arguments or a grid it cannot have, a step beyond its buffer, more than a million
/// steps in all.
Result<LaunchReport> run_launch(const LaunchPlan&, LaunchMemory&, device::Module&,
                                const LaunchRunOptions& = {});

} // namespace asmevo::oracle
