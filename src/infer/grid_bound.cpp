#include "infer/grid_bound.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace asmevo::infer {

int64_t written_bytes(const ProbeRun& run) {
  int64_t bytes = 0;
  for (const auto& [s, t] : run.seen.touched) bytes += t.written.end - t.written.begin;
  return bytes;
}

namespace {

constexpr uint64_t few = 2; // enough to show that ids matter

// The workgroups of a grid that are last in direction `d` and at a corner in the others.
std::vector<uint64_t> last_ones(const std::array<uint64_t, 3>& grid, unsigned d) {
  std::set<uint64_t> list;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<uint64_t, 3> at{};
    for (unsigned k = 0; k < 3; ++k) at[k] = k == d || (corner >> k & 1) != 0 ? grid[k] - 1 : 0;
    list.insert(at[0] + grid[0] * (at[1] + grid[1] * at[2]));
  }
  return {list.begin(), list.end()};
}

// More and more workgroups until the last ones write nothing, then the place in between is halved. None: as
// many as there can be write something, or larger grids fail. Only the last ones are run. Where they write
// would not do: places that are worked out in 32 bits come round to the beginning.
Result<std::optional<uint64_t>> bound_of_grid(Prober& prober, const KernargFields& fields, ProbeSetup setup,
                                              unsigned d) {
  enum class Last : uint8_t { Writes, Idle, Fails };
  const auto last_of = [&](uint64_t workgroups) -> Result<Last> {
    setup.workgroups[d] = workgroups;
    setup.only = last_ones(setup.workgroups, d);
    ASMEVO_TRY(const ProbeRun run, prober.run(fields, setup));
    if (!run.outcome.completed()) return Last::Fails;
    return written_bytes(run) != 0 ? Last::Writes : Last::Idle;
  };
  // Work-items are counted in 32 bits, workgroups of all directions in 64.
  uint64_t most = std::numeric_limits<uint64_t>::max();
  for (unsigned other = 0; other < 3; ++other)
    if (other != d) most /= setup.workgroups[other];
  most = std::min<uint64_t>(most, std::numeric_limits<uint32_t>::max() / setup.workgroup[d]);
  constexpr uint64_t step = 16;
  uint64_t enough = setup.workgroups[d], beyond = 0;
  while (beyond == 0 || beyond - enough > 1) {
    if (enough >= most) return std::nullopt;
    const uint64_t next = beyond == 0 ? std::min(most, enough * step) : enough + (beyond - enough) / 2;
    ASMEVO_TRY(const Last last, last_of(next));
    if (last == Last::Fails) return std::nullopt;
    (last == Last::Writes ? enough : beyond) = next;
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
  // A large grid that only follows from numbers nobody asked for is not worth what it would cost whoever runs
  // the draft.
  const bool given =
      std::ranges::any_of(fields.fields(), [](const KernargField& f) { return !f.pointer && f.pinned; });
  if (given || *bound == setup.workgroups[d]) return GridChoice{*bound, ""};
  return GridChoice{few, fmt::format("grid {}: with these scalars {} workgroups have something to do, not {} "
                                     "(--set, --grid)",
                                     "xyz"[d], *bound, few)};
}

} // namespace asmevo::infer
