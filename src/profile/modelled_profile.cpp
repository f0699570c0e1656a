#include "profile/modelled_profile.h"

#include <algorithm>

namespace asmevo::profile {

namespace {

void add(InstructionTime& sum, const timing::OpTime& op, double scale) {
  sum.issues += static_cast<double>(op.issues) * scale;
  sum.busy += op.busy * scale;
  for (size_t n = 0; n < timing::stall_count; ++n) sum.stalled[n] += op.stalled[n] * scale;
}

// What a reader should know of how the numbers came about, each once.
void note(KernelProfile& profile, const oracle::TracedLaunch& launch) {
  const auto say = [&](std::string text) {
    if (std::ranges::find(profile.notes, text) == profile.notes.end())
      profile.notes.push_back(std::move(text));
  };
  if (launch.trace.depends_on_time)
    say("some waves wait for what others write, or read the clock: on a GPU they may do more or less");
  if (launch.trace.sample.kind == timing::DispatchSample::Kind::Cut)
    say("only the beginning of each workgroup was simulated; what comes later may be missing "
        "(--timing-effort)");
}

} // namespace

std::string modelled_by(std::string_view model) {
  return fmt::format("modelled ({})", model);
}

double scale_of(const oracle::TracedLaunch& launch, const timing::KernelTime& time) {
  const double simulated = time.simulated_share * launch.trace.sample.share;
  return simulated > 0 ? launch.stands_for / simulated : 0;
}

std::string longest_kernel(const oracle::LaunchTraces& traces, const oracle::LaunchTime& time) {
  std::map<std::string, double> seconds;
  for (size_t n = 0; n < traces.launches.size(); ++n)
    seconds[traces.launches[n].kernel] += time.each[n].seconds * traces.launches[n].stands_for;
  const auto longest = std::ranges::max_element(seconds, {}, [](const auto& entry) { return entry.second; });
  return longest == seconds.end() ? "" : longest->first;
}

program::StartLanes start_lanes(const oracle::LaunchTraces& traces, std::string_view kernel) {
  constexpr uint64_t lanes = 64;
  for (const oracle::TracedLaunch& launch : traces.launches) {
    if (launch.kernel != kernel) continue;
    const auto& [grid, workgroup, lds] = launch.shape;
    bool whole = uint64_t{workgroup[0]} * workgroup[1] * workgroup[2] % lanes == 0;
    for (size_t d = 0; d < grid.size(); ++d) whole = whole && grid[d] % workgroup[d] == 0;
    if (!whole) return program::StartLanes::Any;
  }
  return program::StartLanes::All;
}

KernelProfile modelled_profile(const oracle::LaunchTraces& traces, const oracle::LaunchTime& time,
                               std::string_view kernel, std::string_view model) {
  KernelProfile profile;
  profile.origin = Origin::Modelled;
  profile.kernel = kernel;
  profile.source = modelled_by(model);
  std::map<uint64_t, InstructionTime> by_address;
  each_launch(traces, time, kernel, [&](const oracle::TracedLaunch& launch, const timing::KernelTime& t) {
    const double scale = scale_of(launch, t);
    for (size_t id = 0; id < t.simulation.ops.size(); ++id)
      add(by_address[t.addresses[id]], t.simulation.ops[id], scale);
    note(profile, launch);
  });
  for (auto& [address, instruction] : by_address) {
    if (instruction.issues == 0 && instruction.total() == 0) continue;
    instruction.address = address;
    profile.instructions.push_back(instruction);
  }
  return profile;
}

} // namespace asmevo::profile
