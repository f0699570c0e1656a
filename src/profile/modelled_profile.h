// The profile of one kernel as the cycle model has it.
//
// The cycle model simulates some workgroups of a few of a plan's launches, on some compute units of one XCD.
// What is said here is of all launches of the kernel that the plan makes, and of one XCD as a whole: each
// number of a simulation is multiplied by scale_of(). XCD 0 is meant, which has the most workgroups.
//
//   issues    wave-instructions: a wave's instruction counts once, whatever EXEC says
//   busy      cycles in which a wave issued it, 4 for each
//   stalled   cycles for which a wave stood in front of it, by the reason that was over last
//
// Cycles are of the engine clock and of waves: eight waves that wait for 100 cycles are 800.
#pragma once

#include "oracle/launch_time.h"
#include "profile/kernel_profile.h"
#include "program/liveness.h"

namespace asmevo::profile {

/// "modelled (mi300x)": how numbers of that machine model are called everywhere.
std::string modelled_by(std::string_view model);

/// What a number of the simulation of a traced launch has to be multiplied by to be that of all the launches
/// that it stands for, on one XCD. 0 where nothing was simulated.
double scale_of(const oracle::TracedLaunch&, const timing::KernelTime&);

/// Calls visit(launch, time) for each traced launch of a kernel.
template <class Visit>
void each_launch(const oracle::LaunchTraces& traces, const oracle::LaunchTime& time, std::string_view kernel,
                 Visit visit) {
  for (size_t n = 0; n < traces.launches.size(); ++n)
    if (traces.launches[n].kernel == kernel) visit(traces.launches[n], time.each[n]);
}

/// The kernel that most of the modelled time goes to; empty where there is no launch.
std::string longest_kernel(const oracle::LaunchTraces&, const oracle::LaunchTime&);

/// All, where no launch of the kernel has a wave that starts with some lanes off.
program::StartLanes start_lanes(const oracle::LaunchTraces&, std::string_view kernel);

/// Empty where the kernel is not among the launches. `time` is of the same traces.
KernelProfile modelled_profile(const oracle::LaunchTraces&, const oracle::LaunchTime& time,
                               std::string_view kernel, std::string_view model);

} // namespace asmevo::profile
