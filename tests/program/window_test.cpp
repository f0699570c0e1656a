#include "base/random.h"
#include "program/window.h"
#include "program_builder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace asmevo::program {
namespace {

using testing::build_program;
using testing::codec_for;

struct Analysed {
  Program program;
  Cfg cfg;
  Liveness liveness;

  explicit Analysed(std::string_view text, bool kernel = true)
      : program(build_program(text, kernel)), cfg(Cfg::build(program, program.functions[0])),
        liveness(Liveness::compute(program, program.functions[0], cfg)) {}
  Analysed(const Analysed&) = delete;
  std::vector<Window> windows(size_t limit) const {
    return program::windows(program, program.functions[0], cfg, liveness, limit);
  }
  std::vector<std::pair<Index, Index>> ranges(size_t limit) const {
    std::vector<std::pair<Index, Index>> result;
    for (const Window& w : windows(limit)) result.emplace_back(w.begin, w.end);
    return result;
  }
};

using Ranges = std::vector<std::pair<Index, Index>>;

const std::string_view loop = R"(
    v_mov_b32 v1, v0
    v_mov_b32 v2, v0
  L:
    v_add_u32 v1, v1, v2
    s_cmp_eq_u32 s0, 0
    s_cbranch_scc0 L
    ds_write_b32 v0, v1
    s_endpgm
)";

TEST(Windows, LoopsStayWholeWhereTheyFit) {
  const Analysed a(loop);
  EXPECT_EQ(a.ranges(100), (Ranges{{0, 7}}));
  EXPECT_EQ(a.ranges(4), (Ranges{{0, 2}, {2, 5}, {5, 7}}));
  EXPECT_EQ(a.ranges(2), (Ranges{{0, 2}, {2, 4}, {4, 5}, {5, 7}}));
}

TEST(Windows, KnowWhatLivesAroundThem) {
  const Analysed a(loop);
  const std::vector<Window> w = a.windows(4);
  ASSERT_EQ(w.size(), 3U);
  EXPECT_EQ(w[1].loop_depth, 1U);
  EXPECT_EQ(w[1].first.text(), "8");
  EXPECT_TRUE(w[1].live_in.contains(1) && w[1].live_in.contains(2));
  EXPECT_TRUE(w[1].live_out.contains(1) && w[1].live_out.contains(0));
  EXPECT_FALSE(w[1].live_out.contains(2)) << "only the loop itself reads it again";
  EXPECT_TRUE(w[2].live_out.empty());
  const std::vector<Window> cut = a.windows(2);
  EXPECT_TRUE(cut[2].live_out.contains(2)) << "the branch back leaves this window";
}

TEST(Windows, LongBlocksAreCutAtBarriersAndWaits) {
  std::string text;
  for (int k = 0; k < 30; ++k)
    text += k == 7 ? "s_waitcnt vmcnt(0)\n" : k == 17 ? "s_barrier\n" : "v_mov_b32 v1, v0\n";
  const Analysed a(text + "s_endpgm\n");
  EXPECT_EQ(a.ranges(10), (Ranges{{0, 7}, {7, 17}, {17, 27}, {27, 31}}));
}

TEST(Windows, ListingHasIdsAndLabels) {
  const Analysed a("s_nop 1\nL:\nv_mov_b32 v1, v0\ns_cbranch_scc0 L\ns_endpgm\n");
  EXPECT_EQ(listing(a.program, 0, 3, codec_for()),
            "0: s_nop 1\nL:\n4: v_mov_b32_e32 v1, v0\n8: s_cbranch_scc0 L\n");
}

std::string random_text(RandomStream& random) {
  std::string text;
  const auto blocks = 1 + random.below(14);
  const auto reg = [&] { return "v" + std::to_string(random.below(12)); };
  for (uint64_t b = 0; b < blocks; ++b) {
    text += "L" + std::to_string(b) + ":\n";
    for (uint64_t k = 1 + random.below(9); k > 0; --k) {
      const uint64_t kind = random.below(12);
      if (kind < 10)
        text += "v_mov_b32 " + reg() + ", " + (kind < 6 ? "0" : reg()) + "\n";
      else
        text += kind == 10 ? "s_waitcnt lgkmcnt(0)\n" : "s_barrier\n";
    }
    const std::string target = "L" + std::to_string(random.below(blocks));
    const uint64_t kind = random.below(9);
    if (kind < 5) text += "s_cbranch_scc0 " + target + "\n";
    if (kind == 5) text += "s_branch " + target + "\n";
    if (kind == 6) text += "s_endpgm\n";
    if (kind == 7 && random.below(3) == 0) text += "s_setpc_b64 s[30:31]\n";
  }
  return text + "s_endpgm\n";
}

// Where control may come from, entry by entry.
std::vector<std::vector<Index>> entry_predecessors(const Analysed& a) {
  std::vector<std::vector<Index>> from(a.program.entries.size());
  for (const Block& b : a.cfg.blocks()) {
    for (Index i = b.begin + 1; i < b.end; ++i) from[i].push_back(i - 1);
    for (const uint32_t s : b.successors) from[a.cfg.blocks()[s].begin].push_back(b.end - 1);
  }
  return from;
}

void check_live_sets(const Analysed& a, const Window& w, const std::vector<std::vector<Index>>& from) {
  const auto inside = [&](Index i) { return i >= w.begin && i < w.end; };
  isa::RegSet in = a.liveness.before(w.begin), out;
  for (Index i = 0; i < from.size(); ++i)
    for (const Index p : from[i]) {
      if (inside(i) && !inside(p)) in |= a.liveness.before(i);
      if (!inside(i) && inside(p)) out |= a.liveness.before(i);
    }
  for (Index i = w.begin; i < w.end; ++i)
    if (a.program.instruction(i).is("s_setpc_b64")) out |= a.liveness.after(i);
  EXPECT_EQ(w.live_in, in);
  EXPECT_EQ(w.live_out, out);
}

TEST(Windows, PartitionTheReachableCode) {
  RandomStream random(3);
  size_t whole_loops = 0;
  for (int round = 0; round < 500; ++round) {
    const Analysed a(random_text(random), false);
    const auto from = entry_predecessors(a);
    const size_t limit = 1 + random.below(40);
    std::vector<int> covered(a.program.entries.size(), 0);
    Index last_end = 0;
    const std::vector<Window> windows = a.windows(limit);
    for (const Window& w : windows) {
      ASSERT_LT(w.begin, w.end);
      ASSERT_LE(w.end - w.begin, limit);
      ASSERT_GE(w.begin, last_end);
      last_end = w.end;
      EXPECT_EQ(a.program.entries[w.begin].id, w.first);
      EXPECT_EQ(a.program.entries[w.end - 1].id, w.last);
      check_live_sets(a, w, from);
      const Index begin = w.begin + static_cast<Index>(random.below(w.end - w.begin));
      const Index end = begin + 1 + static_cast<Index>(random.below(w.end - begin));
      const Window part = window_of(a.program, a.cfg, a.liveness, begin, end);
      EXPECT_EQ(part.first, a.program.entries[begin].id);
      EXPECT_EQ(part.last, a.program.entries[end - 1].id);
      check_live_sets(a, part, from);
      for (Index i = w.begin; i < w.end; ++i) ++covered[i];
    }
    for (Index i = 0; i < covered.size(); ++i)
      ASSERT_EQ(covered[i], a.cfg.blocks()[a.cfg.block_of(i)].reachable ? 1 : 0) << "entry " << i;
    // A loop that fits, in one piece of reachable code, is in one window.
    for (uint32_t l = 0; l < a.cfg.loops().size(); ++l) {
      const std::vector<uint32_t> blocks = a.cfg.blocks_in(l);
      const Index begin = a.cfg.blocks()[blocks.front()].begin, end = a.cfg.blocks()[blocks.back()].end;
      if (blocks.back() - blocks.front() + 1 != blocks.size() || end - begin > limit ||
          a.cfg.loops()[l].depth != 1)
        continue;
      ++whole_loops;
      EXPECT_TRUE(
          std::ranges::any_of(windows, [&](const Window& w) { return w.begin <= begin && end <= w.end; }));
    }
  }
  EXPECT_GT(whole_loops, 50U);
}

} // namespace
} // namespace asmevo::program
