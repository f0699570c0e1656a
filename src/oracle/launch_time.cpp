#include "oracle/launch_time.h"

#include <algorithm>

namespace asmevo::oracle {

LaunchTime launch_time(const LaunchTraces& traces, const timing::Machine& machine,
                       const timing::KernelTimeOptions& options) {
  using P = timing::Parameter;
  constexpr double micro = 1e-6, tera = 1e12;
  LaunchTime time;
  const auto launches = static_cast<double>(traces.count + traces.fills);
  time.floor = machine[P::launch_floor] * micro;
  time.gaps = std::max(0.0, launches - 1) * machine[P::launch_gap] * micro;
  time.fills = static_cast<double>(traces.filled_bytes) / (machine[P::hbm_write_bandwidth] * tera);
  time.seconds = time.floor + time.gaps + time.fills;
  double kernels = 0;
  for (const TracedLaunch& l : traces.launches) {
    time.kernels.push_back(timing::kernel_time(l.trace, machine, options));
    kernels += time.kernels.back().seconds * l.stands_for;
  }
  time.seconds += std::max(0.0, kernels - machine[P::launch_overlap] * micro);
  return time;
}

} // namespace asmevo::oracle
