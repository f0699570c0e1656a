#include "profile/register_pressure.h"

#include <algorithm>

namespace asmevo::profile {

namespace {

using program::Index;

PressurePoint count(Index at, const isa::RegSet& live) {
  PressurePoint point{.at = at};
  live.for_each([&](isa::RegUnit u) {
    point.vgprs += isa::is_vgpr(u) ? 1 : 0;
    point.agprs += isa::is_agpr(u) ? 1 : 0;
    point.sgprs += isa::is_sgpr(u) ? 1 : 0;
  });
  return point;
}

void find_steps(RegisterPressure& p, const isa::Limits& limits) {
  const auto budget = [&](unsigned waves) {
    return limits.max_vgprs / waves / limits.vgpr_granule * limits.vgpr_granule;
  };
  const unsigned granules = (std::max(1U, p.allocated) + limits.vgpr_granule - 1) / limits.vgpr_granule;
  p.waves = std::clamp(limits.max_vgprs / (granules * limits.vgpr_granule), 1U, limits.waves_per_simd);
  p.room = budget(p.waves) > p.allocated ? budget(p.waves) - p.allocated : 0;
  if (p.waves == limits.waves_per_simd) return;
  p.next_budget = budget(p.waves + 1);
  p.to_save = p.allocated - p.next_budget;
}

} // namespace

unsigned RegisterPressure::most_in(Index begin, Index end) const {
  unsigned live = 0;
  for (const PressurePoint& p : points)
    if (p.at >= begin && p.at < end) live = std::max(live, p.vectors());
  return live;
}

RegisterPressure register_pressure(const KernelCode& code) {
  RegisterPressure pressure;
  const auto& blocks = code.cfg().blocks();
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].reachable) continue;
    const std::vector<isa::RegSet> live = code.liveness().before_each(b);
    for (Index i = blocks[b].begin; i < blocks[b].end; ++i)
      pressure.points.push_back(count(i, live[i - blocks[b].begin]));
  }
  for (const PressurePoint& p : pressure.points)
    if (pressure.most.at == program::no_index || p.vectors() > pressure.most.vectors()) pressure.most = p;
  pressure.allocated = code.resources().vgprs;
  find_steps(pressure, isa::limits(code.program().target));
  return pressure;
}

} // namespace asmevo::profile
