#include "profile/roofline.h"

namespace asmevo::profile {

Roofline roofline(const KernelSummary& s) {
  Roofline r;
  if (s.operations() <= 0 || s.seconds <= 0) return r;
  r.operations = s.operations() / s.seconds;
  const bool matrix = s.matrix_flops + s.matrix_integer_ops > s.vector_flops;
  r.peak = matrix ? s.matrix_peak : s.vector_peak;
  r.peak_unit = matrix ? "matrix" : "VALU";
  r.attainable = r.peak, r.roof = r.peak_unit;
  for (const LevelUse& level : s.levels) {
    if (level.bytes() <= 0 || level.peak <= 0) continue;
    double& intensity = r.intensity[static_cast<size_t>(level.level)];
    intensity = s.operations() / level.bytes();
    if (intensity * level.peak >= r.attainable) continue;
    r.attainable = intensity * level.peak;
    r.roof = name(level.level);
  }
  return r;
}

} // namespace asmevo::profile
