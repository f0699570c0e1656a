#include "profile/kernel_report.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::profile {

namespace {

using Json = nlohmann::ordered_json;
using program::Index;
using timing::Stall;

// 1234567 -> "1.23 M"
std::string scaled(double x, std::string_view unit) {
  constexpr std::array<std::string_view, 6> names = {"", "k", "M", "G", "T", "P"};
  size_t n = 0;
  for (; x >= 1000 && n + 1 < names.size(); ++n) x /= 1000;
  const std::string suffix = fmt::format("{}{}", names[n], unit);
  return fmt::format("{:.{}f}{}{}", x,
                     x >= 100 || n == 0 ? 0
                     : x >= 10          ? 1
                                        : 2,
                     suffix.empty() ? "" : " ", suffix);
}

constexpr double least_shown = 0.0005; // shares that would be printed as 0.0 %

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

void time_lines(std::string& text, const KernelSummary& s) {
  constexpr double micro = 1e6;
  text += fmt::format("{}: {:.2f} us in {:.0f} launches, {} of the plan's time, {}\n",
                      printable(s.kernel, whole_text), s.seconds * micro, s.launches,
                      percent(s.share_of_plan), s.source);
  text += fmt::format("limiter: {}\n", limiter(s).sentence);
  for (const std::string& note : s.notes) text += fmt::format("note: {}\n", note);
  text +=
      fmt::format("waves: {:.0f} workgroups of {} waves a launch; {:.1f} waves a SIMD in the mean, {:.1f} "
                  "fit (limited by {})\n",
                  s.workgroups, s.waves_per_workgroup, s.waves, s.occupancy.waves_per_simd,
                  fmt::join(s.occupancy.limiters, ", "));
}

void stall_lines(std::string& text, const KernelSummary& s) {
  text += fmt::format("wave cycles: {} on one XCD\n  issuing {}\n", scaled(s.wave_cycles(), ""),
                      percent(s.wave_cycles() > 0 ? s.busy / s.wave_cycles() : 0));
  std::vector<Stall> order;
  order.reserve(timing::stall_count);
  for (size_t n = 0; n < timing::stall_count; ++n) order.push_back(static_cast<Stall>(n));
  std::ranges::stable_sort(order, std::greater{}, [&](Stall stall) { return s.stall_share(stall); });
  for (const Stall stall : order)
    if (s.stall_share(stall) >= least_shown)
      text += fmt::format("  {} {}\n", timing::name(stall), percent(s.stall_share(stall)));
}

void instruction_lines(std::string& text, const KernelSummary& s) {
  text += fmt::format("instructions: {} of waves on one XCD\n", scaled(s.instructions, ""));
  for (const auto& [kind, count] : s.mix)
    if (count >= least_shown * s.instructions)
      text += fmt::format("  {:<20} {:>6}\n", kind, percent(count / s.instructions));
  text += "pipes, share of their time:\n";
  for (const PipeUse& p : s.pipes)
    if (p.instructions > 0 && p.pipe != timing::Pipe::Internal)
      text += fmt::format("  {:<20} {:>6}\n", timing::name(p.pipe), percent(p.share));
  text += fmt::format("  {:<20} {:>6}\n", "workgroup start", percent(s.dispatch_share));
}

void memory_lines(std::string& text, const KernelSummary& s) {
  text += "memory, whole device:\n";
  for (const LevelUse& level : s.levels) {
    if (level.bytes() <= 0) continue;
    text += fmt::format("  {:<15} {:>9} read {:>9} written {:>10} {:>7} of its time", name(level.level),
                        scaled(level.read, "B"), scaled(level.written, "B"),
                        scaled(s.seconds > 0 ? level.bytes() / s.seconds : 0, "B/s"), percent(level.share));
    if (level.hit_rate) text += fmt::format(", hits {}", percent(*level.hit_rate));
    text += "\n";
  }
  text += fmt::format("  scalar cache hits {}, instruction cache hits {}\n", percent(s.scalar_hit_rate),
                      percent(s.code_hit_rate));
  if (s.miss_places.taken > 0)
    text +=
        fmt::format("  L1 misses in flight {:.1f} of {:.0f} a compute unit, {}; one waits {:.0f} cycles for "
                    "its place, {:.0f} for its data\n",
                    s.miss_places.share * s.miss_places.places, s.miss_places.places,
                    percent(s.miss_places.share), s.miss_places.wait, s.miss_places.taken);
  if (s.coalescing.accesses > 0)
    text += fmt::format("  {:.2f} lines an access of vector memory, {:.2f} at least ({:.2f} times)\n",
                        s.coalescing.lines, s.coalescing.least_lines, s.coalescing.excess());
  if (s.lds_accesses > 0)
    text += fmt::format("  LDS bank conflicts: {} of its cycles\n", percent(s.lds_conflict_share()));
}

void roofline_lines(std::string& text, const KernelSummary& s) {
  const Roofline r = roofline(s);
  if (r.roof.empty()) return;
  text += fmt::format("roofline: {}, {} of {} that {} allows; {} of {} alone\n",
                      scaled(r.operations, "FLOP/s"), percent(r.reached()), scaled(r.attainable, "FLOP/s"),
                      r.roof, scaled(r.peak, "FLOP/s"), r.peak_unit);
  std::vector<std::string> parts;
  for (size_t n = 0; n < memory_level_count; ++n)
    if (r.intensity[n] > 0)
      parts.push_back(fmt::format("{:.3g} {}", r.intensity[n], name(static_cast<MemoryLevel>(n))));
  if (!parts.empty()) text += fmt::format("  FLOP a byte: {}\n", fmt::join(parts, ", "));
}

// Of a profile that nothing else is known of.
void profile_lines(std::string& text, const KernelProfile& p) {
  text += fmt::format("{}: {}, ", printable(p.kernel, whole_text), p.source);
  text += p.origin == Origin::Counters ? "of whole dispatches: there is nothing by instruction"
                                       : fmt::format("{} {}", scaled(p.total(), ""), unit_of(p.origin));
  if (p.unplaced > 0) text += fmt::format(", {} more at no instruction of it", scaled(p.unplaced, ""));
  text += "\n";
  for (const std::string& note : p.notes) text += fmt::format("note: {}\n", note);
}

void counter_lines(std::string& text, const KernelReport& report) {
  const auto& counters = report.context->profile->counters;
  if (!report.figures.empty()) text += "by the counters:\n";
  for (const CounterFigure& f : report.figures)
    text += fmt::format("  {:<36} {}\n", f.name,
                        f.unit == CounterFigure::Unit::Share   ? percent(f.value)
                        : f.unit == CounterFigure::Unit::Bytes ? scaled(f.value, "B")
                                                               : fmt::format("{:.4g}", f.value));
  if (!counters.empty()) text += "counters:\n";
  for (const auto& [counter, value] : counters) text += fmt::format("  {:<36} {:.6g}\n", counter, value);
}

// Of lines that do not come from a measured profile.
std::string not_measured(const KernelReport& report, std::string_view from) {
  return report.context->profile->origin == Origin::Modelled ? "" : fmt::format(" ({}, not measured)", from);
}

std::string ids(const KernelCode& code, const std::vector<Index>& list) {
  constexpr size_t most = 12;
  std::vector<std::string> parts;
  for (size_t n = 0; n < std::min(most, list.size()); ++n)
    parts.push_back(fmt::format("{} {}", code.id(list[n]), code.instruction(list[n]).base_mnemonic));
  if (list.size() > most) parts.push_back(fmt::format("{} more", list.size() - most));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void loop_lines(std::string& text, const KernelReport& report) {
  if (report.loops.empty()) return;
  const KernelCode& code = report.context->path->code();
  text += fmt::format("innermost loops, cycles a turn of one wave{}:\n",
                      not_measured(report, "by the code and machine model " + report.context->model));
  const bool traced = report.context->profile->origin == Origin::ThreadTrace;
  for (const LoopBound& l : report.loops) {
    text += fmt::format("  {}: {} instructions; to issue {:.0f}, chain from turn to turn {:.0f} (of one turn "
                        "{:.0f}), alone {:.0f}",
                        code.id(l.first), l.body.size(), l.issue, l.carried, l.chain, l.alone);
    if (l.measured > 0)
      text += fmt::format(", {} {:.0f}", traced ? "in the trace" : "with all waves", l.measured);
    if (l.pipe > 0)
      text += fmt::format("; {} {:.0f}, full with {:.1f} waves a SIMD", timing::name(l.busiest), l.pipe,
                          l.waves_to_fill());
    text += "\n";
    if (l.bound_by_chain()) text += fmt::format("    chain: {}\n", ids(code, l.critical));
  }
}

void register_lines(std::string& text, const KernelReport& report) {
  const RegisterPressure& p = *report.context->pressure;
  if (p.most.at == program::no_index) return;
  text +=
      fmt::format("vector registers{}: {} allocated for {} waves a SIMD, at most {} live (at {}), {} SGPRs "
                  "there\n",
                  not_measured(report, "by the code"), p.allocated, p.waves, p.most.vectors(),
                  report.context->path->code().id(p.most.at), p.most.sgprs);
  if (p.to_save != 0)
    text += fmt::format("  {} waves need {} or less: save {}{}\n", p.waves + 1, p.next_budget, p.to_save,
                        p.next_is_renaming() ? ", which naming alone could" : "");
}

// --- JSON

Json level_json(const LevelUse& level) {
  Json json = {{"level", name(level.level)},
               {"read_bytes", level.read},
               {"written_bytes", level.written},
               {"peak_bytes_per_second", level.peak},
               {"share", level.share}};
  json["hit_rate"] = level.hit_rate ? Json(*level.hit_rate) : Json();
  return json;
}

Json stalls_json(const timing::PerStall<double>& stalled) {
  Json json = Json::object();
  for (size_t n = 0; n < timing::stall_count; ++n)
    json[std::string(timing::name(static_cast<Stall>(n)))] = stalled[n];
  return json;
}

Json roofline_json(const KernelSummary& s) {
  const Roofline r = roofline(s);
  Json intensity = Json::object();
  for (size_t n = 0; n < memory_level_count; ++n)
    intensity[std::string(name(static_cast<MemoryLevel>(n)))] = r.intensity[n];
  return {{"operations_per_second", r.operations},
          {"operations_per_byte", intensity},
          {"peak", r.peak},
          {"peak_unit", r.peak_unit},
          {"attainable", r.attainable},
          {"roof", r.roof}};
}

Json summary_json(const KernelSummary& s) {
  const Limiter l = limiter(s);
  Json mix = Json::object(), pipes = Json::object(), levels = Json::array();
  for (const auto& [kind, count] : s.mix) mix[std::string(kind)] = count;
  for (const PipeUse& p : s.pipes)
    pipes[std::string(timing::name(p.pipe))] = {
        {"instructions", p.instructions}, {"share", p.share}, {"contended", p.contended}};
  for (const LevelUse& level : s.levels) levels.push_back(level_json(level));
  return {{"launches", s.launches},
          {"seconds", s.seconds},
          {"share_of_plan", s.share_of_plan},
          {"cycles", s.cycles},
          {"clock_mhz", s.clock_mhz},
          {"limiter", {{"bound", name(l.bound)}, {"share", l.share}, {"sentence", l.sentence}}},
          {"workgroups", s.workgroups},
          {"waves_per_workgroup", s.waves_per_workgroup},
          {"waves_per_simd", s.waves},
          {"used_compute_units", s.used_cus},
          {"occupancy", {{"waves_per_simd", s.occupancy.waves_per_simd}, {"limiters", s.occupancy.limiters}}},
          {"wave_cycles", {{"busy", s.busy}, {"stalled", stalls_json(s.stalled)}}},
          {"instructions", s.instructions},
          {"mix", mix},
          {"pipes", pipes},
          {"dispatch_share", s.dispatch_share},
          {"memory", levels},
          {"misses_in_flight",
           {{"places", s.miss_places.places},
            {"share", s.miss_places.share},
            {"wait_cycles", s.miss_places.wait},
            {"taken_cycles", s.miss_places.taken}}},
          {"scalar_hit_rate", s.scalar_hit_rate},
          {"code_hit_rate", s.code_hit_rate},
          {"coalescing",
           {{"accesses", s.coalescing.accesses},
            {"lines", s.coalescing.lines},
            {"least_lines", s.coalescing.least_lines}}},
          {"lds", {{"accesses", s.lds_accesses}, {"conflict_share", s.lds_conflict_share()}}},
          {"roofline", roofline_json(s)}};
}

Json loops_json(const KernelReport& report) {
  const KernelCode& code = report.context->path->code();
  Json list = Json::array();
  for (const LoopBound& l : report.loops) {
    Json chain = Json::array();
    for (const Index i : l.critical) chain.push_back(code.id(i));
    list.push_back({{"first", code.id(l.first)},
                    {"depth", l.depth},
                    {"instructions", l.body.size()},
                    {"turns", l.turns},
                    {"issue", l.issue},
                    {"chain", l.chain},
                    {"carried", l.carried},
                    {"alone", l.alone},
                    {"with_all_waves", l.measured},
                    {"busiest_pipe", timing::name(l.busiest)},
                    {"pipe", l.pipe},
                    {"critical", chain}});
  }
  return list;
}

// What an editor of any window has to know of the kernel.
Json object_json(const WindowContext& context) {
  const KernelCode& code = context.path->code();
  const codeobject::KernelInspection& r = code.resources();
  Json user = Json::array();
  for (const auto& [what, count] : r.user_sgprs) user.push_back({{"what", what}, {"count", count}});
  return {{"target", code.program().target.name()},
          {"wave_size", isa::limits(code.program().target).wave_size},
          {"workgroup_size", context.workgroup_size != 0 ? context.workgroup_size : r.workgroup_size},
          {"lds_bytes", r.lds_bytes + context.dynamic_lds},
          {"scratch_bytes", r.scratch_bytes},
          {"kernarg_bytes", r.kernarg_bytes},
          {"user_sgprs", user}};
}

// Of the profile, what lies in functions that the kernel calls.
double share_outside(const WindowContext& context) {
  double outside = 0;
  for (const InstructionTime& i : context.profile->instructions)
    if (context.path->code().at(i.address) == program::no_index) outside += i.total();
  const double total = context.profile->total();
  return total > 0 ? outside / total : 0;
}

Json registers_json(const KernelReport& report) {
  const RegisterPressure& p = *report.context->pressure;
  const KernelCode& code = report.context->path->code();
  Json points = Json::array();
  for (const PressurePoint& point : p.points)
    points.push_back({code.id(point.at), point.vgprs, point.agprs, point.sgprs});
  return {{"allocated", p.allocated},
          {"most_live", p.most.vectors()},
          {"most_live_at", p.most.at == program::no_index ? "" : code.id(p.most.at)},
          {"waves", p.waves},
          {"room", p.room},
          {"next_budget", p.next_budget},
          {"to_save", p.to_save},
          {"live", points}};
}

} // namespace

std::string report_text(const KernelReport& report, size_t window_lines) {
  std::string text;
  if (report.summary) {
    const KernelSummary& s = *report.summary;
    time_lines(text, s), stall_lines(text, s), instruction_lines(text, s), memory_lines(text, s);
    roofline_lines(text, s);
  } else {
    profile_lines(text, *report.context->profile);
    counter_lines(text, report);
  }
  if (const double outside = share_outside(*report.context); outside >= least_shown)
    text += fmt::format("{} of the time in functions that the kernel calls, where no windows are\n",
                        percent(outside));
  loop_lines(text, report);
  register_lines(text, report);
  for (size_t n = 0; n < report.windows.size(); ++n)
    text += "\n" + window_text(report.windows[n], n + 1, *report.context, window_lines);
  return text;
}

Json report_json(const KernelReport& report) {
  const KernelProfile& profile = *report.context->profile;
  Json json = {{"version", 1},
               {"kernel", profile.kernel},
               {"source", profile.source},
               {"unit", unit_of(profile.origin)},
               {"machine_model", report.context->model},
               {"notes", profile.notes},
               {"counters", profile.counters},
               {"unplaced", profile.unplaced},
               {"object", object_json(*report.context)},
               {"share_outside", share_outside(*report.context)}};
  if (report.summary) json["summary"] = summary_json(*report.summary);
  for (const CounterFigure& f : report.figures) json["figures"][f.name] = f.value;
  json["loops"] = loops_json(report);
  json["registers"] = registers_json(report);
  json["windows"] = Json::array();
  for (const HotWindow& w : report.windows) json["windows"].push_back(window_json(w, *report.context));
  return json;
}

std::string annotated_listing(const WindowContext& context) {
  const KernelCode& code = context.path->code();
  const auto labels = code.program().labels_by_entry();
  std::string text = fmt::format("{} ({} instructions), {}\n", code.function().name,
                                 code.code_end() - code.function().begin, context.profile->source);
  for (const std::string& note : context.profile->notes) text += fmt::format("note: {}\n", note);
  for (Index i = code.function().begin; i < code.code_end(); ++i) {
    if (const auto at = labels.find(i); at != labels.end())
      for (const uint32_t l : at->second) text += code.program().labels[l].name + ":\n";
    const std::string line =
        fmt::format("{}: {}", code.id(i), program::print(code.program(), i, *context.codec));
    const std::string note = time_note(context.path->time(i), *context.profile);
    text += note.empty() ? line + "\n" : fmt::format("{:<68} ; {}\n", line, note);
  }
  return text;
}

Json annotated_listing_json(const WindowContext& context) {
  const KernelCode& code = context.path->code();
  Json lines = Json::array();
  for (Index i = code.function().begin; i < code.code_end(); ++i) {
    Json line = {{"id", code.id(i)}, {"text", program::print(code.program(), i, *context.codec)}};
    if (const InstructionTime* const t = context.path->time(i)) {
      line["issues"] = t->issues, line["busy"] = t->busy, line["stalled"] = stalls_json(t->stalled);
      line["unexplained"] = t->unexplained;
    }
    lines.push_back(std::move(line));
  }
  return {{"function", code.function().name},
          {"source", context.profile->source},
          {"unit", unit_of(context.profile->origin)},
          {"notes", context.profile->notes},
          {"instructions", lines}};
}

} // namespace asmevo::profile
