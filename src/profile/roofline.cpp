#include "profile/roofline.h"

#include <algorithm>

namespace asmevo::profile {

Roofline roofline(const KernelSummary& s) {
  Roofline r;
  if (s.operations() <= 0 || s.seconds <= 0) return r;
  r.operations = s.operations() / s.seconds;
  const bool matrix = s.matrix_flops + s.matrix_integer_ops > s.vector_flops;
  r.peak = matrix ? s.matrix_peak : s.vector_peak;
  r.peak_unit = matrix ? "matrix" : "VALU";
  // Work and time are worked out apart for what is not simulated.
  r.attainable = std::max(r.peak, r.operations), r.roof = r.peak_unit;
  for (const LevelUse& level : s.levels) {
    if (level.bytes() <= 0) continue;
    r.intensity[static_cast<size_t>(level.level)] = s.operations() / level.bytes();
    if (level.least_share <= 0 || r.operations / level.least_share >= r.attainable) continue;
    r.attainable = r.operations / level.least_share;
    r.roof = name(level.level);
  }
  return r;
}

} // namespace asmevo::profile
