#include "infer/grid_bound.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace asmevo::infer {

int64_t written_bytes(const ProbeRun& run) {
  int64_t bytes = 0;
  for (const auto& [s, t] : run.seen.touched) bytes += t.written.end - t.written.begin;
  return bytes;
}

namespace {

constexpr uint64_t most_unasked = 256;
constexpr uint64_t few = 2; // enough to show that ids matter

// More and more until the last workgroup writes nothing more, then the place in between is halved. Were
// others run than the corners, they would stand in for a last one that does nothing. None: as many as there
// can be have something to do, or larger grids fail.
Result<std::optional<uint64_t>> bound_of_grid(Prober& prober, const KernargFields& fields, ProbeSetup setup,
                                              unsigned d) {
  setup.most_workgroups = corners_only;
  const auto written = [&](uint64_t workgroups) -> Result<std::optional<int64_t>> {
    setup.workgroups[d] = workgroups;
    ASMEVO_TRY(const ProbeRun run, prober.run(fields, setup));
    if (!run.outcome.completed()) return std::nullopt;
    return written_bytes(run);
  };
  // Work-items are counted in 32 bits, workgroups of all directions in 64.
  uint64_t most = std::numeric_limits<uint64_t>::max();
  for (unsigned other = 0; other < 3; ++other)
    if (other != d) most /= setup.workgroups[other];
  most = std::min<uint64_t>(most, std::numeric_limits<uint32_t>::max() / setup.workgroup[d]);
  constexpr uint64_t step = 16;
  uint64_t enough = setup.workgroups[d], beyond = 0;
  ASMEVO_TRY(const auto first, written(enough));
  if (!first) return std::nullopt;
  int64_t bytes = *first;
  while (beyond == 0 || beyond - enough > 1) {
    if (enough >= most) return std::nullopt;
    const uint64_t next = beyond == 0 ? std::min(most, enough * step) : enough + (beyond - enough) / 2;
    ASMEVO_TRY(const auto now, written(next));
    if (!now) return std::nullopt;
    if (*now > bytes) {
      bytes = *now;
      enough = next;
    } else {
      beyond = next;
    }
  }
  return enough;
}

} // namespace

Result<GridChoice> choose_large_grid(Prober& prober, const KernargFields& fields, const ProbeSetup& setup,
                                     unsigned d) {
  ASMEVO_TRY(const auto bound, bound_of_grid(prober, fields, setup, d));
  if (!bound)
    return GridChoice{
        few, fmt::format("grid {}: no scalar bounds it; every workgroup does more (--grid)", "xyz"[d])};
  // A grid that only scalars nobody asked for make large is not worth what it would cost whoever runs the
  // draft.
  const bool given =
      std::ranges::any_of(fields.fields(), [](const KernargField& f) { return !f.pointer && f.pinned; });
  if (given || *bound <= most_unasked) return GridChoice{*bound, ""};
  return GridChoice{few, fmt::format("grid {}: with these scalars {} workgroups have something to do, not {} "
                                     "(--set, --grid)",
                                     "xyz"[d], *bound, few)};
}

} // namespace asmevo::infer
