#include "report/timing_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace asmevo::report {

namespace {

using oracle::TimingResult;

constexpr double label_width = 170, plot_width = 520, row_height = 26, top = 58, margin = 24;
constexpr double legend_height = 44;
constexpr double widest = 2; // factor at the edges
constexpr double band = 1.2; // factor that the band goes to

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

double x_of(double factor) {
  const double clamped = std::clamp(factor, 1 / widest, widest);
  return label_width + plot_width / 2 * (1 + std::log(clamped) / std::log(widest));
}

// Colours of its own in light and dark surroundings, on a ground of its own: who shows the picture need not
// know which of them it is.
constexpr std::string_view style =
    "<style>.ground{fill:#fff}text{font:13px "
    "sans-serif;fill:#222}.title{font-size:15px}.small{font-size:11px;fill:#666}"
    ".band{fill:#2a7de1;opacity:.12}.axis{stroke:#999}.row{stroke:#bbb;stroke-dasharray:1 3}"
    ".dot{fill:#2a7de1;opacity:.75}.off{fill:#d04a35;opacity:.85}.rest{fill:none;stroke:#888}"
    ".off.rest{stroke:#d04a35}"
    "@media(prefers-color-scheme:dark){.ground{fill:#16191d}text{fill:#ddd}.small{fill:#aaa}"
    ".band{fill:#5b9df0;opacity:.2}.axis{stroke:#777}.row{stroke:#555}.dot{fill:#5b9df0}.off{fill:#f07a66}"
    ".rest{fill:none;stroke:#999}.off.rest{stroke:#f07a66}}"
    "</style>\n";

void axis(std::string& svg, double bottom) {
  const auto out = std::back_inserter(svg);
  fmt::format_to(out, "<rect class=\"band\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n",
                 x_of(1 / band), top - 8, x_of(band) - x_of(1 / band), bottom - top + 8);
  for (const auto& [factor, text] :
       {std::pair{0.5, "half"}, std::pair{1 / band, "/1.2"}, std::pair{1.0, "as measured"},
        std::pair{band, "x1.2"}, std::pair{2.0, "double"}})
    fmt::format_to(out,
                   "<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>"
                   "<text class=\"small\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                   x_of(factor), top - 8, bottom, top - 14, text);
}

// What is off the scale stands at its edge.
std::string_view kind_of(const TimingResult& r) {
  const double factor = r.modelled / r.row.measured;
  const bool off = factor > widest || factor < 1 / widest;
  if (off) return r.row.scored() ? "off" : "off rest";
  return r.row.scored() ? "dot" : "rest";
}

void dot(std::string& svg, const TimingResult& r, double y) {
  fmt::format_to(
      std::back_inserter(svg),
      "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{} {}: measured {:.4f} ms, modelled "
      "{:.4f} ms ({:+.1f} %)</title></circle>\n",
      kind_of(r), x_of(r.modelled / r.row.measured), y, escaped(r.row.kernel), escaped(r.row.size),
      r.row.measured * 1e3, r.modelled * 1e3, r.error() * 100);
}

void row(std::string& svg, std::string_view kernel, double y, const oracle::TimingScore* score) {
  const auto out = std::back_inserter(svg);
  fmt::format_to(
      out,
      "<line class=\"row\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">{}</text>\n",
      label_width, y, label_width + plot_width, y, label_width - 10, y + 4, escaped(kernel));
  fmt::format_to(out, "<text class=\"small\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                 label_width + plot_width + 14, y + 4,
                 score != nullptr ? fmt::format("mean {:.1f} %", score->mean * 100) : "not scored");
}

void legend(std::string& svg, double y) {
  struct Sign {
    std::string_view kind, text;
    double x, line; // where it stands
  };
  constexpr double second = 300, indent = 12, line_height = 18;
  for (const Sign& s :
       {Sign{"dot", "a measured size", label_width, 0},
        Sign{"off", "off the scale: less than half or more than double", label_width + second, 0},
        Sign{"rest", "not scored: the host, copies or the launch set it", label_width, 1},
        Sign{"off rest", "not scored, off the scale", label_width + second, 1}})
    fmt::format_to(std::back_inserter(svg),
                   "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"4\"/><text class=\"small\" x=\"{}\" "
                   "y=\"{}\">{}</text>\n",
                   s.kind, s.x, y + s.line * line_height, s.x + indent, y + s.line * line_height + 4, s.text);
}

} // namespace

std::string timing_plot(std::span<const TimingResult> results, const std::string& title) {
  std::vector<std::string> kernels;
  for (const TimingResult& r : results)
    if (std::ranges::find(kernels, r.row.kernel) == kernels.end()) kernels.push_back(r.row.kernel);
  const auto scores = oracle::score(results);
  const double bottom = top + row_height * static_cast<double>(kernels.size());
  constexpr double mean_width = 110;
  const double width = label_width + plot_width + mean_width + margin,
               height = bottom + margin + legend_height;
  std::string svg =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                  "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n",
                  width, height, escaped(title));
  svg += style;
  fmt::format_to(std::back_inserter(svg),
                 "<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n"
                 "<text class=\"title\" x=\"{}\" y=\"22\">{}</text>\n",
                 width, height, margin / 2, escaped(title));
  axis(svg, bottom);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const double y = top + row_height * (static_cast<double>(k) + 0.5);
    const auto score = std::ranges::find(scores, kernels[k], &oracle::TimingScore::kernel);
    row(svg, kernels[k], y, score == scores.end() ? nullptr : &*score);
    for (const TimingResult& r : results)
      if (r.row.kernel == kernels[k]) dot(svg, r, y);
  }
  legend(svg, bottom + margin);
  svg += "</svg>\n";
  return svg;
}

} // namespace asmevo::report
