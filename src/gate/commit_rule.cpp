#include "gate/commit_rule.h"

#include "timing/ensemble.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::gate {

namespace {

std::vector<double> ratios(std::span<const double> of, std::span<const double> candidate) {
  std::vector<double> list;
  for (size_t m = 0; m < std::min(of.size(), candidate.size()); ++m) list.push_back(of[m] / candidate[m]);
  return list;
}

size_t gains(std::span<const double> best, std::span<const double> candidate) {
  const std::vector<double> r = ratios(best, candidate);
  return static_cast<size_t>(std::ranges::count_if(r, [](double x) { return x > 1; }));
}

} // namespace

Comparison compare_times(std::span<const double> k0, std::span<const double> best,
                         std::span<const double> candidate, const CommitRule& rule) {
  Comparison c;
  if (candidate.empty() || best.empty()) return c;
  const timing::Spread over_best = timing::spread_of(ratios(best, candidate));
  c.speedup = timing::spread_of(ratios(k0, candidate)).median;
  c.over_best = over_best.median, c.low = over_best.low, c.high = over_best.high, c.cv = over_best.deviation;
  c.faster_share = static_cast<double>(gains(best, candidate)) / static_cast<double>(candidate.size());
  c.needed = 1 + std::max(rule.epsilon, rule.spread_factor * c.cv);
  c.sufficient = candidate.size() == best.size() && c.over_best >= c.needed &&
                 c.speedup >= rule.least_speedup && c.faster_share >= rule.least_share;
  return c;
}

bool may_suffice(std::span<const double> best, std::span<const double> candidate, const CommitRule& rule) {
  const size_t lost = std::min(best.size(), candidate.size()) - gains(best, candidate);
  const auto all = static_cast<double>(best.size());
  return all - static_cast<double>(lost) >= rule.least_share * all;
}

std::string Comparison::describe() const {
  return fmt::format(
      "{:.4f} times the best in the median ({:.4f} to {:.4f}, faster on {:.0f} % of the models); "
      "{:.4f} was needed; {:.4f} times K0",
      over_best, low, high, faster_share * 100, needed, speedup);
}

} // namespace asmevo::gate
