#include "timing/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace asmevo::timing {

namespace {

using P = Parameter;
using Kind = DispatchSample::Kind;

// Workgroups a cycle while all compute units are busy. Workgroups that start together also end together, so
// what is compared are ends that lie whole rounds apart, the first round left out where there are others.
double steady_rate(const SimulationResult& s, size_t round) {
  const std::vector<double>& f = s.finished;
  if (f.empty()) return 0;
  const auto busy = static_cast<size_t>(std::ranges::upper_bound(f, s.last_start) - f.begin());
  if (busy <= round) return static_cast<double>(f.size()) / f.back();
  const size_t skipped = busy > 2 * round ? round : 0;
  const size_t distance = (busy - 1 - skipped) / round * round;
  double cycles = 0;
  size_t count = 0;
  for (size_t k = skipped; k + distance < busy; ++k, ++count) cycles += f[k + distance] - f[k];
  return static_cast<double>(distance) * static_cast<double>(count) / cycles;
}

// Instructions a cycle once the waves have got going.
double instruction_rate(const SimulationResult& s) {
  constexpr uint64_t going = 3; // after a third of them
  for (const SimulationResult::Mark& m : s.marks)
    if (m.instructions >= s.instructions / going && s.end > m.cycle)
      return static_cast<double>(s.instructions - m.instructions) / (s.end - m.cycle);
  return static_cast<double>(s.instructions) / std::max(1.0, s.end);
}

// Several rounds of workgroups one after another; the last may not be full, but is hardly shorter for that.
double in_rounds(double one, double rounds) {
  constexpr double least = 0.75, many = 8;
  if (rounds >= many) return one * rounds;
  const double full = std::floor(rounds), rest = rounds - full;
  return one * (full + (rest < 1e-6 ? 0 : std::max(least, rest)));
}

// Workgroups a cycle, by the instructions that were issued while all compute units were busy and no longer
// all in their first workgroups. Ends of workgroups come in bunches, instructions do not: of a few rounds
// this says more. 0 where there are too few.
double issue_rate(const SimulationResult& s, size_t round, double each) {
  const std::vector<double>& f = s.finished;
  const auto busy = static_cast<size_t>(std::ranges::upper_bound(f, s.last_start) - f.begin());
  if (busy <= round) return 0;
  const double from = f[round / 2], to = s.last_start;
  const SimulationResult::Mark *first = nullptr, *last = nullptr;
  for (const SimulationResult::Mark& m : s.marks) {
    if (m.cycle >= from && first == nullptr) first = &m;
    if (m.cycle <= to) last = &m;
  }
  if (first == nullptr || last == nullptr || last->cycle <= first->cycle) return 0;
  return static_cast<double>(last->instructions - first->instructions) / (last->cycle - first->cycle) / each;
}

// When all would have ended that a few compute units have to do, if those around them were simulated, too.
// With which of the last workgroups a unit ends is chance here, and evens out over many: in the mean over the
// last round.
double mean_end(const SimulationResult& s, size_t round) {
  const std::vector<double>& f = s.finished;
  if (f.size() <= 2 * round) return s.end;
  const double rate = steady_rate(s, round);
  double sum = 0;
  for (size_t n = f.size() - round; n < f.size(); ++n)
    sum += f[n] + static_cast<double>(f.size() - 1 - n) / rate;
  return std::max(s.end - f.back(), 0.0) + sum / static_cast<double>(round);
}

double whole_cycles(const DispatchTrace& trace, const SimulationResult& s) {
  const auto count = static_cast<double>(trace.groups.size());
  const size_t round = size_t{trace.sample.cus} * trace.size.workgroups_per_cu;
  if (trace.sample.kind != Kind::Cut) {
    const double rest = trace.sample.all - count;
    double rate = issue_rate(s, round, trace.size.instructions);
    if (rate <= 0) rate = steady_rate(s, round);
    if (rate <= 0) return s.end;
    if (rest <= 0) return trace.sample.share < 1 ? mean_end(s, round) : s.end;
    return s.end + rest / rate;
  }
  const double left = std::max(0.0, trace.size.instructions * count - static_cast<double>(s.instructions));
  const double one = s.cut ? s.end + left / instruction_rate(s) : s.end;
  return in_rounds(
      one, std::max(1.0, trace.sample.all / std::max(1.0, std::min(count, static_cast<double>(round)))));
}

// Matrix instructions take so much power that the clock falls while they run.
double clock_of(const Machine& m, const SimulationResult& s, unsigned cus) {
  constexpr double simds = 4;
  const double busy = s.pipe_busy[static_cast<size_t>(Pipe::Matrix)] / std::max(1.0, s.end * cus * simds);
  return m[P::engine_clock] - std::min(1.0, busy) * std::max(0.0, m[P::engine_clock] - m[P::matrix_clock]);
}

} // namespace

KernelTime kernel_time(const DispatchTrace& trace, const Machine& machine, const KernelTimeOptions& options) {
  KernelTime time;
  const Footprint& used = trace.footprint;
  time.footprint = used.all;
  time.warmth = {.l2 = kept_share(used.xcd, machine[P::l2_bytes]),
                 .mall = kept_share(used.all, machine[P::mall_bytes])};
  if (options.cold) time.warmth = {};
  const TimedCode code(trace.instructions, trace.code_address, trace.target, machine);
  for (size_t id = 0; id < code.size(); ++id) time.addresses.push_back(code.op(id).address);
  std::vector<const WorkgroupTrace*> groups;
  groups.reserve(trace.groups.size());
  for (const WorkgroupTrace& g : trace.groups) groups.push_back(&g);
  SimulationOptions simulation{.cus = trace.sample.cus,
                               .share = trace.sample.share,
                               .xcds = trace.sample.xcds,
                               .warmth = time.warmth,
                               .structure = options.structure,
                               .seed = options.seed,
                               .waves_per_workgroup = trace.size.waves_per_workgroup,
                               .workgroups_per_cu = trace.size.workgroups_per_cu};
  time.simulation = simulate(code, machine, groups, simulation);
  time.cycles = std::max(0.0, whole_cycles(trace, time.simulation) - machine[P::wave_start]);
  time.clock_mhz = clock_of(machine, time.simulation, trace.sample.cus);
  time.seconds = time.cycles / (time.clock_mhz * 1e6);
  time.simulated_share = std::min(1.0, static_cast<double>(time.simulation.instructions) /
                                           std::max(1.0, trace.size.instructions * trace.sample.all));
  return time;
}

} // namespace asmevo::timing
