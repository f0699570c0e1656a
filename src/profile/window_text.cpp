#include "profile/window_text.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::profile {

namespace {

using Json = nlohmann::ordered_json;
using program::Index;
using timing::Stall;

constexpr size_t widest = 160; // characters of a line

std::string cut(std::string line) {
  if (line.size() > widest) line = line.substr(0, widest - 3) + "...";
  return line;
}

// Registers that are written as one where they follow each other: of a file, or the halves of a pair.
unsigned register_file(isa::RegUnit u) {
  if (isa::is_vgpr(u)) return 0;
  if (isa::is_agpr(u)) return 1;
  if (isa::is_sgpr(u)) return 2;
  if (u >= isa::unit::ttmp0 && u < isa::unit::m0) return 3;
  const bool halves = u < isa::unit::ttmp0 || (u >= isa::unit::exec && u < isa::unit::scc);
  return halves ? 4 + (u - isa::unit::flat_scratch) / 2 : 0x100U + u;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// "WAITCNT 61.0, BARRIER_WAIT 3.1", in per cent of the kernel's time, most first.
std::string stall_list(const timing::PerStall<double>& stalled, double unexplained, double total) {
  constexpr double least = 0.05; // per cent
  std::vector<std::pair<double, std::string>> list;
  for (size_t n = 0; n < timing::stall_count; ++n)
    list.emplace_back(percent(stalled[n], total), timing::name(static_cast<Stall>(n)));
  list.emplace_back(percent(unexplained, total), "not explained");
  std::ranges::stable_sort(list, std::greater{}, &std::pair<double, std::string>::first);
  std::vector<std::string> parts;
  for (const auto& [share, reason] : list)
    if (share >= least) parts.push_back(fmt::format("{} {:.1f}", reason, share));
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Writer {
 public:
  Writer(const HotWindow& w, const WindowContext& c)
      : w_(w), c_(c), code_(c.path->code()), labels_(code_.program().labels_by_entry()) {}

  std::string text(size_t number, size_t lines) {
    lines = std::max<size_t>(lines, least_lines);
    constexpr size_t least_listed = 8;
    header(number);
    if (lines_.size() + least_listed > lines) {
      wraps_ = false;
      lines_.clear();
      header(number);
    }
    say(fmt::format("  instructions (id: text; of the kernel's {} in %):", measured() ? unit() : "time"));
    listing(lines - lines_.size());
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

  Json json() const {
    Json instructions = Json::array();
    for (Index i = w_.window.begin; i < w_.window.end; ++i) instructions.push_back(instruction_json(i));
    return {{"first", w_.window.first.text()},
            {"last", w_.window.last.text()},
            {"kind", name(w_.kind)},
            {"loop_depth", w_.window.loop_depth},
            {"worst", code_.id(w_.worst)},
            {"share_of_time", percent(w_.total, c_.profile->total()) / 100},
            {"share_to_win", w_.gain},
            {"busiest_pipe", timing::name(w_.pipe)},
            {"pipe_share", w_.pipe_share},
            {"stalled", stalls_json(w_.stalled, w_.unexplained)},
            {"awaited", ids(w_.awaited)},
            {"producers", outside_json(w_.producers)},
            {"consumers", outside_json(w_.consumers)},
            {"live_in", register_list(w_.window.live_in, whole_text)},
            {"live_out", register_list(w_.window.live_out, whole_text)},
            {"in_flight_at_entry", flight_json(w_.at_entry)},
            {"in_flight_at_exit", flight_json(w_.at_exit)},
            {"most_live_vector_registers", w_.most_live},
            {"barriers", w_.barriers},
            {"instructions", instructions}};
  }

 private:
  static constexpr size_t least_lines = 24;

  bool measured() const { return c_.profile->origin != Origin::Modelled; }
  std::string_view unit() const { return unit_of(c_.profile->origin); }

  void say(std::string line) { lines_.push_back(cut(std::move(line))); }

  // A list: where there is room for more lines, it goes on in the next.
  void say_list(std::string line) {
    while (wraps_ && line.size() > widest) {
      const size_t end = line.rfind(", ", widest - 1);
      if (end == std::string::npos || end < widest / 2) break;
      lines_.push_back(line.substr(0, end + 1));
      line = "    " + line.substr(end + 2);
    }
    say(std::move(line));
  }

  // --- the numbers and what surrounds the window

  void header(size_t number) {
    const double total = c_.profile->total();
    const std::string time = measured() ? fmt::format("its {}", unit()) : "the time";
    say(fmt::format("window {}: {} to {} ({} instructions, {}, loop depth {}), {:.1f} % of {}, up to "
                    "{:.1f} % could be won{}",
                    number, w_.window.first.text(), w_.window.last.text(), w_.window.end - w_.window.begin,
                    name(w_.kind), w_.window.loop_depth, percent(w_.total, total), time, 100 * w_.gain,
                    measured() ? " (estimated, not measured)" : ""));
    say_list(fmt::format("  stalls, in % of the kernel's {} ({}): {}", measured() ? unit() : "time",
                         c_.profile->source, stall_list(w_.stalled, w_.unexplained, total)));
    say_list("  most at " + worst());
    if (measured()) say("  read from the code, not from the profile:");
    if (w_.pipe_share > 0)
      say(fmt::format("  busiest pipe: {}, needed for {:.0f} % of the time in it{}", timing::name(w_.pipe),
                      100 * w_.pipe_share, measured() ? " (by machine model " + c_.model + ")" : ""));
    if (!w_.awaited.empty()) say_list("  its waits wait for: " + named_list(w_.awaited));
    if (!w_.producers.empty()) say_list("  made before it: " + outside(w_.producers));
    if (!w_.consumers.empty()) say_list("  used behind it: " + outside(w_.consumers));
    say_list("  live in: " + register_list(w_.window.live_in, most_registers()));
    say_list("  live out: " + register_list(w_.window.live_out, most_registers()));
    say_list(fmt::format("  in flight at entry: {}; at exit: {}", flight(w_.at_entry), flight(w_.at_exit)));
    say("  vector registers: " + budget());
    say("  occupancy: " + occupancy());
    for (std::string& line : rules()) say(std::move(line));
  }

  // Characters of a list of registers: three lines, or one.
  size_t most_registers() const { return (wraps_ ? 3 : 1) * (widest - 40); }

  // Where most is lost, and to what.
  std::string worst() const {
    std::string text =
        fmt::format("{}: {}", named(w_.worst), time_note(c_.path->time(w_.worst), *c_.profile));
    const InFlight waits = awaited_by(*c_.path, w_.worst);
    for (const auto* list : {&waits.vector, &waits.lds, &waits.scalar})
      if (!list->empty()) text += fmt::format("; waits for {}", named_list(*list, 3));
    constexpr double noteworthy = 0.1; // of the time there
    const InstructionTime* const t = c_.path->time(w_.worst);
    const Index barrier = barrier_before(*c_.path, w_.worst);
    if (t != nullptr && barrier != program::no_index &&
        t->stalled[static_cast<size_t>(Stall::BarrierWait)] > noteworthy * t->total())
      text += fmt::format("; stands at the barrier {}", code_.id(barrier));
    return text;
  }

  std::string budget() const {
    const RegisterPressure& p = *c_.pressure;
    std::string text =
        fmt::format("at most {} of {} allocated are live in it; they allow {} waves a SIMD, and {} "
                    "registers more would, too",
                    w_.most_live, p.allocated, p.waves, p.room);
    if (p.to_save != 0) text += fmt::format("; {} (save {}) allow {}", p.next_budget, p.to_save, p.waves + 1);
    return text;
  }

  std::string occupancy() const {
    const codeobject::Occupancy o = c_.occupancy.value_or(code_.resources().occupancy);
    return fmt::format("{:.1f} waves a SIMD, limited by {}", o.waves_per_simd, fmt::join(o.limiters, ", "));
  }

  // "s[0:1] kernarg_segment_ptr", "s2 workgroup_id_x", ...
  std::vector<std::string> registers_at_start() const {
    const codeobject::KernelInspection& r = code_.resources();
    const isa::Target& target = code_.program().target;
    std::vector<std::string> list;
    unsigned next = 0;
    const auto place = [&](std::string_view what, unsigned count) {
      const isa::RegRange range{static_cast<isa::RegUnit>(isa::unit::scalar0 + next),
                                static_cast<uint16_t>(count)};
      list.push_back(fmt::format("{} {}", isa::name(range), what));
      next += count;
    };
    for (const auto& [what, count] : r.user_sgprs) place(what, count);
    if (r.kernel == nullptr) return list;
    next = static_cast<unsigned>(get(r.kernel->descriptor, target, "user_sgpr_count"));
    for (const char* what : {"workgroup_id_x", "workgroup_id_y", "workgroup_id_z", "workgroup_info"})
      if (get(r.kernel->descriptor, target, fmt::format("enable_sgpr_{}", what)) != 0) place(what, 1);
    list.emplace_back("v0 work-item ids");
    return list;
  }

  std::vector<std::string> rules() const {
    const codeobject::KernelInspection& r = code_.resources();
    const uint64_t size = c_.workgroup_size != 0 ? c_.workgroup_size : r.workgroup_size;
    return {
        fmt::format(
            "  kernel: {} on {}, 64 lanes a wave, workgroups of {} work-items, LDS {} bytes, scratch {} "
            "bytes, kernarg {} bytes, barriers inside: {}",
            c_.profile->kernel, code_.program().target.name(),
            size != 0 ? std::to_string(size) : "unknown many", r.lds_bytes + c_.dynamic_lds, r.scratch_bytes,
            r.kernarg_bytes, w_.barriers),
        fmt::format("  set up at the kernel's start: {}", fmt::join(registers_at_start(), ", ")),
        "  to keep: name, kernarg layout, workgroup limits, user SGPRs; what is live out; every wave meets "
        "the same barriers; waits before uses"};
  }

  // --- instructions

  std::string named(Index i) const {
    return fmt::format("{} ({})", code_.id(i), code_.instruction(i).base_mnemonic);
  }
  std::string named_list(const std::vector<Index>& list, size_t most = 6) const {
    std::vector<std::string> parts;
    for (size_t n = 0; n < std::min(most, list.size()); ++n) parts.push_back(named(list[n]));
    if (list.size() > most) parts.push_back(fmt::format("{} more", list.size() - most));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  std::string outside(const std::vector<OutsideUse>& list) const {
    constexpr size_t most = 5;
    std::vector<std::string> parts;
    for (size_t n = 0; n < std::min(most, list.size()); ++n)
      parts.push_back(fmt::format("{} {}", isa::name(list[n].reg), named(list[n].at)));
    if (list.size() > most) parts.push_back(fmt::format("{} more", list.size() - most));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  std::string flight(const InFlight& f) const {
    if (f.empty()) return "nothing";
    std::vector<std::string> parts;
    const auto add = [&](std::string_view what, const std::vector<Index>& list) {
      if (!list.empty())
        parts.push_back(fmt::format("{} {} (youngest {})", list.size(), what, code_.id(list.front())));
    };
    add("of vmcnt", f.vector), add("of lgkmcnt, LDS", f.lds), add("of lgkmcnt, scalar", f.scalar);
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string instruction_line(Index i) const {
    std::string line = fmt::format("    {}: {}", code_.id(i), program::print(code_.program(), i, *c_.codec));
    const std::string note = time_note(c_.path->time(i), *c_.profile);
    if (note.empty()) return line;
    constexpr size_t column = 72;
    line.resize(std::max(line.size(), column), ' ');
    return line + " ; " + note;
  }

  double importance(Index i) const {
    if (i == w_.worst) return 1e300;
    if (std::ranges::binary_search(w_.awaited, i)) return 1e299;
    const InstructionTime* const t = c_.path->time(i);
    return t == nullptr ? 0 : t->total();
  }

  // Which entries to show so that they, their labels and the lines that stand for the rest are no more than
  // `room`.
  std::vector<bool> chosen(size_t room) const {
    const Index begin = w_.window.begin, count = w_.window.end - begin;
    std::vector<bool> shown(count, true);
    if (lines_for(shown) <= room) return shown;
    std::vector<Index> order(count);
    for (Index k = 0; k < count; ++k) order[k] = k;
    std::ranges::stable_sort(order, std::greater{}, [&](Index k) { return importance(begin + k); });
    shown.assign(count, false);
    for (const Index k : order) {
      shown[k] = true;
      if (lines_for(shown) > room) shown[k] = false;
    }
    // One that is left out alone costs a line, too.
    for (Index k = 0; k < count; ++k) {
      const bool alone = !shown[k] && (k == 0 || shown[k - 1]) && (k + 1 == count || shown[k + 1]);
      if (alone && label_count(begin + k) == 0) shown[k] = true;
    }
    return shown;
  }
  size_t lines_for(const std::vector<bool>& shown) const {
    size_t lines = 0;
    for (size_t k = 0; k < shown.size(); ++k) {
      if (!shown[k] && k != 0 && !shown[k - 1]) continue;
      ++lines;
      if (shown[k]) lines += label_count(w_.window.begin + static_cast<Index>(k));
    }
    return lines;
  }
  size_t label_count(Index i) const {
    const auto at = labels_.find(i);
    return at == labels_.end() ? 0 : at->second.size();
  }

  void listing(size_t room) {
    const std::vector<bool> shown = chosen(room);
    for (size_t k = 0; k < shown.size(); ++k) {
      const Index i = w_.window.begin + static_cast<Index>(k);
      if (shown[k]) {
        if (const auto at = labels_.find(i); at != labels_.end())
          for (const uint32_t l : at->second) say("   " + code_.program().labels[l].name + ":");
        say(instruction_line(i));
        continue;
      }
      size_t last = k;
      while (last + 1 < shown.size() && !shown[last + 1]) ++last;
      const std::string end = code_.id(w_.window.begin + static_cast<Index>(last));
      say(last == k ? fmt::format("    ... 1 instruction, {}", end)
                    : fmt::format("    ... {} instructions, {} to {}", last - k + 1, code_.id(i), end));
      k = last;
    }
  }

  // --- JSON

  static Json stalls_json(const timing::PerStall<double>& stalled, double unexplained) {
    Json json = Json::object();
    for (size_t n = 0; n < timing::stall_count; ++n)
      if (stalled[n] > 0) json[std::string(timing::name(static_cast<Stall>(n)))] = stalled[n];
    if (unexplained > 0) json["unexplained"] = unexplained;
    return json;
  }
  Json ids(const std::vector<Index>& list) const {
    Json json = Json::array();
    for (const Index i : list) json.push_back(code_.id(i));
    return json;
  }
  Json outside_json(const std::vector<OutsideUse>& list) const {
    Json json = Json::array();
    for (const OutsideUse& use : list)
      json.push_back({{"id", code_.id(use.at)}, {"registers", isa::name(use.reg)}});
    return json;
  }
  Json flight_json(const InFlight& f) const {
    return {{"vmcnt", ids(f.vector)}, {"lds", ids(f.lds)}, {"scalar", ids(f.scalar)}};
  }
  Json instruction_json(Index i) const {
    Json json = {{"id", code_.id(i)}, {"text", program::print(code_.program(), i, *c_.codec)}};
    if (const auto at = labels_.find(i); at != labels_.end())
      for (const uint32_t l : at->second) json["labels"].push_back(code_.program().labels[l].name);
    if (const InstructionTime* const t = c_.path->time(i)) {
      json["issues"] = t->issues, json["busy"] = t->busy;
      json["stalled"] = stalls_json(t->stalled, t->unexplained);
    }
    return json;
  }

  const HotWindow& w_;
  const WindowContext& c_;
  const KernelCode& code_;
  std::unordered_map<Index, std::vector<uint32_t>> labels_;
  std::vector<std::string> lines_;
  bool wraps_ = true;
};

} // namespace

std::string register_list(const isa::RegSet& set, size_t most) {
  std::vector<isa::RegRange> ranges;
  set.for_each([&](isa::RegUnit u) {
    const bool follows = !ranges.empty() && ranges.back().first + ranges.back().count == u;
    if (follows && register_file(u) == register_file(ranges.back().first))
      ++ranges.back().count;
    else
      ranges.push_back({u, 1});
  });
  std::string text;
  for (const isa::RegRange& r : ranges) {
    const std::string one = isa::name(r);
    if (text.size() + one.size() + 2 > most)
      return fmt::format("{}{}... ({} registers)", text, text.empty() ? "" : ", ", set.size());
    text += (text.empty() ? "" : ", ") + one;
  }
  return text.empty() ? "nothing" : text;
}

std::string time_note(const InstructionTime* t, const KernelProfile& profile) {
  if (t == nullptr) return "";
  const double total = profile.total();
  const bool cycles = unit_of(profile.origin) == "cycles";
  std::string text =
      t->issues > 0 ? fmt::format("{:.0f} {}, ", t->issues, cycles ? "issues" : "samples issued") : "";
  text += fmt::format("{:.2f} %", percent(t->total(), total));
  const std::string stalls = stall_list(t->stalled, t->unexplained, total);
  return stalls.empty() ? text : text + ": " + stalls;
}

std::string window_text(const HotWindow& window, size_t number, const WindowContext& context, size_t lines) {
  return Writer(window, context).text(number, lines);
}

nlohmann::ordered_json window_json(const HotWindow& window, const WindowContext& context) {
  return Writer(window, context).json();
}

} // namespace asmevo::profile
