// How long the launches of a plan take on a machine, one after another as a stream runs them.
#pragma once

#include "oracle/launch_trace.h"
#include "timing/kernel_time.h"

namespace asmevo::oracle {

struct LaunchTime {
  double seconds = 0;                      // between an event before the first and one behind the last
  double floor = 0;                        // of that, what an empty launch takes, too
  double gaps = 0;                         // and what passes between launches that wait for one another
  double fills = 0;                        // and what memsets and copies take
  std::vector<timing::KernelTime> kernels; // of each traced launch
  double kernel_seconds() const { return seconds - floor - gaps - fills; }
};

LaunchTime launch_time(const LaunchTraces&, const timing::Machine&, const timing::KernelTimeOptions& = {});

} // namespace asmevo::oracle
