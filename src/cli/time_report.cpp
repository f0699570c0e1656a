#include "cli/time_report.h"

#include "base/bytes.h"
#include "profile/modelled_profile.h"
#include "program/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::cli {

namespace {

using oracle::LaunchTime;
using oracle::TracedLaunch;
using timing::KernelTime;
using timing::OpTime;
using timing::PerStall;
using timing::Spread;
using timing::Stall;

constexpr double micro = 1e6;
constexpr size_t most_instructions = 8; // listed for each object

Spread seconds_of(const TimedObject& o) {
  std::vector<double> values;
  values.reserve(o.times.size());
  for (const LaunchTime& t : o.times) values.push_back(t.seconds);
  return timing::spread_of(std::move(values));
}

// Of each member, K0's time over this one's.
std::vector<double> speedups(const TimedObject& k0, const TimedObject& o) {
  std::vector<double> values;
  values.reserve(o.times.size());
  for (size_t n = 0; n < o.times.size(); ++n) values.push_back(k0.times[n].seconds / o.times[n].seconds);
  return values;
}

size_t count_faster(const std::vector<double>& speedups) {
  return static_cast<size_t>(std::ranges::count_if(speedups, [](double s) { return s > 1; }));
}

// What all waves of all launches spent, on one XCD of the first member's machine.
struct Totals {
  double busy = 0, issues = 0;
  PerStall<double> stalled{};
  struct Line {
    uint64_t address = 0;
    std::string id; // as edits of this object name it
    const isa::Instruction* instruction = nullptr;
    std::string kernel;
    double cycles = 0;
    Stall most = Stall::None;
  };
  std::vector<Line> lines;

  double all() const {
    double sum = busy;
    for (const double s : stalled) sum += s;
    return sum;
  }
};

Stall biggest(const OpTime& op) {
  const auto most = std::ranges::max_element(op.stalled);
  return *most > op.busy ? static_cast<Stall>(most - op.stalled.begin()) : Stall::None;
}

// The instruction's place in .text.
std::string id_of(const TimedObject& o, uint64_t address) {
  const codeobject::CodeObject& object = o.traces.module->object();
  const auto section = object.section_at(address);
  if (!section) return "";
  return program::InstrId{0, static_cast<uint32_t>(address - object.sections()[*section].address)}.text();
}

Totals totals_of(const TimedObject& o) {
  Totals t;
  for (size_t n = 0; n < o.traces.launches.size(); ++n) {
    const TracedLaunch& launch = o.traces.launches[n];
    const KernelTime& time = o.times.front().each[n];
    const double weight = profile::scale_of(launch, time);
    for (size_t id = 0; id < time.simulation.ops.size(); ++id) {
      const OpTime& op = time.simulation.ops[id];
      t.busy += op.busy * weight, t.issues += static_cast<double>(op.issues) * weight;
      for (size_t s = 0; s < timing::stall_count; ++s) t.stalled[s] += op.stalled[s] * weight;
      const auto index = static_cast<uint32_t>((time.addresses[id] - launch.trace.code_address) / 4);
      t.lines.push_back({time.addresses[id], id_of(o, time.addresses[id]),
                         launch.trace.instructions.at(index), launch.kernel, (op.busy + op.stalls()) * weight,
                         biggest(op)});
    }
  }
  std::ranges::stable_sort(t.lines, std::greater{}, &Totals::Line::cycles);
  if (t.lines.size() > most_instructions) t.lines.resize(most_instructions);
  return t;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

double share(double part, double all) {
  return all > 0 ? 100 * part / all : 0;
}

std::vector<std::string> kernels_of(const TimedObject& o) {
  std::vector<std::string> names;
  for (const TracedLaunch& l : o.traces.launches)
    if (std::ranges::find(names, l.kernel) == names.end()) names.push_back(l.kernel);
  return names;
}

// The first ones.
std::string names_of(const std::vector<std::string>& kernels) {
  constexpr size_t most_named = 4;
  std::string names;
  for (size_t n = 0; n < std::min(kernels.size(), most_named); ++n)
    names += fmt::format("{}{}", n == 0 ? "" : ", ", printable(kernels[n]));
  return kernels.size() > most_named ? names + ", ..." : names;
}

std::string what_was_simulated(const TimedObject& o) {
  double least = 1;
  for (size_t n = 0; n < o.traces.launches.size(); ++n)
    least =
        std::min(least, o.times.front().each[n].simulated_share * o.traces.launches[n].trace.sample.share);
  const bool all = o.traces.launches.size() == o.traces.count &&
                   std::ranges::all_of(o.traces.launches, [](const TracedLaunch& l) {
                     return l.trace.sample.kind == timing::DispatchSample::Kind::Whole;
                   });
  if (all) return "simulated whole";
  return fmt::format("{} of {} launch{} looked at, {:.1f} % of an XCD's work simulated",
                     o.traces.launches.size(), o.traces.count, o.traces.count == 1 ? "" : "es", 100 * least);
}

// The middle of the ensemble, and of the machine itself what it consists of.
void print_object(const TimeReport& r, const TimedObject& o) {
  const Spread s = seconds_of(o);
  fmt::print("{}: {}\n  modelled ({}) {:>12.2f} us in the middle of {} model{}, {:.2f} to {:.2f}; {}\n",
             printable(o.file), names_of(kernels_of(o)), r.model, s.median * micro, o.times.size(),
             o.times.size() == 1 ? "" : "s", s.low * micro, s.high * micro, what_was_simulated(o));
  const LaunchTime& first = o.times.front();
  fmt::print("  {}: {:.2f} us = kernels {:.2f} + launch floor {:.2f} - {:.2f} that overlap",
             r.members.front(), first.seconds * micro, first.kernels * micro, first.floor * micro,
             (first.kernels + first.floor + first.gaps + first.fills - first.seconds) * micro);
  if (first.gaps > 0) fmt::print(" + gaps between launches {:.2f}", first.gaps * micro);
  if (first.fills > 0) fmt::print(" + memsets and copies {:.2f}", first.fills * micro);
  fmt::print("\n");
  for (const TracedLaunch& l : o.traces.launches)
    if (l.trace.depends_on_time) {
      fmt::print("  note: kernel {} waits for others or reads the clock: what it does depends on time, and "
                 "each model "
                 "saw a run of its own\n",
                 printable(l.kernel));
      break;
    }
}

void print_speedup(const TimedObject& k0, const TimedObject& o) {
  const std::vector<double> values = speedups(k0, o);
  const Spread s = timing::spread_of(values);
  fmt::print("  speedup {:.3f} over {}   {:.3f} to {:.3f}, cv {:.2f} %; faster on {} of {} model{}\n",
             s.median, printable(k0.argument), s.low, s.high, 100 * s.deviation, count_faster(values),
             values.size(), values.size() == 1 ? "" : "s");
}

void print_where(const Totals& t) {
  const bool one_kernel =
      std::ranges::all_of(t.lines, [&](const Totals::Line& l) { return l.kernel == t.lines.front().kernel; });
  fmt::print("  cycles of waves: {:.1f} % issuing", share(t.busy, t.all()));
  for (size_t s = 0; s < timing::stall_count; ++s)
    if (share(t.stalled[s], t.all()) >= 0.05)
      fmt::print(", {:.1f} % {}", share(t.stalled[s], t.all()), timing::name(static_cast<Stall>(s)));
  fmt::print("\n");
  fmt::print("    {:>7}  {:>6}  {:>8}  {:<28} {}\n", "share", "id", "address", "instruction", "mostly");
  for (const Totals::Line& l : t.lines)
    fmt::print("{}\n", trimmed(fmt::format("    {:5.1f} %  {:>6}  {:>8x}  {:<28} {:<24} {}",
                                           share(l.cycles, t.all()), l.id, l.address, l.instruction->mnemonic,
                                           l.most == Stall::None ? "" : timing::name(l.most),
                                           one_kernel ? "" : printable(l.kernel))));
}

// The reasons of which the cycles differ most.
void print_difference(const Totals& k0, const Totals& o) {
  fmt::print("  against the first, in cycles of waves: issuing {:+.1f} %", share(o.busy - k0.busy, k0.all()));
  for (size_t s = 0; s < timing::stall_count; ++s) {
    const double change = share(o.stalled[s] - k0.stalled[s], k0.all());
    if (std::abs(change) >= 0.05) fmt::print(", {} {:+.1f} %", timing::name(static_cast<Stall>(s)), change);
  }
  fmt::print("; instructions {:+.1f} %\n", share(o.issues - k0.issues, k0.issues));
}

nlohmann::ordered_json spread_json(const Spread& s) {
  return {{"median", s.median}, {"low", s.low}, {"high", s.high}, {"cv", s.deviation}};
}

nlohmann::ordered_json where_json(const Totals& t) {
  nlohmann::ordered_json stalls, lines = nlohmann::ordered_json::array();
  for (size_t s = 0; s < timing::stall_count; ++s)
    stalls[std::string(timing::name(static_cast<Stall>(s)))] = t.stalled[s];
  for (const Totals::Line& l : t.lines)
    lines.push_back({{"id", l.id},
                     {"address", l.address},
                     {"mnemonic", l.instruction->mnemonic},
                     {"kernel", l.kernel},
                     {"cycles", l.cycles},
                     {"reason", timing::name(l.most)}});
  return {{"issuing", t.busy}, {"instructions", t.issues}, {"stalled", stalls}, {"most", lines}};
}

} // namespace

void print(const TimeReport& r, bool explain) {
  std::vector<Totals> totals;
  for (const TimedObject& o : r.objects) {
    print_object(r, o);
    if (&o != &r.objects.front()) print_speedup(r.objects.front(), o);
    if (!explain) continue;
    totals.push_back(totals_of(o));
    print_where(totals.back());
    if (totals.size() > 1) print_difference(totals.front(), totals.back());
  }
}

nlohmann::ordered_json as_json(const TimeReport& r, bool explain) {
  nlohmann::ordered_json objects = nlohmann::ordered_json::array();
  for (const TimedObject& o : r.objects) {
    nlohmann::ordered_json seconds = nlohmann::ordered_json::array();
    for (const LaunchTime& t : o.times) seconds.push_back(t.seconds);
    nlohmann::ordered_json j = {{"file", o.file},
                                {"kernels", kernels_of(o)},
                                {"seconds", spread_json(seconds_of(o))},
                                {"seconds_of_members", seconds},
                                {"kernel_seconds", o.times.front().kernels},
                                {"launch_floor_seconds", o.times.front().floor},
                                {"launches", o.traces.count},
                                {"depends_on_time", o.traces.depends_on_time()}};
    for (size_t n = 0; n < o.traces.launches.size(); ++n) {
      const auto& sample = o.traces.launches[n].trace.sample;
      j["samples"].push_back({{"kernel", o.traces.launches[n].kernel},
                              {"kind", timing::name(sample.kind)},
                              {"compute_units", sample.cus},
                              {"workgroups", sample.workgroups.size()},
                              {"of_workgroups", sample.all},
                              {"seconds", o.times.front().each[n].seconds}});
    }
    if (&o != &r.objects.front()) {
      const std::vector<double> values = speedups(r.objects.front(), o);
      j["speedup"] = spread_json(timing::spread_of(values));
      j["faster_on"] = count_faster(values);
    }
    if (explain) j["cycles_of_waves"] = where_json(totals_of(o));
    objects.push_back(std::move(j));
  }
  return {{"device", fmt::format("modelled ({})", r.model)},
          {"ensemble", r.structural ? "structural" : "parameters"},
          {"members", r.members},
          {"objects", objects}};
}

} // namespace asmevo::cli
