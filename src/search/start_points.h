// Versions to start from that are fast and differ from each other.
#pragma once

#include "search/lineage.h"

namespace asmevo::search {

/// At most `count` nodes that can be edited, the best first. Each further one is that with the most of
///   (its speedup as a share of the best's) + (what share of its changes no chosen one has),
/// so that a slower version is taken where it stands for other ideas.
std::vector<uint32_t> start_points(const Lineage&, size_t count);

} // namespace asmevo::search
