#include "base/random.h"
#include "program/cfg.h"
#include "program_builder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace asmevo::program {
namespace {

using testing::build_program;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Cfg cfg_of(const Program& program) {
  return Cfg::build(program, program.functions.front());
}

TEST(Cfg, StraightLineIsOneBlockThatLeaves) {
  const Program p = build_program("v_mov_b32 v0, v1\ns_endpgm\n");
  const Cfg cfg = cfg_of(p);
  ASSERT_EQ(cfg.blocks().size(), 1U);
  EXPECT_TRUE(cfg.blocks()[0].leaves);
  EXPECT_TRUE(cfg.blocks()[0].reachable);
  EXPECT_FALSE(cfg.unknown_edges());
  EXPECT_EQ(cfg.block_of(1), 0U);
  EXPECT_EQ(cfg.block_of(2), no_index);
}

TEST(Cfg, FunctionWithoutEntriesHasNoBlocks) {
  const Program p = build_program("");
  EXPECT_THAT(cfg_of(p).blocks(), IsEmpty());
}

TEST(Cfg, BranchesCutBlocksAndEdgesAreThere) {
  const Program p = build_program(R"(
      s_cmp_eq_u32 s0, 0
      s_cbranch_scc1 L1
      v_mov_b32 v0, 1
      s_branch L2
    L1:
      v_mov_b32 v0, 2
    L2:
      s_endpgm
      v_mov_b32 v0, 3
  )");
  const Cfg cfg = cfg_of(p);
  ASSERT_EQ(cfg.blocks().size(), 5U);
  EXPECT_THAT(cfg.blocks()[0].successors, ::testing::UnorderedElementsAre(1, 2));
  EXPECT_THAT(cfg.blocks()[1].successors, ElementsAre(3));
  EXPECT_THAT(cfg.blocks()[2].successors, ElementsAre(3));
  EXPECT_THAT(cfg.blocks()[3].predecessors, ::testing::UnorderedElementsAre(1, 2));
  EXPECT_THAT(cfg.blocks()[3].successors, IsEmpty());
  EXPECT_FALSE(cfg.blocks()[4].reachable);
  EXPECT_TRUE(cfg.dominates(0, 3));
  EXPECT_FALSE(cfg.dominates(1, 3));
  EXPECT_FALSE(cfg.dominates(0, 4)) << "an unreachable block has no dominators";
  EXPECT_EQ(cfg.order().front(), 0U);
  EXPECT_EQ(cfg.order().back(), 4U);
}

TEST(Cfg, CallsFallThroughAndReturnsLeave) {
  const Program p = build_program(R"(
      s_swappc_b64 s[30:31], s[4:5]
      v_mov_b32 v0, 1
      s_call_b64 s[8:9], F
      s_endpgm
    F:
      s_setpc_b64 s[8:9]
  )");
  const Cfg cfg = cfg_of(p);
  ASSERT_EQ(cfg.blocks().size(), 4U);
  EXPECT_THAT(cfg.blocks()[0].successors, ElementsAre(1));
  EXPECT_THAT(cfg.blocks()[1].successors, ElementsAre(2));
  EXPECT_FALSE(cfg.blocks()[1].leaves);
  EXPECT_FALSE(cfg.blocks()[3].reachable) << "a callee in the same function is no successor of the call";
  EXPECT_FALSE(cfg.unknown_edges()) << "an indirect jump that is not reached takes nothing away";
}

TEST(Cfg, IndirectJumpIsAnUnknownEdge) {
  const Program p = build_program("s_setpc_b64 s[8:9]\ns_endpgm\n");
  const Cfg cfg = cfg_of(p);
  EXPECT_TRUE(cfg.unknown_edges());
  EXPECT_TRUE(cfg.blocks()[0].leaves);
  EXPECT_THAT(cfg.blocks()[0].successors, IsEmpty());
}

TEST(Cfg, LongBranchOfCompilersIsFollowed) {
  const std::string_view text = R"(
      s_getpc_b64 s[4:5]
      s_add_u32 s4, s4, L@rel32@lo
      s_addc_u32 s5, s5, L@rel32@hi
      s_setpc_b64 s[4:5]
      s_nop 0
    L:
      s_endpgm
  )";
  Program p = build_program(text);
  const Cfg cfg = cfg_of(p);
  ASSERT_EQ(cfg.blocks().size(), 3U);
  EXPECT_THAT(cfg.blocks()[0].successors, ElementsAre(2));
  EXPECT_FALSE(cfg.blocks()[0].leaves);
  EXPECT_FALSE(cfg.unknown_edges());
  // An address other than the label's own is not followed.
  p.references[0].addend = 4;
  EXPECT_TRUE(cfg_of(p).unknown_edges());
}

TEST(Cfg, BranchOutOfTheFunctionLeaves) {
  Program p = build_program("s_cbranch_scc0 L\ns_endpgm\nL:\ns_endpgm\n");
  p.functions[0].end = 2;
  p.functions[0].padding = 2;
  const Cfg cfg = cfg_of(p);
  EXPECT_TRUE(cfg.blocks()[0].leaves);
  EXPECT_THAT(cfg.blocks()[0].successors, ElementsAre(1));
  EXPECT_FALSE(cfg.unknown_edges());
}

TEST(Cfg, NestedLoops) {
  const Program p = build_program(R"(
      s_mov_b32 s0, 0
    OUTER:
      s_mov_b32 s1, 0
    INNER:
      s_add_u32 s1, s1, 1
      s_cbranch_scc0 INNER
      s_cbranch_vccz OUTER
      s_endpgm
  )");
  const Cfg cfg = cfg_of(p);
  ASSERT_EQ(cfg.loops().size(), 2U);
  const Loop &outer = cfg.loops()[0], &inner = cfg.loops()[1];
  EXPECT_EQ(outer.header, 1U);
  EXPECT_EQ(inner.header, 2U);
  EXPECT_EQ(inner.parent, 0U);
  EXPECT_THAT(inner.latches, ElementsAre(2));
  EXPECT_THAT(outer.latches, ElementsAre(3));
  EXPECT_THAT(outer.blocks, ElementsAre(1, 3));
  EXPECT_THAT(cfg.blocks_in(0), ElementsAre(1, 2, 3));
  EXPECT_EQ(cfg.blocks()[2].loop_depth, 2U);
  EXPECT_EQ(cfg.blocks()[3].loop_depth, 1U);
  EXPECT_EQ(cfg.blocks()[0].loop_depth, 0U);
  EXPECT_FALSE(cfg.irreducible());
}

TEST(Cfg, TwoWaysIntoACycleAreIrreducible) {
  const Program p = build_program(R"(
      s_cbranch_scc0 B
    A:
      s_nop 0
    B:
      s_cbranch_vccz A
      s_endpgm
  )");
  const Cfg cfg = cfg_of(p);
  EXPECT_TRUE(cfg.irreducible());
  EXPECT_THAT(cfg.loops(), IsEmpty());
}

// --- against the definitions, on random graphs ---

// Nodes that can be reached from 0 when `removed` may not be entered.
std::vector<bool> reach(const FlowGraph& g, uint32_t removed) {
  std::vector<bool> seen(g.size());
  std::vector<uint32_t> work;
  if (removed != 0) seen[0] = true, work.push_back(0);
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    for (const uint32_t s : g[n])
      if (s != removed && !seen[s]) seen[s] = true, work.push_back(s);
  }
  return seen;
}

FlowGraph random_graph(RandomStream& random) {
  const auto n = 1 + static_cast<uint32_t>(random.below(12));
  FlowGraph g(n);
  for (uint32_t a = 0; a < n; ++a)
    for (uint64_t k = random.below(3); k > 0; --k) g[a].push_back(static_cast<uint32_t>(random.below(n)));
  return g;
}

TEST(Dominators, AreWhatRemovingANodeCutsOff) {
  RandomStream random(7);
  for (int round = 0; round < 3000; ++round) {
    const FlowGraph g = random_graph(random);
    const DominatorTree tree = dominator_tree(g);
    const std::vector<bool> reachable = reach(g, DominatorTree::none);
    for (uint32_t a = 0; a < g.size(); ++a) {
      const std::vector<bool> without = reach(g, a);
      EXPECT_EQ(tree.reachable(a), reachable[a]);
      for (uint32_t b = 0; b < g.size(); ++b) {
        const bool expected = reachable[a] && reachable[b] && !without[b];
        ASSERT_EQ(tree.dominates(a, b), expected) << "round " << round << ": " << a << " over " << b;
      }
    }
  }
}

// Text of a program whose blocks branch as the graph says: one s_nop and a conditional branch a node.
std::string text_of(RandomStream& random, uint32_t blocks) {
  std::string text;
  for (uint32_t b = 0; b < blocks; ++b) {
    text += "L" + std::to_string(b) + ":\ns_nop 0\n";
    const uint64_t kind = random.below(4);
    const std::string target = "L" + std::to_string(random.below(blocks));
    if (kind == 0) text += "s_branch " + target + "\n";
    if (kind == 1) text += "s_endpgm\n";
    if (kind >= 2) text += "s_cbranch_scc0 " + target + "\n";
  }
  return text + "s_endpgm\n";
}

// The natural loop of a header by its definition: what reaches a latch without passing the header.
std::vector<uint32_t> natural_loop(const Cfg& cfg, const Loop& loop) {
  std::vector<bool> in(cfg.blocks().size());
  std::vector<uint32_t> work = loop.latches;
  in[loop.header] = true;
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    if (in[b] || !cfg.blocks()[b].reachable) continue;
    in[b] = true;
    work.insert(work.end(), cfg.blocks()[b].predecessors.begin(), cfg.blocks()[b].predecessors.end());
  }
  std::vector<uint32_t> blocks;
  for (uint32_t b = 0; b < in.size(); ++b)
    if (in[b]) blocks.push_back(b);
  return blocks;
}

// A cycle that no natural loop explains: the graph without edges to a dominating block is cyclic.
bool has_other_cycle(const Cfg& cfg) {
  const auto& blocks = cfg.blocks();
  std::vector<size_t> entering(blocks.size(), 0);
  std::vector<uint32_t> free;
  for (uint32_t b = 0; b < blocks.size(); ++b)
    for (const uint32_t s : blocks[b].successors)
      if (blocks[b].reachable && !cfg.dominates(s, b)) ++entering[s];
  size_t left = 0;
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].reachable) continue;
    ++left;
    if (entering[b] == 0) free.push_back(b);
  }
  while (!free.empty()) {
    const uint32_t b = free.back();
    free.pop_back();
    --left;
    for (const uint32_t s : blocks[b].successors)
      if (!cfg.dominates(s, b) && --entering[s] == 0) free.push_back(s);
  }
  return left != 0;
}

TEST(Cfg, LoopsMeetTheirDefinitionOnRandomPrograms) {
  RandomStream random(11);
  size_t loops = 0, irreducible = 0;
  for (int round = 0; round < 400; ++round) {
    const Program p = build_program(text_of(random, 2 + static_cast<uint32_t>(random.below(12))));
    const Cfg cfg = cfg_of(p);
    EXPECT_EQ(cfg.irreducible(), has_other_cycle(cfg));
    irreducible += cfg.irreducible() ? 1 : 0;
    loops += cfg.loops().size();
    std::vector<uint32_t> depth(cfg.blocks().size(), 0);
    for (uint32_t l = 0; l < cfg.loops().size(); ++l) {
      const Loop& loop = cfg.loops()[l];
      ASSERT_EQ(cfg.blocks_in(l), natural_loop(cfg, loop));
      if (loop.parent != no_index) {
        EXPECT_LT(loop.parent, l);
        EXPECT_TRUE(cfg.in_loop(loop.header, loop.parent));
      }
      for (const uint32_t latch : loop.latches) EXPECT_TRUE(cfg.dominates(loop.header, latch));
      for (const uint32_t b : cfg.blocks_in(l)) ++depth[b];
    }
    for (uint32_t b = 0; b < cfg.blocks().size(); ++b) ASSERT_EQ(cfg.blocks()[b].loop_depth, depth[b]);
  }
  EXPECT_GT(loops, 100U);
  EXPECT_GT(irreducible, 20U);
}

// Shapes on which simpler methods take quadratic time or space. Put together from three entries, since the
// parser takes 64 KiB at a time.
struct Shapes {
  Program base = build_program("L:\ns_nop 0\ns_cbranch_scc0 L\ns_endpgm\n");
  const Entry nop = base.entries[0], branch = base.entries[1], end = base.entries[2];

  void finish(Program& p) const {
    p.entries.push_back(end);
    p.functions[0].end = p.functions[0].padding = static_cast<Index>(p.entries.size());
  }
  // n conditional exits to one place.
  Program exits(Index n) const {
    Program p = base;
    p.entries.assign(n, branch);
    p.labels[0].at = n;
    finish(p);
    return p;
  }
  // n loops, one in the other.
  Program nest(Index n) const {
    Program p = base;
    p.entries.assign(n, nop);
    p.labels.clear();
    p.references.clear();
    for (Index k = n; k-- > 0;) {
      Entry e = branch;
      e.reference = static_cast<uint32_t>(p.references.size());
      Reference& reference = p.references.emplace_back();
      reference.use = isa::SymbolUse::Branch;
      reference.label = static_cast<uint32_t>(p.labels.size());
      p.labels.push_back({"L" + std::to_string(k), k});
      p.entries.push_back(e);
    }
    finish(p);
    return p;
  }
};

TEST(Cfg, HostileShapesStayFast) {
  constexpr Index n = 100'000;
  const Shapes shapes;
  const auto start = std::chrono::steady_clock::now();
  const Program exits = shapes.exits(n);
  const Cfg chain = cfg_of(exits);
  EXPECT_EQ(chain.blocks().size(), n + 1);
  EXPECT_TRUE(chain.dominates(0, n));
  EXPECT_FALSE(chain.dominates(1, n));
  const Program nest = shapes.nest(n);
  const Cfg loops = cfg_of(nest);
  EXPECT_EQ(loops.loops().size(), n);
  EXPECT_EQ(loops.blocks()[n - 1].loop_depth, n);
  EXPECT_FALSE(loops.irreducible());
  // Quadratic work would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

} // namespace
} // namespace asmevo::program
