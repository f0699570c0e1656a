// How long the launches of a plan take on a machine, one after another as a stream runs them.
#pragma once

#include "oracle/launch_trace.h"
#include "timing/ensemble.h"

namespace asmevo::oracle {

struct LaunchTime {
  /// Between an event before the first and one behind the last: what an empty launch takes, too; the gaps
  /// between launches that wait for one another; memsets and copies; and the kernels, less what of the first
  /// hides behind the rest.
  double seconds = 0;
  double floor = 0, gaps = 0, fills = 0, kernels = 0;
  std::vector<timing::KernelTime> each; // of each traced launch
};

LaunchTime launch_time(const LaunchTraces&, const timing::Machine&, const timing::KernelTimeOptions& = {});

/// On each member of an ensemble, several at once.
std::vector<LaunchTime> launch_times(const LaunchTraces&, std::span<const timing::EnsembleMember>,
                                     unsigned threads);

/// The launches traced once more, for a machine and in an order of waves of its own.
using TraceAgain = std::function<Result<LaunchTraces>(const timing::Machine&, uint64_t schedule)>;
/// On each member of an ensemble, in order, as long as `go_on` (asked after each) says so. Where what kernels
/// do depends on time, each member but the first sees a run of its own.
Result<std::vector<LaunchTime>> launch_times(const LaunchTraces&, std::span<const timing::EnsembleMember>,
                                             unsigned threads, const TraceAgain& again,
                                             const std::function<bool(const LaunchTime&)>& go_on = {});

} // namespace asmevo::oracle
