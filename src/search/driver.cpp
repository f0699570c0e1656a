#include "search/driver.h"

#include <algorithm>

namespace asmevo::search {

double reward_of(const Outcome& o) {
  constexpr double good_gain = 0.01;
  if (o.node) return 1;
  if (!o.evaluation.passed() || o.evaluation.seconds.empty()) return 0;
  return std::clamp((o.comparison.over_best - 1) / good_gain, 0.0, 1.0) / 2;
}

} // namespace asmevo::search
