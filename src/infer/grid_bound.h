// How many workgroups of a grid have something to do: what bounds it (a size that the kernel compares its
// element numbers with) lets the last ones write nothing.
#pragma once

#include "infer/probe.h"

#include <string>

namespace asmevo::infer {

/// How far a run writes, over all regions.
int64_t written_bytes(const ProbeRun&);

struct GridChoice {
  uint64_t workgroups = 1;
  std::string doubt; // one line: why the user should look at it; empty: no reason
};

/// For direction `d` where the last of the workgroups that `setup` has still writes beyond the others: as
/// many as have something to do.
Result<GridChoice> choose_large_grid(Prober&, const KernargFields&, const ProbeSetup& setup, unsigned d);

} // namespace asmevo::infer
