#include "report/run_charts.h"

#include "report/html.h"
#include "report/run_status.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace asmevo::report {

namespace {

// Narrow enough that its texts can be read on a phone, where it is not made smaller.
constexpr double width = 400, height = 250, left = 64, right = 14, top = 20, bottom = 46;
constexpr double rug = 10;          // height of the strip of refused attempts
constexpr size_t most_dots = 2000;  // beyond that every second, every third, ... is drawn
constexpr double label_room = 18;   // between the labels of two commits
constexpr double least_shown = 0.5; // slower candidates stand at the lower edge

struct Point {
  double x = 0, y = 0; // y: speedup; 0: not timed
  const run::Attempt* attempt = nullptr;
};

// 1, 2 or 5 times a power of ten, so that about `count` of them make `span`.
double tick_step(double span, double count) {
  const double rough = std::max(span, 1e-9) / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

double time_step(double span) {
  for (const double s : {1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0})
    if (span / s <= 6 && span > 5) return s;
  return span > 5 ? 3600 * tick_step(span / 3600, 5) : tick_step(span, 5);
}

// The multiples of `step` that lie between; a few, whatever the numbers are.
std::vector<double> ticks(double low, double high, double step) {
  constexpr unsigned most = 20;
  std::vector<double> list;
  for (unsigned n = 0; n < most; ++n)
    if (const double at = (std::ceil(low / step) + n) * step; at <= high) list.push_back(at);
  return list;
}

std::string time_tick(double seconds, double span) {
  if (span > 7200) return fmt::format("{:g} h", seconds / 3600);
  if (span > 120) return fmt::format("{:g} min", seconds / 60);
  return fmt::format("{:g} s", seconds);
}

std::string title_of(const run::Attempt& a) {
  std::string text = fmt::format("round {}, slot {}: {}", a.round, a.slot, gate::name(a.outcome));
  if (a.speedup > 0) text += fmt::format(", {:.3f} times K0", a.speedup);
  if (!a.rationale.empty()) text += "; " + html_text(a.rationale, 160);
  return text;
}

class Chart {
 public:
  Chart(std::span<const run::Attempt> attempts, Along along, double end) : along_(along) {
    double n = 0;
    for (const run::Attempt& a : attempts)
      points_.push_back({along == Along::Time ? a.at : ++n, a.speedup, &a});
    x_end_ = std::max(along == Along::Time ? end : n, 1e-3);
    for (const Point& p : points_) {
      x_end_ = std::max(x_end_, p.x);
      if (p.y > 0) low_ = std::min(low_, std::max(p.y, least_shown));
      if (p.attempt->node) high_ = std::max(high_, p.y);
    }
    const double room = std::max(high_ - low_, 0.02) * 0.08;
    low_ -= room, high_ += room;
  }

  std::string svg() {
    const std::string_view what = along_ == Along::Time ? "time" : "attempts";
    fmt::format_to(out(),
                   "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Best speedup over "
                   "K0 over {}\">\n",
                   width, height, what);
    axes();
    dots();
    steps();
    text_ += "</svg>\n";
    return std::move(text_);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }
  double px(double x) const { return left + (width - left - right) * std::min(x / x_end_, 1.0); }
  double py(double y) const {
    const double floor = height - bottom - rug;
    return floor - (floor - top) * (std::max(y, low_) - low_) / (high_ - low_);
  }

  void axes() {
    const double step = tick_step(high_ - low_, 5);
    for (const double y : ticks(low_, high_, step))
      fmt::format_to(out(),
                     "<line class=\"{}\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>"
                     "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.{}f}\u00d7</text>\n",
                     std::abs(y - 1) < step / 100 ? "one" : "grid", left, py(y), width - right, py(y),
                     left - 6, py(y) + 4, y,
                     step < 0.0099  ? 3
                     : step < 0.099 ? 2
                                    : 1);
    const double across = along_ == Along::Time ? time_step(x_end_) : std::max(1.0, tick_step(x_end_, 5));
    for (const double x : ticks(0, x_end_ * 1.0001, across))
      fmt::format_to(out(), "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", px(x),
                     height - bottom + 16,
                     along_ == Along::Time ? time_tick(x, x_end_) : fmt::format("{:.0f}", x));
    fmt::format_to(out(),
                   "<line class=\"axis\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>"
                   "<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                   left, height - bottom, width - right, height - bottom, width - right, height - 10,
                   along_ == Along::Time ? "time of the search" : "attempts");
  }

  void dots() {
    const size_t every = points_.size() / most_dots + 1;
    for (size_t n = 0; n < points_.size(); n += every) {
      const Point& p = points_[n];
      if (p.attempt->node) continue;
      if (p.y > 0)
        fmt::format_to(
            out(),
            "<circle class=\"slow\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{}</title></circle>\n",
            px(p.x), py(p.y), title_of(*p.attempt));
      else
        fmt::format_to(out(),
                       "<line class=\"refused\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" "
                       "y2=\"{2}\"><title>{3}</title></line>\n",
                       px(p.x), height - bottom - rug + 1, height - bottom - 2, title_of(*p.attempt));
    }
  }

  void steps() {
    double best = 1;
    std::string path = fmt::format("M{:.1f} {:.1f}", px(0), py(1)), marks;
    double labelled = -label_room;
    std::vector<Point> commits;
    for (const Point& p : points_)
      if (p.attempt->node) commits.push_back(p);
    // Of one round, the later slot may have been done first.
    std::ranges::stable_sort(commits, {}, &Point::x);
    for (const Point& p : commits) {
      if (p.y > best) {
        best = p.y;
        path += fmt::format("H{:.1f}V{:.1f}", px(p.x), py(best));
      }
      marks += fmt::format("<circle class=\"commit\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>node {}: "
                           "{}</title></circle>\n",
                           px(p.x), py(p.y), *p.attempt->node, title_of(*p.attempt));
      if (px(p.x) - labelled < label_room) continue;
      labelled = px(p.x);
      marks +=
          fmt::format("<text class=\"node\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                      px(p.x), py(p.y) - 8, *p.attempt->node);
    }
    fmt::format_to(out(), "<path class=\"best\" d=\"{}H{:.1f}\"/>\n{}", path, width - right, marks);
  }

  Along along_;
  std::vector<Point> points_;
  double x_end_ = 1, low_ = 1, high_ = 1;
  std::string text_;
};

} // namespace

std::string progress_chart(std::span<const run::Attempt> attempts, Along along, double end) {
  return Chart(attempts, along, end).svg();
}

} // namespace asmevo::report
