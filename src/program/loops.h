// Natural loops of a flow graph, nested. For Cfg::build only.
#pragma once

#include "program/cfg.h"

namespace asmevo::program {

struct LoopForest {
  std::vector<Loop> loops; // outer before inner
  bool irreducible = false;
};

/// Fills in Block::loop and Block::loop_depth as well.
LoopForest find_loops(std::vector<Block>& blocks, const DominatorTree&);

} // namespace asmevo::program
