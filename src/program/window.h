// A window: the part of a kernel a driver is shown and may edit.
#pragma once

#include "program/cfg.h"
#include "program/liveness.h"

#include <string>
#include <vector>

namespace asmevo::program {

struct Window {
  InstrId first, last; // inclusive, within one function
  Index begin = 0, end = 0;
  uint32_t loop_depth = 0; // of its most deeply nested block
  // Registers that may be read in it before it writes them, and what code behind it may read; at all ways in
  // and out.
  isa::RegSet live_in, live_out;
};

/// Cuts the reachable code of a function into windows of at most `limit` (at least 1) instructions, in
/// address order and disjoint: along basic blocks, a loop's blocks together where they fit, long blocks at
/// barriers and waits. A window lies wholly inside or wholly outside each loop that is too long for one.
std::vector<Window> windows(const Program&, const Function&, const Cfg&, const Liveness&, size_t limit = 200);

/// The range [begin, end) of a function as a window: its ids, depth and live registers.
Window window_of(const Program&, const Cfg&, const Liveness&, Index begin, Index end);

/// The listing of a window: a line an instruction, "id: text", labels on lines of their own.
std::string listing(const Program&, Index begin, Index end, isa::Codec&);

} // namespace asmevo::program
