#include "program/cfg.h"

#include "program/loops.h"

#include <algorithm>
#include <string_view>

namespace asmevo::program {

namespace {

// s_cbranch_i_fork runs both ways in turn under different EXEC masks and comes back through s_cbranch_join.
bool forks(const isa::Instruction& i) {
  return i.branch && i.base_mnemonic.ends_with("_fork");
}

bool is_pair(const isa::Operand* o, isa::RegRange pair) {
  return o != nullptr && o->reg == pair;
}

} // namespace

class CfgBuilder {
 public:
  CfgBuilder(const Program& program, const Function& function) : program_(program), function_(function) {}

  Cfg build() {
    cut_blocks();
    connect();
    cfg_.dominators_ = dominator_tree(graph_);
    find_order();
    for (uint32_t b = 0; b < cfg_.blocks_.size(); ++b)
      if (cfg_.blocks_[b].reachable && unknown_exit_[b]) cfg_.unknown_edges_ = true;
    LoopForest forest = find_loops(cfg_.blocks_, cfg_.dominators_);
    cfg_.loops_ = std::move(forest.loops);
    cfg_.irreducible_ = forest.irreducible;
    return std::move(cfg_);
  }

 private:
  bool inside(Index i) const { return i >= function_.begin && i < function_.end; }
  bool ends_block(Index i) const {
    return program_.instruction(i).ends_block() || program_.instruction(i).is_data();
  }

  // Where a jump goes, if that is known.
  Index target_of(Index i) const {
    const isa::Instruction& jump = program_.instruction(i);
    if (jump.branch && !jump.call) return program_.branch_target(i);
    return jump.is("s_setpc_b64") ? long_branch_target(i) : no_index;
  }

  // s_getpc_b64 s[4:5]; s_add_u32 s4, s4, label@rel32@lo; s_addc_u32 s5, s5, label@rel32@hi; s_setpc_b64
  // s[4:5]
  Index long_branch_target(Index i) const {
    if (i < function_.begin + 3) return no_index;
    const isa::Operand* address = program_.instruction(i).find(isa::Role::Src0);
    if (address == nullptr || address->kind != isa::Operand::Kind::Register) return no_index;
    const isa::RegRange pair = address->reg, low{pair.first, 1},
                        high{static_cast<isa::RegUnit>(pair.first + 1), 1};
    const isa::Instruction &getpc = program_.instruction(i - 3), &add = program_.instruction(i - 2),
                           &addc = program_.instruction(i - 1);
    if (!getpc.is("s_getpc_b64") || !is_pair(getpc.find(isa::Role::Sdst), pair) || !add.is("s_add_u32") ||
        !is_pair(add.find(isa::Role::Sdst), low) || !add.reads(low) || !addc.is("s_addc_u32") ||
        !is_pair(addc.find(isa::Role::Sdst), high) || !addc.reads(high))
      return no_index;
    const uint32_t lo = rel32_label(i - 2, isa::SymbolUse::Rel32Lo, i - 3);
    const uint32_t hi = rel32_label(i - 1, isa::SymbolUse::Rel32Hi, i - 3);
    return lo != no_index && lo == hi ? program_.labels[lo].at : no_index;
  }

  uint32_t rel32_label(Index i, isa::SymbolUse use, Index base) const {
    if (program_.entries[i].reference == no_index) return no_index;
    const Reference& r = program_.references[program_.entries[i].reference];
    return r.use == use && r.base == base && r.addend == 0 ? r.label : no_index;
  }

  void cut_blocks() {
    if (function_.begin >= function_.end) return;
    std::vector<bool> leader(function_.end - function_.begin);
    const auto mark = [&](Index i) {
      if (inside(i)) leader[i - function_.begin] = true;
    };
    mark(function_.begin);
    if (function_.padding > function_.begin) mark(function_.padding);
    for (Index i = function_.begin; i < function_.end; ++i) {
      if (!ends_block(i)) continue;
      mark(i + 1);
      mark(target_of(i));
    }
    for (Index i = function_.begin; i < function_.end; ++i) {
      if (!leader[i - function_.begin]) continue;
      if (!cfg_.blocks_.empty()) cfg_.blocks_.back().end = i;
      cfg_.blocks_.emplace_back().begin = i;
    }
    cfg_.blocks_.back().end = function_.end;
  }

  void connect() {
    graph_.resize(cfg_.blocks_.size());
    unknown_exit_.resize(cfg_.blocks_.size());
    for (uint32_t b = 0; b < cfg_.blocks_.size(); ++b) connect_block(b);
    for (uint32_t b = 0; b < cfg_.blocks_.size(); ++b) {
      for (const uint32_t s : graph_[b]) cfg_.blocks_[s].predecessors.push_back(b);
      cfg_.blocks_[b].successors = graph_[b];
    }
  }

  void connect_block(uint32_t b) {
    const Index last = cfg_.blocks_[b].end - 1;
    const isa::Instruction& i = program_.instruction(last);
    const Index target = target_of(last);
    if (i.ends_program) cfg_.blocks_[b].leaves = true;
    if (i.is_data() || forks(i) || (i.indirect && !i.call && target == no_index)) {
      cfg_.blocks_[b].leaves = true;
      unknown_exit_[b] = true;
    }
    const bool jumps = (i.branch && !i.call) || target != no_index;
    if (jumps) add_edge(b, target);
    if (i.call || !i.no_fallthrough()) add_edge(b, last + 1);
  }

  void add_edge(uint32_t from, Index to) {
    if (!inside(to)) {
      cfg_.blocks_[from].leaves = true;
      return;
    }
    const uint32_t block = cfg_.block_of(to);
    if (std::ranges::find(graph_[from], block) == graph_[from].end()) graph_[from].push_back(block);
  }

  void find_order() {
    cfg_.order_ = cfg_.dominators_.order;
    for (const uint32_t b : cfg_.order_) cfg_.blocks_[b].reachable = true;
    for (uint32_t b = 0; b < cfg_.blocks_.size(); ++b)
      if (!cfg_.blocks_[b].reachable) cfg_.order_.push_back(b);
  }

  const Program& program_;
  const Function& function_;
  FlowGraph graph_;
  std::vector<bool> unknown_exit_;
  Cfg cfg_;
};

Cfg Cfg::build(const Program& program, const Function& function) {
  return CfgBuilder(program, function).build();
}

uint32_t Cfg::block_of(Index entry) const {
  const auto after = std::ranges::upper_bound(blocks_, entry, {}, &Block::begin);
  if (after == blocks_.begin()) return no_index;
  const auto block = std::prev(after);
  return entry < block->end ? static_cast<uint32_t>(block - blocks_.begin()) : no_index;
}

bool Cfg::in_loop(uint32_t block, uint32_t loop) const {
  uint32_t l = blocks_[block].loop;
  while (l != no_index && loops_[l].depth > loops_[loop].depth) l = loops_[l].parent;
  return l == loop;
}

std::vector<uint32_t> Cfg::blocks_in(uint32_t loop) const {
  std::vector<uint32_t> blocks;
  for (uint32_t b = 0; b < blocks_.size(); ++b)
    if (in_loop(b, loop)) blocks.push_back(b);
  return blocks;
}

} // namespace asmevo::program
