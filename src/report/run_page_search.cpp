// How it came about: progress, lineage, outcomes, what was worth trying, what went wrong.
#include "report/outcome_meaning.h"
#include "report/run_charts.h"
#include "report/run_page.h"

#include <algorithm>

namespace asmevo::report {

namespace {

constexpr size_t failures_shown = 3; // of each outcome
constexpr size_t yields_shown = 40;

std::string_view bar_kind(gate::Outcome o) {
  switch (o) {
  case gate::Outcome::Committed: return "good";
  case gate::Outcome::InsufficientSpeedup:
  case gate::Outcome::TimingUnstable: return "before";
  case gate::Outcome::Passed:
  case gate::Outcome::Duplicate:
  case gate::Outcome::InfrastructureError: return "faint";
  default: return "bad";
  }
}

// The tree as lines: the way that leads furthest stays where it is, what branches off is moved to the right.
class LineageList {
 public:
  explicit LineageList(const RunReport& r) : r_(r) {
    for (const run::Node& n : r.nodes) {
      if (n.id == 0) continue;
      if (n.parent < n.id) children_[n.parent].push_back(&n);
      fastest_[n.id] = n.speedup;
    }
    for (auto n = r.nodes.rbegin(); n != r.nodes.rend(); ++n)
      if (n->id != 0 && n->parent < n->id)
        fastest_[n->parent] = std::max(fastest_[n->parent], fastest_[n->id]);
  }

  std::string html() {
    struct Next {
      const run::Node* node;
      unsigned lane;
    };
    if (r_.nodes.empty() || r_.nodes.front().id != 0) return "";
    std::vector<Next> open = {{&r_.nodes.front(), 0}};
    while (!open.empty()) {
      const Next next = open.back();
      open.pop_back();
      line(*next.node, next.lane);
      std::vector<const run::Node*> own = children_[next.node->id];
      std::ranges::stable_sort(
          own, [&](const auto* a, const auto* b) { return fastest_[a->id] > fastest_[b->id]; });
      for (size_t n = 0; n < own.size(); ++n) open.push_back({own[n], next.lane + (n == 0 ? 0 : 1)});
    }
    return "<ol class=\"lineage\">\n" + text_ + "</ol>\n";
  }

 private:
  void line(const run::Node& n, unsigned lane) {
    constexpr unsigned most_lanes = 5;
    const bool best = n.id == r_.status.best && n.id != 0;
    text_ += fmt::format("<li class=\"lane{}{}\">", std::min(lane, most_lanes), best ? " best" : "");
    if (n.id == 0) {
      text_ += "<b>K0</b> <span class=\"x\">1\u00d7</span> the object as it was given</li>\n";
      return;
    }
    text_ += fmt::format(
        "<b>node {}</b> <span class=\"x\">{:.3f}\u00d7</span> <small>on {}, {:+.2f} %{}</small>", n.id,
        n.speedup, version_text(n.parent), (n.over_parent - 1) * 100, best ? ", the best" : "");
    for (const std::string* tag : {&n.direction, &n.rule})
      if (!tag->empty() && (tag == &n.direction || n.rule != n.direction))
        text_ += fmt::format(" <span class=\"tag\">{}</span>", html_text(*tag, short_text));
    text_ += fmt::format("<p>{}</p></li>\n", html_text(n.rationale, long_text));
  }

  const RunReport& r_;
  std::map<uint32_t, std::vector<const run::Node*>> children_;
  std::map<uint32_t, double> fastest_; // of what follows, itself included
  std::string text_;
};

std::string yield_table(std::string_view what, const std::vector<Yield>& yields) {
  std::string rows;
  for (size_t n = 0; n < std::min(yields.size(), yields_shown); ++n) {
    const Yield& y = yields[n];
    rows +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    y.name.empty() ? "<i>not named</i>" : html_text(y.name, short_text), y.attempts, y.right,
                    y.committed, y.committed == 0 ? "-" : fmt::format("+{:.2f} %", y.best_gain * 100));
  }
  if (yields.size() > yields_shown)
    rows += fmt::format("<tr><th scope=\"row\"><i>{} more</i></th><td colspan=\"4\"></td></tr>\n",
                        yields.size() - yields_shown);
  return fmt::format(
      "<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th scope=\"col\">{}</th><th "
      "scope=\"col\">attempts</th><th scope=\"col\">right</th><th scope=\"col\">committed</th><th "
      "scope=\"col\">best gain</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      what, rows);
}

} // namespace

std::string progress_section(const RunReport& r) {
  if (r.attempts.empty()) return "";
  return section(
      "progress", "Speedup over K0",
      fmt::format(
          "<div class=\"charts\">\n{}{}</div>\n<p class=\"legend\"><span><i class=\"key "
          "commit\"></i>committed, "
          "with its node</span> <span><i class=\"key slow\"></i>right, but not faster by enough</span> "
          "<span><i class=\"key refused\"></i>refused</span></p>\n",
          progress_chart(r.attempts, Along::Time, r.status.seconds),
          progress_chart(r.attempts, Along::Attempts, r.status.seconds)));
}

std::string lineage_section(const RunReport& r) {
  return section("lineage", "Lineage", LineageList(r).html());
}

std::string outcomes_section(const RunReport& r) {
  const run::Tally& t = r.status.tally;
  if (t.attempts == 0) return "";
  const uint64_t most = std::ranges::max(t.outcomes);
  std::string rows;
  for (const gate::Outcome o : outcomes_in_order()) {
    const uint64_t n = t.outcomes[static_cast<size_t>(o)];
    if (n == 0 && o == gate::Outcome::Passed) continue;
    rows += fmt::format("<li{}><b>{}</b><small>{}</small><span class=\"n\">{}</span>{}<p>{}</p></li>\n",
                        n == 0 ? " class=\"zero\"" : "", gate::name(o), gate_of(o), n,
                        bar(static_cast<double>(n) / static_cast<double>(most), bar_kind(o)), meaning(o));
  }
  return section("outcomes", "What became of the attempts",
                 "<p>Gates stand in a fixed order, G0 to G4; the first that refuses decides.</p>\n<ol "
                 "class=\"outcomes\">\n" +
                     rows + "</ol>\n");
}

std::string yield_section(const RunReport& r) {
  if (r.attempts.empty()) return "";
  return section(
      "yield", "What was worth trying",
      "<p>Right: it did what K0 does as far as it was tried. Gains are over the best of their moment.</p>\n" +
          yield_table("direction", r.directions) + yield_table("rule", r.rules));
}

std::string failures_section(const RunReport& r) {
  std::string text;
  for (const gate::Outcome o : outcomes_in_order()) {
    if (o == gate::Outcome::Committed || o == gate::Outcome::Passed || o == gate::Outcome::Duplicate)
      continue;
    std::string list;
    size_t count = 0;
    for (const run::Attempt& a : r.attempts) {
      if (a.outcome != o || ++count > failures_shown) continue;
      list += fmt::format(
          "<li><p class=\"said\">{}</p><p><small>round {}, slot {}, on {}{}{}</small> {}</p></li>\n",
          html_text(a.text, long_text), a.round, a.slot, version_text(a.base),
          a.direction.empty() ? "" : ", ", html_text(a.direction, short_text),
          html_text(a.rationale, long_text));
    }
    if (count == 0) continue;
    text +=
        fmt::format("<h3>{} <small>{}{}</small></h3>\n<ul class=\"failures\">\n{}</ul>\n", gate::name(o),
                    count, count > failures_shown ? fmt::format(", the first {}", failures_shown) : "", list);
  }
  return section("failures", "Failures worth reading", text);
}

} // namespace asmevo::report
