// On what it rests that the result can take K0's place, and how to get it again.
#include "oracle/compare.h"
#include "report/run_page.h"

#include <algorithm>

namespace asmevo::report {

namespace {

constexpr size_t lines_open = 4; // of a list; the rest unfolds
constexpr size_t most_lines = 200;

std::string row(std::string_view what, const std::string& value) {
  return value.empty() ? "" : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, value);
}

// The texts of a list in the Setup's report.
std::string list_html(std::string_view heading, const Json& setup, const char* key) {
  const auto found = setup.find(key);
  if (found == setup.end() || !found->is_array() || found->empty()) return "";
  const auto items = [&](size_t from, size_t to) {
    std::string text = "<ul class=\"plain\">\n";
    for (size_t n = from; n < to; ++n)
      text += fmt::format("<li>{}</li>\n",
                          (*found)[n].is_string() ? html_text((*found)[n].get<std::string>(), 400) : "");
    return text + "</ul>\n";
  };
  const size_t count = found->size(), open = std::min(count, lines_open), all = std::min(count, most_lines);
  std::string text = fmt::format("<h4>{} <small>{}</small></h4>\n{}", heading, count, items(0, open));
  if (all > open)
    text +=
        fmt::format("<details><summary>{} more</summary>\n{}</details>\n", count - open, items(open, all));
  return text;
}

std::string rule_text(const std::string& rule) {
  const std::string common =
      fmt::format("integers and bytes the same to the bit; float buffers with a cosine of at least {}, and ",
                  oracle::least_cosine);
  if (rule == "paper") return common + fmt::format("no element further off than {:g}", oracle::most_absolute);
  return common +
         fmt::format("each element within {:g} of the larger of K0's element and the root mean square of its "
                     "row, or within {} units in the last place",
                     oracle::most_relative, oracle::most_ulps);
}

std::string number_text(double v) {
  return fmt::format("{:g}", v);
}

std::string resource_table(const RunReport& r) {
  if (r.resources.empty()) return "";
  std::string rows, kernel;
  const bool several = r.resources.front().kernel != r.resources.back().kernel;
  for (const ResourceRow& x : r.resources) {
    if (several && x.kernel != kernel)
      rows += fmt::format("<tr><th scope=\"rowgroup\" colspan=\"3\">{}</th></tr>\n",
                          html_text(x.kernel, short_text));
    kernel = x.kernel;
    rows += fmt::format("<tr{}><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td></tr>\n",
                        x.k0 != x.best ? " class=\"differs\"" : "", html_text(x.what),
                        x.unit.empty() ? "" : fmt::format(" <small>{}</small>", html_text(x.unit)),
                        number_text(x.k0), number_text(x.best));
  }
  return "<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th scope=\"col\"></th><th "
         "scope=\"col\">K0</th><th "
         "scope=\"col\">best</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string abi_html(const AbiFigures& abi) {
  std::string text =
      fmt::format("<p class=\"{}\">{} fields that a host program can see were compared, {}.</p>\n",
                  abi.frozen_differ == 0 ? "proof" : "note", abi.compared,
                  abi.frozen_differ == 0 ? "<b>and none that must stay differs</b>: the program that "
                                           "launches K0 launches the best without knowing"
                                         : fmt::format("and {} that must stay differ", abi.frozen_differ));
  if (abi.free_to_follow.empty()) return text;
  text += "<p>What may follow the code, and did:</p>\n<ul class=\"plain\">\n";
  for (const auto& [what, change] : abi.free_to_follow)
    text += fmt::format("<li>{}: {}</li>\n", html_text(what, short_text), html_text(change, short_text));
  return text + "</ul>\n";
}

} // namespace

std::string resources_section(const RunReport& r) {
  return section("resources", "Interface and resources", (r.abi ? abi_html(*r.abi) : "") + resource_table(r));
}

std::string cases_section(const RunReport& r) {
  if (!r.setup.contains("cases")) return "";
  std::string text = "<dl class=\"rows\">\n";
  text += row("cases", fmt::format("<b>{}</b>, which every candidate runs until one differs",
                                   r.setup.value("cases", 0)));
  const int held_back = r.setup.value("held_back", 0);
  text += row("held back", held_back == 0
                               ? std::string("none")
                               : fmt::format("<b>{}</b>, which no driver sees; a candidate must pass them to "
                                             "be committed",
                                             held_back));
  text += row("rule " + html_text(r.rule, short_text), rule_text(r.rule));
  if (r.status.best != 0 && r.rule != "paper")
    text +=
        row("rule paper", r.paper_rule ? "says the same of the best" : "does <b>not</b> hold for the best");
  text += row("times at", r.shape.empty() ? "" : "shape " + html_text(r.shape, short_text));
  text += row(
      "models",
      fmt::format(
          "<b>{}</b> that the search sees, and as many drawn anew that are held back: a candidate must be "
          "faster by enough on both to be committed",
          r.members));
  text += "</dl>\n";
  text += list_html("Warnings", r.setup, "warnings") + list_html("Notes", r.setup, "notes") +
          list_html("Left out, and why", r.setup, "left_out");
  return section("cases", "Cases and tolerances", text);
}

std::string reproduce_section(const RunReport& r) {
  std::string text;
  if (!r.command.empty())
    text = fmt::format(
        "<pre class=\"command\">{}</pre>\n<p>Paths as they were given, from the folder where the run was "
        "started. The same input, seed, version and number of attempts give the same result on any "
        "number of workers; a budget in time ends sooner or later on another machine.</p>\n",
        html_text(r.command, 4000));
  text += "<dl class=\"rows\">\n";
  text += row("made by", html_text(r.made_by, short_text));
  text += row("driver", html_text(r.driver, short_text) + fmt::format(", rounds of {}", r.width));
  text += row("seed", fmt::format("{}", r.seed));
  text += row("models", fmt::format("{} of {}, {} instructions simulated for each, about", r.members,
                                    html_text(r.setup.value("model", "?"), short_text), r.effort));
  text += row("launch", html_text(r.launch, long_text)) + row("capture", html_text(r.capture, long_text));
  text += row("K0", r.k0_hash.empty() ? "" : "<code>" + html_text(r.k0_hash, short_text) + "</code>");
  text += row("best", r.best_hash.empty() ? "" : "<code>" + html_text(r.best_hash, short_text) + "</code>");
  return section("reproduce", "To get it again", text + "</dl>\n");
}

} // namespace asmevo::report
