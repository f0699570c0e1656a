// From what was inferred to a launch file.
#pragma once

#include "infer/infer.h"
#include "infer/probe.h"

namespace asmevo::infer {

/// `contents` by region.
oracle::LaunchSpec draft_of(const Inference&, const std::vector<RegionContents>& contents,
                            const KernargFields&, uint32_t dynamic_lds);

} // namespace asmevo::infer
