// Control flow of one function: basic blocks, edges, loops.
#pragma once

#include "program/dominators.h"
#include "program/program.h"

#include <vector>

namespace asmevo::program {

struct Block {
  Index begin = 0, end = 0;                       // entries [begin, end)
  std::vector<uint32_t> successors, predecessors; // block numbers, each once
  uint32_t loop = no_index;                       // innermost loop it is in
  uint32_t loop_depth = 0;
  bool reachable = false; // from the function's entry
  bool leaves = false;    // ends the program, returns, or goes where this analysis cannot follow
};

/// A natural loop: the header dominates every block of it. Two back edges to one header make one loop.
struct Loop {
  uint32_t header = 0; // block
  std::vector<uint32_t>
      blocks; // of this loop and of no inner one; header included, ascending (all: Cfg::blocks_in)
  std::vector<uint32_t> latches; // blocks with an edge back to the header, ascending
  uint32_t parent = no_index;    // the next outer loop
  uint32_t depth = 1;            // 1: outermost
};

class Cfg {
 public:
  /// Blocks in address order; block 0 starts at function.begin. A branch out of the function leaves; indirect
  /// jumps leave and set unknown_edges, but for the long branch of compilers (s_getpc, s_add, s_addc of a
  /// label, s_setpc in a row), whose target is known; calls end a block and fall through. A Data entry that
  /// can be reached may be anything: it leaves, falls through and sets unknown_edges. A function without
  /// entries has no blocks.
  static Cfg build(const Program&, const Function&);

  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Loop>& loops() const {
    return loops_;
  } // outer before inner, then by address of the header
  /// The block of an entry; no_index outside the function.
  uint32_t block_of(Index entry) const;
  /// Blocks in reverse post-order from the entry; unreachable ones after them.
  const std::vector<uint32_t>& order() const { return order_; }
  /// Some reachable block jumps to addresses that are not known. Blocks that are not reachable may be, then.
  bool unknown_edges() const { return unknown_edges_; }
  /// Some cycle has two ways in. Such a cycle is not among the loops.
  bool irreducible() const { return irreducible_; }
  /// a dominates b (both reachable).
  bool dominates(uint32_t a, uint32_t b) const { return dominators_.dominates(a, b); }
  /// All blocks of a loop, those of inner loops included, ascending.
  std::vector<uint32_t> blocks_in(uint32_t loop) const;
  bool in_loop(uint32_t block, uint32_t loop) const;

 private:
  friend class CfgBuilder;
  std::vector<Block> blocks_;
  std::vector<Loop> loops_;
  std::vector<uint32_t> order_;
  DominatorTree dominators_;
  bool unknown_edges_ = false, irreducible_ = false;
};

} // namespace asmevo::program
