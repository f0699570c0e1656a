#include "program/loops.h"

#include <algorithm>
#include <numeric>

namespace asmevo::program {

namespace {

// Inner loops are found first (their headers come later in reverse post-order) and then stand for all their
// blocks when an outer loop's body is gathered, so each block is walked over once however deep the nest.
class LoopFinder {
 public:
  LoopFinder(std::vector<Block>& blocks, const DominatorTree& dominators)
      : blocks_(blocks), dominators_(dominators) {}

  LoopForest find() {
    position_.assign(blocks_.size(), no_index);
    for (uint32_t k = 0; k < dominators_.order.size(); ++k) position_[dominators_.order[k]] = k;
    for (auto header = dominators_.order.rbegin(); header != dominators_.order.rend(); ++header)
      if (std::vector<uint32_t> latches = latches_of(*header); !latches.empty())
        gather(*header, std::move(latches));
    return outer_first();
  }

 private:
  std::vector<uint32_t> latches_of(uint32_t header) {
    std::vector<uint32_t> latches;
    for (const uint32_t p : blocks_[header].predecessors) {
      if (position_[p] == no_index || position_[p] < position_[header]) continue;
      if (dominators_.dominates(header, p))
        latches.push_back(p);
      else
        forest_.irreducible = true; // goes back in the search to a block that is not on every way here
    }
    std::ranges::sort(latches);
    return latches;
  }

  // The outermost loop found so far around a block; shortens the way for the next question.
  uint32_t outermost(uint32_t loop) {
    uint32_t top = loop;
    while (parent_of_nest_[top] != no_index) top = parent_of_nest_[top];
    while (loop != top) loop = std::exchange(parent_of_nest_[loop], top);
    return top;
  }

  void gather(uint32_t header, std::vector<uint32_t> latches) {
    const auto loop = static_cast<uint32_t>(forest_.loops.size());
    parent_of_nest_.push_back(no_index);
    std::vector<uint32_t> work = latches;
    forest_.loops.push_back({header, {header}, std::move(latches)});
    blocks_[header].loop = loop;
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      if (position_[b] == no_index) continue; // not reachable: no part of any loop
      if (blocks_[b].loop == no_index) {
        blocks_[b].loop = loop;
        forest_.loops[loop].blocks.push_back(b);
      } else {
        const uint32_t inner = outermost(blocks_[b].loop);
        if (inner == loop) continue;
        forest_.loops[inner].parent = loop;
        parent_of_nest_[inner] = loop;
        b = forest_.loops[inner].header;
      }
      work.insert(work.end(), blocks_[b].predecessors.begin(), blocks_[b].predecessors.end());
    }
    std::ranges::sort(forest_.loops[loop].blocks);
  }

  LoopForest outer_first() {
    std::vector<Loop>& loops = forest_.loops;
    // A parent was found after its children.
    for (size_t l = loops.size(); l-- > 0;)
      if (loops[l].parent != no_index) loops[l].depth = loops[loops[l].parent].depth + 1;
    std::vector<uint32_t> order(loops.size()), renamed(loops.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
      return std::pair(loops[a].depth, loops[a].header) < std::pair(loops[b].depth, loops[b].header);
    });
    for (uint32_t k = 0; k < order.size(); ++k) renamed[order[k]] = k;
    LoopForest sorted{{}, forest_.irreducible};
    for (const uint32_t l : order) {
      sorted.loops.push_back(std::move(loops[l]));
      if (sorted.loops.back().parent != no_index)
        sorted.loops.back().parent = renamed[sorted.loops.back().parent];
    }
    for (Block& b : blocks_) {
      if (b.loop == no_index) continue;
      b.loop = renamed[b.loop];
      b.loop_depth = sorted.loops[b.loop].depth;
    }
    return sorted;
  }

  std::vector<Block>& blocks_;
  const DominatorTree& dominators_;
  std::vector<uint32_t> position_, parent_of_nest_;
  LoopForest forest_;
};

} // namespace

LoopForest find_loops(std::vector<Block>& blocks, const DominatorTree& dominators) {
  return LoopFinder(blocks, dominators).find();
}

} // namespace asmevo::program
