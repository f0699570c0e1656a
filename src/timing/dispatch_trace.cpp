#include "timing/dispatch_trace.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace asmevo::timing {

namespace {

using P = Parameter;

// Runs workgroups with a recorder in each slot.
class Recording {
 public:
  Recording(unsigned lds_banks, uint64_t most_steps, const TraceOptions& options)
      : banks_(lds_banks), most_steps_(most_steps), options_(options) {}

  Status run(const emulator::Launch& launch, emulator::Code& code, emulator::AddressSpace& memory,
             uint64_t bias, const std::vector<uint64_t>& workgroups, uint64_t enough) {
    emulator::RunOptions options;
    options.threads = options_.threads;
    options.seed = options_.schedule;
    options.most_instructions = options_.most_instructions;
    options.enough_instructions = enough;
    options.workgroups = workgroups;
    options.observer = [this](size_t slot) -> emulator::Observer* {
      while (recorders_.size() <= slot)
        recorders_.push_back(std::make_unique<TraceRecorder>(banks_, most_steps_, options_.left_out));
      return recorders_[slot].get();
    };
    const emulator::RunResult run = run_dispatch(launch, code, memory, options);
    executed_ = run.instructions;
    if (run.completed()) return {};
    const bool given_up = run.outcome == emulator::RunResult::Outcome::Hang;
    return bad_input("{}{}", run.describe(bias), given_up ? " (--max-steps says when to give up)" : "");
  }

  // In the order of `workgroups`.
  void take(DispatchTrace& trace, const std::vector<uint64_t>& workgroups) {
    std::map<uint64_t, WorkgroupTrace> by_index;
    for (const auto& r : recorders_) {
      for (WorkgroupTrace& g : r->take()) by_index.try_emplace(g.index, std::move(g));
      trace.instructions.insert(r->instructions().begin(), r->instructions().end());
      trace.depends_on_time |= r->depends_on_time();
    }
    for (const uint64_t w : workgroups)
      if (const auto found = by_index.find(w); found != by_index.end())
        trace.groups.push_back(std::move(found->second));
  }
  uint64_t executed() const { return executed_; }

 private:
  unsigned banks_;
  uint64_t most_steps_, executed_ = 0;
  const TraceOptions& options_;
  std::deque<std::unique_ptr<TraceRecorder>> recorders_;
};

// How long the workgroups of a cut sample are: of themselves, for others of the dispatch may take other ways.
// All of them, or as many as are affordable, from all over the sample.
Result<double> mean_length(const emulator::Launch& launch, emulator::Code& code,
                           emulator::AddressSpace& memory, uint64_t bias, const DispatchTrace& trace,
                           const TraceOptions& options) {
  constexpr double affordable = 100e6; // instructions
  const std::vector<uint64_t>& sample = trace.sample.workgroups;
  const uint64_t count = std::min<uint64_t>(
      sample.size(),
      static_cast<uint64_t>(std::max(2.0, affordable / std::max(1.0, trace.size.instructions))));
  std::vector<uint64_t> some;
  some.reserve(count);
  for (uint64_t n = 0; n < count; ++n) some.push_back(sample[n * sample.size() / count]);
  Recording counting(1, 0, options);
  ASMEVO_CHECK(counting.run(launch, code, memory, bias, some, 0));
  return static_cast<double>(counting.executed()) / static_cast<double>(some.size());
}

} // namespace

bool same_paths(const DispatchTrace& a, const DispatchTrace& b) {
  return a.executed == b.executed && a.depends_on_time == b.depends_on_time && a.groups == b.groups;
}

Result<DispatchTrace> trace_dispatch(const emulator::Launch& launch, emulator::Code& code,
                                     emulator::AddressSpace& memory, uint64_t bias, const Machine& machine,
                                     const TraceOptions& options) {
  DispatchTrace trace;
  trace.target = launch.target;
  const auto items = std::accumulate(launch.request.workgroup.begin(), launch.request.workgroup.end(),
                                     uint64_t{1}, std::multiplies());
  trace.occupancy =
      codeobject::occupancy(launch.target, launch.context.allocated_vgprs, launch.lds_bytes, items);
  trace.size = {.workgroups = launch.workgroup_count(),
                .waves_per_workgroup = launch.waves_per_group,
                .workgroups_per_cu = std::max(1U, trace.occupancy.workgroups)};
  trace.code_address = code.address() - bias;
  trace.regions = memory.regions();
  const auto banks = static_cast<unsigned>(machine[P::lds_banks]);

  const std::vector<uint64_t> probes = probe_workgroups(trace.size.workgroups);
  Recording probing(banks, 0, options);
  ASMEVO_CHECK(probing.run(launch, code, memory, bias, probes, 0));
  trace.size.instructions = static_cast<double>(probing.executed()) / static_cast<double>(probes.size());
  trace.sample = choose_sample(trace.size, machine, options.effort);

  const bool cut = trace.sample.kind == DispatchSample::Kind::Cut;
  const uint64_t enough = cut ? trace.sample.most_steps * trace.size.waves_per_workgroup : 0;
  Recording recording(banks, trace.sample.most_steps, options);
  ASMEVO_CHECK(recording.run(launch, code, memory, bias, trace.sample.workgroups, enough));
  recording.take(trace, trace.sample.workgroups);
  if (cut) {
    ASMEVO_TRY(trace.size.instructions, mean_length(launch, code, memory, bias, trace, options));
  }
  trace.executed = probing.executed() + recording.executed();
  if (!cut && !trace.groups.empty())
    trace.size.instructions =
        static_cast<double>(recording.executed()) / static_cast<double>(trace.groups.size());
  trace.footprint = footprint(trace);
  return trace;
}

} // namespace asmevo::timing
