// What was changed: for each commit the instructions before and after, side by side where there is room.
#include "report/run_page.h"

namespace asmevo::report {

namespace {

constexpr size_t commits_open = 6;    // the last ones; the others unfold
constexpr double least_share = 0.005; // of the time, that is written beside an instruction

std::string lines_html(const std::vector<CodeLine>& lines, std::string_view kind) {
  std::string text = fmt::format("<div class=\"{}\">", kind);
  for (const CodeLine& l : lines) {
    text += fmt::format("<div class=\"l\"><span class=\"id\">{}</span><code>{}</code>",
                        html_text(l.id, short_text), html_text(l.text, long_text));
    if (l.share >= least_share) text += fmt::format("<span class=\"share\">{}</span>", percent_text(l.share));
    text += "</div>";
  }
  return text + "</div>\n";
}

std::string window_html(const CodeWindow& w, bool named) {
  std::string text = fmt::format(
      "<div class=\"code\" role=\"group\" aria-label=\"before and after\">{}\n",
      named ? fmt::format("<p class=\"function\">{}</p>", html_text(w.function, short_text)) : "");
  for (const CodeBlock& b : w.blocks) {
    text += lines_html(b.before, b.changed ? "old" : "same");
    text += lines_html(b.after, b.changed ? "new" : "same again");
  }
  return text + "</div>\n";
}

std::string commit_html(const Commit& c, bool open) {
  const run::Node& n = c.node;
  std::string text = fmt::format("<details class=\"commit\"{}>\n<summary><b>node {}</b> <span "
                                 "class=\"x\">{:.3f}\u00d7</span> <small>{:+.2f} % over "
                                 "{}; <span class=\"minus\">\u2212{}</span> <span class=\"plus\">+{}</span> "
                                 "instructions</small></summary>\n<p>{}</p>\n",
                                 open ? " open=\"open\"" : "", n.id, n.speedup, (n.over_parent - 1) * 100,
                                 version_text(n.parent), c.change.removed, c.change.added,
                                 html_text(n.rationale, long_text));
  if (!c.no_code.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", html_text(c.no_code, long_text));
  std::string last;
  for (const CodeWindow& w : c.change.windows) {
    text += window_html(w, w.function != last);
    last = w.function;
  }
  if (c.change.left_out != 0)
    text += fmt::format(
        "<p class=\"note\">{} more changed instructions; <code>nodes/{}/edit.json</code> has them all, "
        "<code>asmevo diff</code> shows them.</p>\n",
        c.change.left_out, n.id);
  return text + "</details>\n";
}

} // namespace

std::string commits_section(const RunReport& r) {
  std::string text;
  for (size_t n = 0; n < r.commits.size(); ++n)
    text += commit_html(r.commits[n], n + commits_open >= r.commits.size());
  if (text.empty()) return "";
  return section(
      "commits", "What was changed",
      "<p>Before and after each commit. Instructions of K0 are named by their offset, inserted ones by the "
      "node that brought them; beside them the share of the kernel's modelled time.</p>\n" +
          text);
}

} // namespace asmevo::report
