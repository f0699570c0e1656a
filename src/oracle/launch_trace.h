// The launches of a plan as the cycle model replays them. Nothing is run as a whole: of each launch that is
// looked at the emulator runs the workgroups that are simulated, with memory as the plan's steps and inits
// leave it, not as kernels before it would. Of many launches of one kernel with one grid in a row only some
// are looked at, and each stands for those around it.
#pragma once

#include "device/emulated_device.h"
#include "oracle/case.h"
#include "oracle/first_contents.h"
#include "oracle/launch_run.h"

namespace asmevo::oracle {

struct TracedLaunch {
  std::string kernel;
  device::LaunchShape shape;
  uint64_t first = 0;    // its place among all launches, from 0
  double stands_for = 1; // launches
  timing::DispatchTrace trace;
};

struct LaunchTraces {
  std::shared_ptr<device::Module> module; // whose instructions the traces refer to
  std::vector<TracedLaunch> launches;
  uint64_t count = 0;                   // launches in all
  uint64_t fills = 0, filled_bytes = 0; // memset and copy steps
  /// What some kernel does may change with who is first (timing::DispatchTrace).
  bool depends_on_time() const;
};

struct LaunchTraceOptions {
  std::string kernel;                        // in place of what the steps say; empty: as they say
  timing::TraceOptions trace;                // the effort is that of all launches together
  std::shared_ptr<FirstContents> known = {}; // of the same plan, where it is traced again and again
  std::function<void(uint64_t done, uint64_t all)> progress;
};

/// BadInput as of run_launch; a kernel that faults or hangs; no launch at all.
Result<LaunchTraces> trace_launches(const LaunchPlan&, std::shared_ptr<const codeobject::CodeObject>,
                                    const timing::Machine&, const LaunchTraceOptions&);

/// The same of a recorded dispatch.
Result<LaunchTraces> trace_case(const Case&, std::shared_ptr<const codeobject::CodeObject>,
                                const timing::Machine&, const LaunchTraceOptions&);

} // namespace asmevo::oracle
