#include "program/wave_divergence.h"

#include "program/dominators.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace asmevo::program {

namespace {

namespace unit = isa::unit;
using isa::Instruction;
using isa::MemoryKind;
using isa::RegRange;
using isa::RegSet;

constexpr RegRange exec{unit::exec, 2};
constexpr size_t most_blocks = size_t{1} << 20; // of all branches together

// Results that may differ between waves whatever the operands are.
bool makes_difference(const Instruction& i) {
  const isa::MemoryAccess& m = i.memory;
  switch (m.kind) {
  case MemoryKind::None: return i.is("s_getreg_b32");
  case MemoryKind::Scalar: return i.is("s_memtime") || i.is("s_memrealtime") || m.atomic;
  case MemoryKind::Flat:
  case MemoryKind::Scratch: return true; // each wave has its own scratch behind the same addresses
  case MemoryKind::Buffer: return m.atomic || !(i.mods.offen || i.mods.idxen); // so is scratch read on gfx90a
  default: return m.atomic || (m.load && m.store);
  }
}

// Vector instructions leave lanes that are off alone in every wave, and a mask is cut down to EXEC before it
// is asked whether it is empty: EXEC itself is looked at in branches only.
bool ignores_exec(const Instruction& i) {
  return i.reads_exec || i.is("s_and_b64");
}

bool differs(const RegSet& varying, const Instruction& i) {
  if (makes_difference(i)) return true;
  const bool no_exec = ignores_exec(i);
  return std::ranges::any_of(
      i.uses, [&](const RegRange& u) { return !(no_exec && exec.overlaps(u)) && varying.overlaps(u); });
}

// Where all ways from each block have met again: immediate dominators of the reversed graph, with the end of
// the program as node 0 and block b as node b + 1. Blocks that never come to an end count as leading to it.
DominatorTree post_dominators(const Cfg& cfg) {
  const std::vector<Block>& blocks = cfg.blocks();
  FlowGraph reversed(blocks.size() + 1);
  std::vector<bool> ends(blocks.size());
  std::vector<uint32_t> work;
  const auto reach = [&](uint32_t b) {
    if (blocks[b].reachable && !ends[b]) ends[b] = true, work.push_back(b);
  };
  const auto connect = [&](uint32_t b) {
    reversed[0].push_back(b + 1);
    reach(b);
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t before : blocks[at].predecessors) reach(before);
    }
  };
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].reachable) continue;
    for (const uint32_t next : blocks[b].successors) reversed[next + 1].push_back(b + 1);
    if (blocks[b].leaves || blocks[b].successors.empty()) connect(b);
  }
  for (uint32_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].reachable && !ends[b]) connect(b);
  return dominator_tree(reversed);
}

class Divergence {
 public:
  Divergence(const Program& program, const Function& function, const Cfg& cfg)
      : program_(program), function_(function), cfg_(cfg), after_(post_dominators(cfg)),
        in_(cfg.blocks().size()), written_(cfg.blocks().size()), dirty_(cfg.blocks().size(), true),
        parts_(cfg.blocks().size()), position_(cfg.blocks().size()) {
    for (uint32_t k = 0; k < cfg.order().size(); ++k) position_[cfg.order()[k]] = k;
  }

  std::vector<PartingBranch> run() {
    for (size_t b = 0; b < written_.size(); ++b)
      for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i)
        for (const RegRange& d : program_.instruction(i).defs) written_[b].insert(d);
    in_[0].insert(function_.kernel ? RegRange{unit::vgpr0, 3} : isa::all_vgprs);
    for (again_ = true; std::exchange(again_, false);)
      for (const uint32_t b : cfg_.order())
        if (cfg_.blocks()[b].reachable && std::exchange(dirty_[b], false)) flow(b);
    std::ranges::sort(branches_, {}, &PartingBranch::at);
    return std::move(branches_);
  }

 private:
  void flow(uint32_t b) {
    const Block& block = cfg_.blocks()[b];
    RegSet varying = in_[b];
    for (Index i = block.begin; i < block.end; ++i) step(varying, program_.instruction(i));
    for (const uint32_t next : block.successors) grow(next, varying);
    const Instruction& last = program_.instruction(block.end - 1);
    if (parts_[b] || !last.conditional || block.successors.size() < 2) return;
    for (const RegRange& use : last.uses)
      if (exec.overlaps(use) || varying.overlaps(use)) return part(b, use);
  }

  static void step(RegSet& varying, const Instruction& i) {
    const bool yes = differs(varying, i);
    for (const RegRange& d : i.defs) yes ? varying.insert(d) : varying.erase(d);
    if (i.call) varying.insert(isa::all_vgprs), varying.insert(isa::all_agprs);
  }

  void grow(uint32_t b, const RegSet& more) {
    const RegSet old = in_[b];
    in_[b] |= more;
    if (in_[b] != old) dirty_[b] = again_ = true;
  }

  void part(uint32_t b, const RegRange& condition) {
    parts_[b] = true;
    if (blocks_in_all_ >= most_blocks) return;
    const uint32_t meeting = after_.parent[b + 1]; // node; 0 or none: not before the end
    Ways ways = ways_from(b, meeting);
    blocks_in_all_ += ways.blocks.size();
    RegSet written;
    for (const uint32_t in : ways.blocks) written |= written_[in];
    for (const uint32_t joint : ways.joints) grow(joint, written);
    if (meeting != 0 && meeting != DominatorTree::none) grow(meeting - 1, written);
    branches_.push_back({cfg_.blocks()[b].end - 1, condition, std::move(ways.blocks)});
  }

  struct Ways {
    std::vector<uint32_t> blocks; // ascending
    std::vector<uint32_t> joints; // those where ways of different successors come together
  };

  // What is on ways from b's successors to the node `meeting`, which is not among it. Each block is marked
  // with the successor or joint that all ways to it come through; in reverse post-order, so that a block's
  // mark is mostly final before it is passed on.
  Ways ways_from(uint32_t b, uint32_t meeting) const {
    std::map<uint32_t, uint32_t> mark;            // by block
    std::set<std::pair<uint32_t, uint32_t>> work; // position in reverse post-order, block
    std::set<uint32_t> joints;
    const auto pass = [&](uint32_t to, uint32_t m) {
      if (to + 1 == meeting) return;
      const auto [at, fresh] = mark.emplace(to, m);
      if (!fresh && (at->second == m || !joints.insert(to).second)) return;
      if (!fresh) at->second = to;
      work.emplace(position_[to], to);
    };
    for (const uint32_t next : cfg_.blocks()[b].successors) pass(next, next);
    while (!work.empty()) {
      const uint32_t at = work.extract(work.begin()).value().second;
      if (at == b) continue;
      for (const uint32_t next : cfg_.blocks()[at].successors) pass(next, mark.at(at));
    }
    Ways ways;
    for (const auto& [block, m] : mark) ways.blocks.push_back(block);
    ways.joints.assign(joints.begin(), joints.end());
    return ways;
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  DominatorTree after_;
  std::vector<RegSet> in_;          // at the start of each block: what may differ between waves
  std::vector<RegSet> written_;     // in each block
  std::vector<char> dirty_, parts_; // by block
  std::vector<uint32_t> position_;  // of each block in reverse post-order
  bool again_ = false;
  size_t blocks_in_all_ = 0;
  std::vector<PartingBranch> branches_;
};

} // namespace

std::vector<PartingBranch> find_parting_branches(const Program& program, const Function& function,
                                                 const Cfg& cfg) {
  if (cfg.blocks().empty()) return {};
  return Divergence(program, function, cfg).run();
}

} // namespace asmevo::program
