// Where the time goes, in K0 and in the best: what limits it, what waves wait for, units and memory.
#include "report/run_page.h"

#include <algorithm>
#include <cmath>

namespace asmevo::report {

namespace {

constexpr size_t most_kernels = 4; // the longest ones
constexpr double least_share_shown = 0.005;

struct Pair {
  std::string what;
  double k0 = 0, best = 0; // shares
};

const Json* summary_of(const gate::NodeProfile& profile, const std::string& kernel) {
  const auto k = std::ranges::find(profile.kernels, kernel, &gate::KernelTimes::kernel);
  if (k == profile.kernels.end() || !k->report.contains("summary")) return nullptr;
  return &k->report["summary"];
}

double number(const Json& j, std::string_view key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() && std::isfinite(found->get<double>()) ? found->get<double>()
                                                                                       : 0;
}

std::string pair_rows(const std::vector<Pair>& pairs, bool with_best) {
  std::string rows;
  for (const Pair& p : pairs) {
    rows += fmt::format("<li><span>{}</span><div>{}<b>{}</b>", html_text(p.what), bar(p.k0, "before"),
                        percent_text(p.k0));
    if (with_best) rows += fmt::format("{}<b>{}</b>", bar(p.best, "after"), percent_text(p.best));
    rows += "</div></li>\n";
  }
  return "<ul class=\"pairs\">\n" + rows + "</ul>\n";
}

// What waves do with their cycles, in shares of all that K0's waves had.
std::vector<Pair> wave_cycles(const Json& k0, const Json* best) {
  const auto total = [](const Json& s) {
    double sum = number(s.at("wave_cycles"), "busy");
    for (const auto& [reason, cycles] : s.at("wave_cycles").at("stalled").items())
      sum += cycles.get<double>();
    return sum;
  };
  const double whole = std::max(total(k0), 1e-30);
  std::vector<Pair> pairs;
  const auto add = [&](std::string what, double before, double after) {
    if (before / whole >= least_share_shown || after / whole >= least_share_shown)
      pairs.push_back({std::move(what), before / whole, after / whole});
  };
  const Json& a = k0.at("wave_cycles");
  const Json& b = best != nullptr ? best->at("wave_cycles") : a;
  for (const auto& [reason, cycles] : a.at("stalled").items())
    add(reason, cycles.get<double>(), number(b.at("stalled"), reason));
  std::ranges::stable_sort(
      pairs, [](const Pair& x, const Pair& y) { return std::max(x.k0, x.best) > std::max(y.k0, y.best); });
  add("busy", number(a, "busy"), number(b, "busy"));
  return pairs;
}

std::vector<Pair> pipes(const Json& k0, const Json* best) {
  std::vector<Pair> pairs;
  for (const auto& [pipe, use] : k0.at("pipes").items()) {
    const double before = number(use, "share");
    const double after =
        best != nullptr && best->at("pipes").contains(pipe) ? number(best->at("pipes")[pipe], "share") : 0;
    if (before >= least_share_shown || after >= least_share_shown) pairs.push_back({pipe, before, after});
  }
  return pairs;
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t u = 0;
  for (; bytes >= 999.5 && u + 1 < std::size(units); ++u) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.95 && u > 0 ? 1 : 0, units[u]);
}

// Level by level what it carries, how much of what it could, and how much hits.
std::string memory_table(const Json& k0, const Json* best) {
  std::string rows;
  const Json& before = k0.at("memory");
  for (size_t n = 0; n < before.size(); ++n) {
    const Json* after = best != nullptr && n < best->at("memory").size() ? &best->at("memory")[n] : nullptr;
    const auto both = [&](const auto& figure) {
      std::string from = figure(before[n]);
      if (after == nullptr || figure(*after) == from) return from;
      return fmt::format("{} <span class=\"to\">\u2192 {}</span>", from, figure(*after));
    };
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_text(before[n].at("level").get<std::string>()),
                        both([](const Json& l) { return bytes_text(number(l, "read_bytes")); }),
                        both([](const Json& l) { return bytes_text(number(l, "written_bytes")); }),
                        both([](const Json& l) { return percent_text(number(l, "share")); }),
                        both([](const Json& l) {
                          return l.at("hit_rate").is_number() ? percent_text(l.at("hit_rate").get<double>())
                                                              : std::string("-");
                        }));
  }
  return "<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th scope=\"col\">level</th><th "
         "scope=\"col\">read</th><th scope=\"col\">written</th><th scope=\"col\">of its peak</th><th "
         "scope=\"col\">hits</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string limiters(const Json& k0, const Json* best) {
  const auto line = [](std::string_view what, const Json& s) {
    return fmt::format("<dt>{}</dt><dd>{}</dd>\n", what,
                       html_text(s.at("limiter").at("sentence").get<std::string>(), long_text));
  };
  return "<dl class=\"limiters\">\n" + line("K0", k0) + (best != nullptr ? line("best", *best) : "") +
         "</dl>\n";
}

} // namespace

std::string profile_section(const RunReport& r) {
  std::string text;
  const bool changed = r.status.best != 0;
  for (size_t n = 0; n < std::min(r.k0_profile.kernels.size(), most_kernels); ++n) {
    const gate::KernelTimes& k = r.k0_profile.kernels[n];
    const Json* k0 = summary_of(r.k0_profile, k.kernel);
    const Json* best = changed ? summary_of(r.best_profile, k.kernel) : nullptr;
    if (k0 == nullptr) continue;
    if (r.k0_profile.kernels.size() > 1)
      text += fmt::format("<h3>{} <small>{} of K0's time</small></h3>\n", html_text(k.kernel, short_text),
                          percent_text(k.share));
    text += limiters(*k0, best);
    text += "<div class=\"columns\">\n<div><h4>What waves do, in shares of the cycles of K0's waves</h4>\n" +
            pair_rows(wave_cycles(*k0, best), best != nullptr) +
            "</div>\n<div><h4>Units, busy for this share of the kernel's time</h4>\n" +
            pair_rows(pipes(*k0, best), best != nullptr) + "</div>\n</div>\n<h4>Memory</h4>\n" +
            memory_table(*k0, best);
  }
  if (!text.empty() && changed)
    text = "<p class=\"legend\"><span><i class=\"key before\"></i>K0</span> <span><i class=\"key "
           "after\"></i>best</span></p>\n" +
           text;
  return section("profile", "Where the time goes", text);
}

} // namespace asmevo::report
