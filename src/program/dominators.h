// Dominators of a flow graph by Lengauer and Tarjan's algorithm (TOPLAS 1979, the "simple" O(m log n)
// version): the iterative methods are quadratic on long chains of early exits, which unrolled kernels have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace asmevo::program {

/// Successors of each node; node 0 is the entry.
using FlowGraph = std::vector<std::vector<uint32_t>>;

struct DominatorTree {
  static constexpr uint32_t none = UINT32_MAX;
  // Immediate dominator of each node; none for the entry and for nodes that cannot be reached from it.
  std::vector<uint32_t> parent;
  // Times at which a walk of the tree enters and leaves a node: a dominates b where a's interval holds b's.
  std::vector<uint32_t> enter, leave;
  // Reachable nodes in reverse post-order of a depth-first search.
  std::vector<uint32_t> order;

  bool reachable(uint32_t node) const { return enter[node] != none; }
  bool dominates(uint32_t a, uint32_t b) const {
    return reachable(a) && reachable(b) && enter[a] <= enter[b] && leave[b] <= leave[a];
  }
};

DominatorTree dominator_tree(const FlowGraph&);

} // namespace asmevo::program
