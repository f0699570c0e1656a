#include "report/search_table.h"

#include "report/html.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace asmevo::report {

namespace {

using gate::Json;

constexpr double far_from = 1.5; // the paper's last column

uint64_t commits_of(const BatchRow& r) {
  return r.tally.outcomes[static_cast<size_t>(gate::Outcome::Committed)];
}

bool is_over(const BatchRow& r) {
  return r.same_as.empty() && r.exit_code && (*r.exit_code == 0 || *r.exit_code == 1);
}

std::string group_of(const BatchRow& r) {
  return r.kernel.substr(0, r.kernel.find('_'));
}

SearchGroup group(std::string name, const std::vector<const BatchRow*>& rows) {
  SearchGroup g;
  g.name = std::move(name), g.kernels = rows.size();
  if (rows.empty()) return g;
  std::vector<double> speedups;
  double logarithms = 0, structural = 0, attempts = 0, commits = 0;
  for (const BatchRow* r : rows) {
    const double speedup = r->verified ? r->speedup : 1;
    speedups.push_back(speedup);
    logarithms += std::log(speedup);
    structural += std::log(r->verified ? r->structural.value_or(1) : 1);
    attempts += static_cast<double>(r->tally.attempts), commits += static_cast<double>(commits_of(*r));
    g.improved += r->verified, g.far += speedup > far_from;
  }
  const auto count = static_cast<double>(rows.size());
  std::ranges::sort(speedups);
  const size_t middle = speedups.size() / 2;
  g.median = speedups.size() % 2 == 1 ? speedups[middle] : (speedups[middle - 1] + speedups[middle]) / 2;
  g.largest = speedups.back();
  g.mean = std::exp(logarithms / count), g.structural_mean = std::exp(structural / count);
  g.attempts = attempts / count, g.commits = commits / count;
  g.commit_rate = attempts > 0 ? commits / attempts : 0;
  return g;
}

std::string device_of(const BatchSummary& s) {
  for (const BatchRow& r : s.rows)
    if (!r.device.empty()) return r.device;
  return "";
}

// The largest speedup first.
std::vector<const BatchRow*> ranked(const BatchSummary& s) {
  std::vector<const BatchRow*> rows;
  for (const BatchRow& r : s.rows)
    if (is_over(r)) rows.push_back(&r);
  std::ranges::stable_sort(rows, std::greater{},
                           [](const BatchRow* r) { return r->verified ? r->speedup : 1; });
  return rows;
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text, 200)) out += c == '|' ? '/' : c;
  return out;
}

// "level2_46_conv_tanh_avgpool.gfx942": its words, without those that say where it is from.
std::vector<std::string> operators_of(const BatchRow& r) {
  const std::string name = r.kernel.substr(0, r.kernel.find('.'));
  std::vector<std::string> words;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('_', at), name.size());
    const std::string word = name.substr(at, end - at);
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (!word.empty() && !is_number && !word.starts_with("level") && word != "llm") words.push_back(word);
    at = end + 1;
  }
  return words;
}

} // namespace

std::vector<SearchGroup> search_groups(const BatchSummary& s) {
  std::map<std::string, std::vector<const BatchRow*>> by_group;
  std::vector<const BatchRow*> all;
  for (const BatchRow& r : s.rows)
    if (is_over(r)) by_group[group_of(r)].push_back(&r), all.push_back(&r);
  std::vector<SearchGroup> groups;
  if (by_group.size() > 1)
    for (const auto& [name, rows] : by_group) groups.push_back(group(name, rows));
  groups.push_back(group("all", all));
  return groups;
}

std::string search_table_text(const BatchSummary& s) {
  std::string text = fmt::format("**{}**\n\n", device_of(s));
  text += "| | kernels | improved | geometric mean | median | largest | above 1.5x | attempts a kernel | "
          "commits a kernel | "
          "commit rate | on models of another structure "
          "|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const SearchGroup& g : search_groups(s))
    text += fmt::format(
        "| {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {} | {:.1f} | {:.2f} | {:.1f} % | {:.3f} |\n", g.name,
        g.kernels, g.improved, g.mean, g.median, g.largest, g.far, g.attempts, g.commits, 100 * g.commit_rate,
        g.structural_mean);
  text += "\n| kernel | speedup | on models of another structure | K0's busiest unit | busy for | attempts | "
          "commits | "
          "by, or why not |\n|---|---:|---:|---|---:|---:|---:|---|\n";
  for (const BatchRow* r : ranked(s)) {
    const std::string speedup = r->verified ? fmt::format("{:.3f}", r->speedup) : "none";
    const std::string structural = r->verified && r->structural ? fmt::format("{:.3f}", *r->structural) : "";
    text +=
        fmt::format("| {} | {} | {} | {} | {:.0f} % | {} | {} | {} |\n", cell(r->kernel), speedup, structural,
                    cell(r->busiest_unit), 100 * r->busiest_share, r->tally.attempts, commits_of(*r),
                    cell(r->verified ? fmt::format("{}", fmt::join(r->directions, ", ")) : r->why_not));
  }
  size_t open = 0;
  for (const BatchRow& r : s.rows) open += r.same_as.empty() && !is_over(r);
  if (open != 0)
    text += fmt::format("\n{} kernels have not come to their end, or failed, and are left out.\n", open);
  return text;
}

Json search_table_json(const BatchSummary& s) {
  Json groups = Json::array();
  for (const SearchGroup& g : search_groups(s))
    groups.push_back({{"name", g.name},
                      {"kernels", g.kernels},
                      {"improved", g.improved},
                      {"geometric_mean", g.mean},
                      {"median", g.median},
                      {"largest", g.largest},
                      {"above_1_5", g.far},
                      {"attempts_per_kernel", g.attempts},
                      {"commits_per_kernel", g.commits},
                      {"commit_rate", g.commit_rate},
                      {"geometric_mean_structural", g.structural_mean}});
  return {{"device", device_of(s)}, {"groups", groups}, {"batch", json_of(s)}};
}

std::string search_chart(const BatchSummary& s) {
  constexpr double left = 130, bar = 22, height = 200, top = 40, row = 15, margin = 12;
  const std::vector<const BatchRow*> rows = ranked(s);
  std::map<std::string, size_t> times;
  for (const BatchRow* r : rows)
    for (const std::string& o : operators_of(*r)) ++times[o];
  std::vector<std::pair<size_t, std::string>> operators;
  for (const auto& [name, count] : times) operators.emplace_back(count, name);
  std::ranges::stable_sort(operators, std::greater{}, &std::pair<size_t, std::string>::first);
  double most = 1.1;
  for (const BatchRow* r : rows) most = std::max(most, r->verified ? r->speedup : 1);
  const double width = left + bar * static_cast<double>(rows.size()) + margin;
  const double panel = top + height + 20, all = panel + row * static_cast<double>(operators.size()) + margin;
  const auto y_of = [&](double speedup) { return top + height * (1 - (speedup - 1) / (most - 1)); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<style>.g{{fill:#fff}}text{{fill:#222}}.a{{stroke:#999}}.b{{fill:#1f6feb}}.n{{fill:"
      "#bbb}}\n"
      "@media (prefers-color-scheme: "
      "dark){{.g{{fill:#161b22}}text{{fill:#ddd}}.b{{fill:#58a6ff}}.n{{fill:#555}}}}</style>\n"
      "<rect class=\"g\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n<text x=\"{2}\" y=\"20\" "
      "font-size=\"13\">speedup over K0, "
      "{3}</text>\n",
      width, all, margin, html_text(device_of(s), 60));
  for (const double mark : {1.0, 1 + (most - 1) / 2, most})
    svg += fmt::format("<line class=\"a\" x1=\"{0}\" x2=\"{1:.0f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text "
                       "x=\"{3}\" y=\"{4:.1f}\" "
                       "text-anchor=\"end\">{5:.2f}</text>\n",
                       left, width - margin, y_of(mark), left - 6, y_of(mark) + 4, mark);
  for (size_t n = 0; n < rows.size(); ++n) {
    const double speedup = rows[n]->verified ? rows[n]->speedup : 1, x = left + bar * static_cast<double>(n);
    svg += fmt::format("<rect class=\"b\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                       "height=\"{:.1f}\"><title>{}: {:.3f}</title>"
                       "</rect>\n",
                       x + 3, y_of(speedup), bar - 6, std::max(top + height - y_of(speedup), 1.0),
                       html_text(rows[n]->kernel, 80), speedup);
    const auto words = operators_of(*rows[n]);
    for (size_t o = 0; o < operators.size(); ++o)
      if (std::ranges::find(words, operators[o].second) != words.end())
        svg += fmt::format("<circle class=\"b\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x + bar / 2,
                           panel + row * (static_cast<double>(o) + 0.5));
  }
  for (size_t o = 0; o < operators.size(); ++o)
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6,
                       panel + row * (static_cast<double>(o) + 0.5) + 4, html_text(operators[o].second, 24));
  return svg + "</svg>\n";
}

} // namespace asmevo::report
