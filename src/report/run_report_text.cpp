// The report for a terminal: what came out, by what, and on what it rests. The rest is in the page.
#include "report/run_report.h"

namespace asmevo::report {

namespace {

constexpr size_t most_commits = 12; // shown

std::string headline(const RunReport& r) {
  const std::string what = fmt::format("{}, kernel {}", printable(r.object, 200),
                                       r.kernel.empty() ? "(not known yet)" : printable(r.kernel, 200));
  if (r.status.best == 0)
    return fmt::format("{}: {}{}\n", what,
                       r.status.device.empty()
                           ? ""
                           : fmt::format("{}, {}: ", printable(r.status.device), time_text(r.k0_seconds)),
                       r.status.state == RunState::Done ? "nothing faster was found"
                                                        : "nothing faster was found so far");
  return fmt::format("{}: {:.3f}x, {}: {} -> {}{}\n", what, r.status.speedup, printable(r.status.device),
                     time_text(r.k0_seconds), time_text(r.best_seconds),
                     r.status.best_file.state == BestFile::Verified
                         ? ""
                         : fmt::format(", {}", text_of(r.status.best_file.state)));
}

std::string commit_lines(const RunReport& r) {
  std::string text;
  const size_t first = r.commits.size() > most_commits ? r.commits.size() - most_commits : 0;
  if (first != 0) text += fmt::format("  ... {} commits before\n", first);
  for (size_t n = first; n < r.commits.size(); ++n) {
    const Commit& c = r.commits[n];
    text += fmt::format("  node {:<3} {:.3f}x  on {}, -{} +{} instructions{}{}: {}\n", c.node.id,
                        c.node.speedup, c.node.parent == 0 ? "K0" : fmt::format("node {}", c.node.parent),
                        c.change.removed, c.change.added, c.node.direction.empty() ? "" : ", ",
                        printable(c.node.direction), printable(c.node.rationale, 160));
  }
  return text;
}

std::string limiter_of(const gate::NodeProfile& profile) {
  if (profile.kernels.empty() || !profile.kernels.front().report.contains("summary")) return "";
  return profile.kernels.front().report["summary"].at("limiter").at("sentence").get<std::string>();
}

} // namespace

std::string text_of(const RunReport& r) {
  std::string text = headline(r);
  text += fmt::format("  {} in {}; {}{}\n", outcomes_text(r.status.tally.attempts, r.status.tally.outcomes),
                      duration_text(r.status.seconds), name(r.status.state),
                      r.status.end.empty() ? "" : ": " + printable(r.status.end, 300));
  if (r.status.best_file.structural)
    text += fmt::format(
        "  {:.3f}x ({:.3f} at least) on models of another structure, which the search did not see\n",
        r.status.best_file.structural->first, r.status.best_file.structural->second);
  text += commit_lines(r);
  if (const std::string l = limiter_of(r.k0_profile); !l.empty())
    text += fmt::format("  K0: {}\n", printable(l, 300));
  if (const std::string l = limiter_of(r.best_profile); !l.empty())
    text += fmt::format("  best: {}\n", printable(l, 300));
  if (r.abi)
    text += fmt::format("  {} fields of the interface compared, {} frozen differ, {} resources differ\n",
                        r.abi->compared, r.abi->frozen_differ, r.abi->free_to_follow.size());
  if (r.setup.contains("cases"))
    text += fmt::format("  {} cases, {} held back, rule {}{}\n", r.setup.value("cases", 0),
                        r.setup.value("held_back", 0), printable(r.rule),
                        r.status.best != 0 && r.paper_rule ? "; rule paper says the same" : "");
  for (const std::string& note : r.notes) text += fmt::format("  {}\n", printable(note, 300));
  return text;
}

} // namespace asmevo::report
