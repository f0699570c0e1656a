#include "oracle/launch_time.h"

#include "base/parallel.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

using P = timing::Parameter;

LaunchTime put_together(const LaunchTraces& traces, const timing::Machine& machine,
                        std::vector<timing::KernelTime> each) {
  constexpr double micro = 1e-6, tera = 1e12;
  LaunchTime time;
  time.each = std::move(each);
  const auto launches = static_cast<double>(traces.count + traces.fills);
  time.floor = machine[P::launch_floor] * micro;
  time.gaps = std::max(0.0, launches - 1) * machine[P::launch_gap] * micro;
  time.fills = static_cast<double>(traces.filled_bytes) / (machine[P::hbm_write_bandwidth] * tera);
  for (size_t n = 0; n < traces.launches.size(); ++n)
    time.kernels += time.each[n].seconds * traces.launches[n].stands_for;
  time.seconds =
      time.floor + time.gaps + time.fills + std::max(0.0, time.kernels - machine[P::launch_overlap] * micro);
  return time;
}

} // namespace

LaunchTime launch_time(const LaunchTraces& traces, const timing::Machine& machine,
                       const timing::KernelTimeOptions& options) {
  std::vector<timing::KernelTime> each;
  each.reserve(traces.launches.size());
  for (const TracedLaunch& l : traces.launches)
    each.push_back(timing::kernel_time(l.trace, machine, options));
  return put_together(traces, machine, std::move(each));
}

std::vector<LaunchTime> launch_times(const LaunchTraces& traces,
                                     std::span<const timing::EnsembleMember> members, unsigned threads) {
  const size_t launches = traces.launches.size();
  std::vector<std::vector<timing::KernelTime>> each(members.size(),
                                                    std::vector<timing::KernelTime>(launches));
  parallel_for(members.size() * launches, threads, [&](size_t index, unsigned) {
    const timing::EnsembleMember& m = members[index / launches];
    each[index / launches][index % launches] =
        timing::kernel_time(traces.launches[index % launches].trace, m.machine, m.options);
  });
  std::vector<LaunchTime> times;
  times.reserve(members.size());
  for (size_t n = 0; n < members.size(); ++n)
    times.push_back(put_together(traces, members[n].machine, std::move(each[n])));
  return times;
}

Result<std::vector<LaunchTime>> launch_times(const LaunchTraces& traces,
                                             std::span<const timing::EnsembleMember> members,
                                             unsigned threads, const TraceAgain& again,
                                             const std::function<bool(const LaunchTime&)>& go_on) {
  const bool anew = traces.depends_on_time();
  if (!anew && !go_on) return launch_times(traces, members, threads);
  std::vector<LaunchTime> times;
  for (size_t n = 0; n < members.size(); ++n) {
    const timing::EnsembleMember& m = members[n];
    if (anew && n > 0) {
      ASMEVO_TRY(const LaunchTraces own, again(m.machine, n));
      times.push_back(launch_time(own, m.machine, m.options));
    } else {
      times.push_back(launch_time(traces, m.machine, m.options));
    }
    if (go_on && !go_on(times.back())) break;
  }
  return times;
}

} // namespace asmevo::oracle
