#include "timing/ensemble.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asmevo::timing {

std::vector<EnsembleMember> parameter_ensemble(const MachineModel& model, unsigned members, uint64_t seed) {
  std::vector<EnsembleMember> list = {{"nominal", model.nominal(), {}}};
  RandomStream random(seed);
  for (unsigned n = 1; n < members; ++n) {
    EnsembleMember m{fmt::format("parameters {}", n), model.draw(random.next()), {}};
    m.options.seed = random.next() | 1;
    list.push_back(std::move(m));
  }
  return list;
}

std::vector<EnsembleMember> structural_ensemble(const MachineModel& model) {
  using S = Structure;
  const auto with = [&](std::string name, S::Arbitration a, S::Placement p, Cache::Replacement r) {
    EnsembleMember m{std::move(name), model.nominal(), {}};
    m.options.structure = {.arbitration = a, .placement = p, .replacement = r};
    return m;
  };
  constexpr auto lru = Cache::Replacement::LeastRecentlyUsed, random = Cache::Replacement::Random;
  return {
      with("youngest wave first", S::Arbitration::YoungestFirst, S::Placement::RoundRobin, lru),
      with("waves in turn", S::Arbitration::RoundRobin, S::Placement::RoundRobin, lru),
      with("oldest wave first", S::Arbitration::OldestFirst, S::Placement::RoundRobin, lru),
      with("the emptiest compute unit first", S::Arbitration::GreedyThenLongestReady, S::Placement::Emptiest,
           lru),
      with("caches replace at random", S::Arbitration::GreedyThenLongestReady, S::Placement::RoundRobin,
           random),
      with("waves in turn, caches replace at random", S::Arbitration::RoundRobin, S::Placement::RoundRobin,
           random),
  };
}

Spread spread_of(std::vector<double> values) {
  Spread s;
  if (values.empty()) return s;
  std::ranges::sort(values);
  const size_t n = values.size();
  s.low = values.front(), s.high = values.back();
  s.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (n > 1 && mean > 0) s.deviation = std::sqrt(squares / static_cast<double>(n - 1)) / mean;
  return s;
}

} // namespace asmevo::timing
