#include "profile/modelled_report.h"

#include <algorithm>

namespace asmevo::profile {

namespace {

// What a window's editor has to know of the launch.
void add_launch(WindowContext& context, const oracle::LaunchTraces& traces, const std::string& kernel) {
  const auto launch = std::ranges::find(traces.launches, kernel, &oracle::TracedLaunch::kernel);
  if (launch == traces.launches.end()) return;
  const auto& w = launch->shape.workgroup;
  context.workgroup_size = uint64_t{w[0]} * w[1] * w[2];
  context.dynamic_lds = launch->shape.dynamic_lds;
  context.occupancy = launch->trace.occupancy;
}

} // namespace

ModelledReport::ModelledReport(const KernelCode& code, isa::Codec& codec, const oracle::LaunchTraces& traces,
                               const oracle::LaunchTime& time, const KernelProfile& times,
                               const timing::MachineModel& model, size_t windows)
    : path_(code, times), pressure_(register_pressure(code)),
      context_{
          .path = &path_, .profile = &times, .pressure = &pressure_, .codec = &codec, .model = model.name()} {
  add_launch(context_, traces, times.kernel);
  const timing::Machine machine = model.nominal();
  report_.context = &context_;
  report_.summary = kernel_summary(traces, time, times, machine);
  report_.loops = loop_bounds(path_, machine);
  report_.windows = hot_windows(path_, times, machine,
                                {.windows = windows,
                                 .waves_per_simd = report_.summary->waves,
                                 .busiest_unit = busiest_unit(*report_.summary).second});
}

} // namespace asmevo::profile
