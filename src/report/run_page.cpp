#include "report/run_page.h"

#include <algorithm>

namespace asmevo::report {

namespace {

std::string chip(std::string_view kind, std::string_view text) {
  return fmt::format("<span class=\"chip {}\">{}</span>", kind, text);
}

std::string_view chip_kind(RunState state) {
  switch (state) {
  case RunState::Done: return "good";
  case RunState::SettingUp:
  case RunState::Searching: return "busy";
  default: return "bad";
  }
}

std::string claim(const RunReport& r) {
  const RunStatus& s = r.status;
  if (s.best != 0) {
    std::string text =
        fmt::format("<p class=\"claim\"><strong>{:.3f}\u00d7</strong> <span>speedup over K0, {}</span></p>\n",
                    s.speedup, html_text(s.device));
    if (s.best_file.structural)
      text += fmt::format("<p class=\"structural\"><b>{:.3f}\u00d7</b> ({:.3f} at least) on models of "
                          "another structure, which the search did not see</p>\n",
                          s.best_file.structural->first, s.best_file.structural->second);
    return text;
  }
  const bool over = s.state == RunState::Done;
  return fmt::format("<p class=\"claim none\"><strong>{}</strong> <span>{}</span></p>\n",
                     over ? "Nothing faster was found" : "Nothing faster so far", html_text(s.device));
}

std::string time_bars(const RunReport& r) {
  if (r.k0_seconds <= 0) return "";
  const auto row = [&](std::string_view what, double seconds, std::string_view kind) {
    return fmt::format("<div class=\"time\"><span>{}</span>{}<b>{}</b></div>\n", what,
                       bar(seconds / std::max(r.k0_seconds, r.best_seconds), kind), time_text(seconds));
  };
  std::string text = "<div class=\"times\">\n" + row("K0", r.k0_seconds, "before");
  if (r.status.best != 0) text += row("best", r.best_seconds, "after");
  return text + "</div>\n";
}

std::string about_the_file(BestFile state) {
  if (state == BestFile::Verified)
    return "The object was read back from the disk and verified once more before it became "
           "<code>best.co</code>.";
  return fmt::format("The object has passed all gates, but: <b>{}</b>.",
                     html_text(text_of(state), short_text));
}

// What the figures above are, and are not.
std::string caveat(const RunReport& r) {
  std::string text = "<p class=\"caveat\">";
  if (r.status.device.starts_with("modelled")) {
    text +=
        fmt::format("All times on this page are <b>modelled</b>: a cycle model computed them, {} versions of "
                    "it within the error of its parameters; shown are medians. <b>No GPU has been seen.</b>",
                    r.members);
    if (r.status.best != 0)
      text += fmt::format(" Over the versions of the model the speedup is {:.3f} to {:.3f}.", r.low, r.high);
  }
  if (r.status.best != 0) text += " " + about_the_file(r.status.best_file.state);
  return text + "</p>\n";
}

std::string header(const RunReport& r) {
  const RunStatus& s = r.status;
  std::string chips = chip(chip_kind(s.state), name(s.state));
  if (!s.end.empty() && s.state != RunState::Interrupted) chips += chip("", html_text(s.end, short_text));
  if (!r.target.empty()) chips += chip("", html_text(r.target, short_text));
  chips += chip("", fmt::format("{} attempt{} in {}", s.tally.attempts, s.tally.attempts == 1 ? "" : "s",
                                duration_text(s.seconds)));
  chips += chip("", fmt::format("{} committed", s.commits));
  return fmt::format(
      "<header>\n<p class=\"eyebrow\">asmevo \u00b7 {}</p>\n<h1>{}</h1>\n{}{}<p class=\"chips\">{}</p>\n{}"
      "</header>\n",
      html_text(r.object, short_text), r.kernel.empty() ? "a kernel" : html_text(r.kernel, short_text),
      claim(r), time_bars(r), chips, caveat(r));
}

std::string notes(const RunReport& r) {
  std::string text;
  for (const std::string& n : r.notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", html_text(n, long_text));
  for (const run::Event& e : r.events)
    if (e.kind == "not_confirmed" || e.kind == "failed")
      text += fmt::format("<p class=\"note\">{}: {}</p>\n",
                          html_text(e.kind == "failed" ? "failed" : "not confirmed"),
                          html_text(e.text, long_text));
  return text;
}

} // namespace

std::string section(std::string_view id, std::string_view heading, std::string_view body) {
  if (body.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, heading, body);
}

std::string percent_text(double share) {
  if (share <= 0) return "0";
  if (share < 0.0005) return "&lt; 0.1 %";
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

std::string bar(double share, std::string_view kind) {
  return fmt::format("<span class=\"bar\"><i class=\"{}\" style=\"width:{:.1f}%\"></i></span>", kind,
                     std::clamp(share, 0.0, 1.0) * 100);
}

std::string version_text(uint32_t node) {
  return node == 0 ? "K0" : fmt::format("node {}", node);
}

std::string html_of(const RunReport& r) {
  const std::string title = fmt::format(
      "{}: {}", r.kernel.empty() ? html_text(r.object, short_text) : html_text(r.kernel, short_text),
      r.status.best == 0 ? "nothing faster"
                         : fmt::format("{:.3f}\u00d7, {}", r.status.speedup, html_text(r.status.device)));
  std::string page = page_begin(title, page_style);
  page += header(r) + notes(r);
  for (auto* part : {progress_section, lineage_section, outcomes_section, yield_section, commits_section,
                     profile_section, resources_section, cases_section, failures_section, reproduce_section})
    page += part(r);
  page += page_end;
  return page;
}

} // namespace asmevo::report
