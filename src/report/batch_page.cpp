// The summary of a batch as a page in the style of a run's report.
#include "report/batch_summary.h"
#include "report/run_page.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::report {

namespace {

constexpr std::string_view batch_style = R"css(
.batch thead th, .batch td { text-align: left; }
.batch thead th.figure, .batch td.figure { text-align: right; } .batch td.figure { white-space: nowrap; }
.batch td.gain { color: var(--good); font-weight: 600; } .batch td.failed { color: var(--bad); }
.batch td.said { color: var(--quiet); overflow-wrap: anywhere; min-width: 12rem; } a { color: var(--accent); }
)css";

// A relative link: names of runs are made of letters, digits and "._+-" alone (search/batch_input.h).
std::string link_to(const BatchRow& r) {
  const std::string text = html_text(r.kernel, short_text);
  return r.run.empty() ? text : fmt::format("<a href=\"{}/report.html\">{}</a>", html_text(r.run), text);
}

std::string remark_html(const BatchRow& r) {
  if (!r.same_as.empty()) return "the same as " + html_text(r.same_as, short_text);
  if (!r.why_not.empty()) return html_text(r.why_not, long_text);
  if (r.verified)
    return html_text(fmt::format("{}", fmt::join(r.directions, ", ")), short_text) +
           (r.inferred ? "; launch inferred" : "");
  return html_text(r.state);
}

std::string row_html(const BatchRow& r) {
  const auto figure = [](std::string_view kind, const std::string& text) {
    return fmt::format("<td class=\"figure {}\">{}</td>", kind, text);
  };
  std::string text = fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", link_to(r), html_text(r.target));
  text += r.verified                ? figure("gain", fmt::format("{:.3f}\u00d7", r.speedup))
          : r.state == "failed"     ? figure("failed", "failed")
          : r.exit_code.has_value() ? figure("", "none")
                                    : figure("", html_text(r.state));
  text += figure("", r.structural ? fmt::format("{:.3f}\u00d7", *r.structural) : "");
  text += figure("", r.k0_seconds > 0 ? time_text(r.k0_seconds) : "");
  text += figure("", r.verified ? time_text(r.best_seconds) : "");
  text += figure("", fmt::format("{}", r.tally.attempts)) + figure("", duration_text(r.seconds));
  return text + fmt::format("<td class=\"said\">{}</td></tr>\n", remark_html(r));
}

std::string table(const BatchSummary& s) {
  std::string text = "<div class=\"scroll\"><table class=\"batch\">\n<thead><tr>";
  const auto heading = [&text](std::string_view kind, std::string_view what) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", kind, what);
  };
  for (const char* what : {"kernel", "target"}) heading("", what);
  for (const char* what : {"speedup", "on models of another structure", "K0", "best", "attempts", "search"})
    heading(" class=\"figure\"", what);
  heading("", "by, or why not");
  text += "</tr></thead>\n<tbody>\n";
  for (const BatchRow& r : s.rows) text += row_html(r);
  return text + "</tbody></table></div>\n";
}

std::string devices(const BatchSummary& s) {
  std::vector<std::string> list;
  for (const BatchRow& r : s.rows)
    if (!r.device.empty() && std::ranges::find(list, r.device) == list.end()) list.push_back(r.device);
  return html_text(fmt::format("{}", fmt::join(list, ", ")), short_text);
}

std::string header(const BatchSummary& s) {
  const auto chip = [](std::string_view kind, size_t n, std::string_view what) {
    return n == 0 ? "" : fmt::format("<span class=\"chip {}\">{} {}</span>", kind, n, what);
  };
  std::string text = fmt::format("<header>\n<p class=\"eyebrow\">asmevo \u00b7 {} kernels</p>\n<h1>{}</h1>\n",
                                 s.rows.size(), html_text(s.input, short_text));
  if (s.faster == 0)
    text += fmt::format("<p class=\"claim none\"><strong>Nothing faster {}</strong> <span>{}</span></p>\n",
                        s.open == 0 ? "was found" : "so far", devices(s));
  else
    text += fmt::format("<p class=\"claim\"><strong>{:.3f}\u00d7</strong> <span>in the geometric mean of {} "
                        "kernels, {}</span></p>\n",
                        s.mean_speedup, s.faster + s.not_faster, devices(s));
  text += fmt::format("<p class=\"chips\">{}{}{}{}{}</p>\n", chip("good", s.faster, "faster"),
                      chip("", s.not_faster, "not faster"), chip("bad", s.failed, "failed"),
                      chip("busy", s.open, "not done"), chip("", s.same, "the same as others"));
  return text +
         "<p class=\"caveat\">All times on this page are <b>modelled</b>: a cycle model computed them. "
         "<b>No GPU has been seen.</b> A speedup stands here only where the object was verified once "
         "more from the disk.</p>\n</header>\n";
}

} // namespace

std::string html_of(const BatchSummary& s) {
  std::string page =
      page_begin(html_text(s.input, short_text), std::string(page_style) + std::string(batch_style));
  page += header(s) + section("kernels", "Kernels", table(s));
  page += section("reproduce", "To get it again",
                  fmt::format("<pre class=\"command\">{}</pre>\n<p>{}</p>\n", html_text(s.command, 4000),
                              html_text(s.made_by, short_text)));
  return page += page_end;
}

} // namespace asmevo::report
