#include "program/dependences.h"
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

// "from>to kind" of each dependence, in order.
std::vector<std::string> list(std::string_view text, const DependenceOptions& options = {}) {
  constexpr std::array names = {"raw", "war", "waw", "memory", "wait", "order"};
  const Program p = build_program(text);
  std::vector<std::string> lines;
  // A state in which nothing is on its way.
  for (const Dependence& d : dependences(p, 0, static_cast<Index>(p.entries.size()), WaveState{}, options))
    lines.push_back(fmt::format("{}>{} {}{}{}", d.from, d.to, names[static_cast<size_t>(d.kind)],
                                d.reg.count != 0 ? " " : "", d.reg.count != 0 ? isa::name(d.reg) : ""));
  return lines;
}

TEST(Dependences, Registers) {
  EXPECT_THAT(list("v_mov_b32 v1, v0\nv_add_u32 v2, v1, v1\nv_mov_b32 v1, v3\nv_mov_b32 v1, v4\n"),
              ElementsAre("0>1 raw v1", "1>2 war v1", "2>3 waw v1"));
  EXPECT_THAT(list("s_add_u32 s0, s1, s2\ns_addc_u32 s3, s4, s5\n"), ElementsAre("0>1 raw scc"));
  EXPECT_THAT(list("s_mov_b64 exec, s[4:5]\nv_mov_b32 v0, 1\n"), ElementsAre("0>1 raw exec"));
  EXPECT_THAT(list("v_readlane_b32 s0, v0, 1\ns_mov_b64 exec, s[4:5]\nv_writelane_b32 v1, s2, 1\n"),
              IsEmpty())
      << "lane accesses do not ask EXEC";
}

TEST(Dependences, RegistersSideBySideAreOneDependence) {
  EXPECT_THAT(list("ds_read_b128 v[4:7], v0\nv_mfma_f32_4x4x1_16b_f32 v[0:3], v8, v9, v[4:7]\n"),
              ElementsAre("0>1 raw v[4:7]"));
}

TEST(Dependences, RawIsKeptThoughAChainOrdersThePair) {
  EXPECT_THAT(list("v_mov_b32 v1, v0\nv_add_u32 v2, v1, v1\nv_add_u32 v3, v2, v1\n"),
              ElementsAre("0>1 raw v1", "0>2 raw v1", "1>2 raw v2"));
}

TEST(Dependences, LoadsAreFreeOfEachOtherStoresAreNot) {
  EXPECT_THAT(list("ds_read_b32 v4, v0\nds_read_b32 v5, v0 offset:4\ns_waitcnt lgkmcnt(0)\n"),
              ElementsAre("0>2 wait", "1>2 wait"));
  EXPECT_THAT(list("ds_write_b32 v0, v1\nds_read_b32 v5, v6\ns_waitcnt lgkmcnt(0)\n"),
              ElementsAre("0>1 memory", "1>2 wait"));
  EXPECT_THAT(list("global_store_dword v[0:1], v2, off\nds_read_b32 v5, v6\n"), IsEmpty());
  EXPECT_THAT(list("flat_store_dword v[0:1], v2\nds_read_b32 v5, v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"),
              ElementsAre("0>1 memory", "1>2 wait"));
  EXPECT_THAT(list("buffer_load_dword v0, s[4:7], 0 offen lds\nds_read_b32 v5, v6\n"),
              ElementsAre("0>1 memory"));
}

TEST(Dependences, WhatLanesMayShare) {
  const std::string neighbours = "ds_write_b32 v0, v1\nds_read_b32 v5, v0 offset:4\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_THAT(list(neighbours), ElementsAre("0>1 memory", "1>2 wait"))
      << "another lane may have written there";
  const DependenceOptions per_lane{Aliasing::PerLane};
  EXPECT_THAT(list(neighbours, per_lane), ElementsAre("0>2 wait", "1>2 wait"));
  EXPECT_THAT(list("ds_write_b64 v0, v[2:3]\nds_read_b32 v5, v0 offset:4\ns_waitcnt lgkmcnt(0)\n", per_lane),
              ElementsAre("0>1 memory", "1>2 wait"));
  EXPECT_THAT(
      list("ds_write_b32 v0, v1\nv_mov_b32 v0, v2\nds_read_b32 v5, v0 offset:4\ns_waitcnt lgkmcnt(0)\n",
           per_lane),
      ElementsAre("0>1 war v0", "1>2 raw v0", "2>3 wait"))
      << "the base is another one, which orders them";
  // The first overwrites its own base: the second is relative to something else.
  EXPECT_THAT(
      list("ds_add_rtn_u32 v0, v0, v1\nds_write_b32 v0, v1 offset:4\ns_waitcnt lgkmcnt(0)\n", per_lane),
      ElementsAre("0>1 raw v0", "1>2 wait"));
  // ds_write2: offsets in elements, of 64 elements with st64.
  EXPECT_THAT(list("ds_write2_b32 v0, v1, v2 offset0:0 offset1:8\nds_read_b32 v5, v0 offset:32\n"
                   "ds_read_b32 v6, v0 offset:36\ns_waitcnt lgkmcnt(0)\n",
                   per_lane),
              ElementsAre("0>1 memory", "1>3 wait", "2>3 wait"));
  EXPECT_THAT(
      list("ds_write2st64_b64 v0, v[2:3], v[6:7] offset0:1 offset1:2\nds_read_b32 v5, v0 offset:1028\n"
           "ds_read_b32 v8, v0 offset:256\ns_waitcnt lgkmcnt(0)\n",
           per_lane),
      ElementsAre("0>1 memory", "1>3 wait", "2>3 wait"));
  // Where LDS-DMA stores is not looked into.
  EXPECT_THAT(
      list("buffer_load_dword v0, s[4:7], 0 offen lds\nbuffer_load_dword v0, s[4:7], 0 offen offset:4 lds\n"
           "s_waitcnt vmcnt(0)\n",
           per_lane),
      ElementsAre("0>1 memory", "1>2 wait"));
}

TEST(Dependences, ScalarMemoryOfOneBaseIsToldApart) {
  EXPECT_THAT(list("s_store_dword s8, s[2:3], 0x0\ns_load_dword s9, s[2:3], 0x4\ns_waitcnt lgkmcnt(0)\n"),
              ElementsAre("0>2 wait", "1>2 wait"));
  EXPECT_THAT(
      list("s_store_dword s8, s[2:3], 0x4\ns_load_dwordx2 s[10:11], s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\n"),
      ElementsAre("0>1 memory", "1>2 wait"));
  EXPECT_THAT(list("s_store_dword s8, s[2:3], 0x0\ns_load_dword s9, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)\n"),
              ElementsAre("0>1 memory", "1>2 wait"));
}

TEST(Dependences, CoherentLoadsAndCacheControlKeepTheirPlace) {
  EXPECT_THAT(list("global_load_dword v4, v[0:1], off sc1\nglobal_load_dword v5, v[2:3], off sc1\n"
                   "s_waitcnt vmcnt(0)\n"),
              ElementsAre("0>1 memory", "1>2 wait"));
  EXPECT_THAT(list("global_load_dword v4, v[0:1], off\nbuffer_inv sc1\nglobal_load_dword v5, v[2:3], off\n"
                   "s_waitcnt vmcnt(0)\n"),
              ElementsAre("0>1 memory", "1>2 memory", "2>3 wait"));
}

TEST(Dependences, ResultsStayBehindTheirWait) {
  EXPECT_THAT(
      list("global_load_dword v4, v[0:1], off\nglobal_load_dword v5, v[2:3], off\ns_waitcnt vmcnt(1)\n"
           "v_mov_b32 v6, v4\nv_mov_b32 v7, v0\ns_waitcnt vmcnt(0)\nv_mov_b32 v8, v5\n"),
      ElementsAre("0>1 wait", "1>2 wait", "0>3 raw v4", "2>3 wait", "2>5 wait", "1>6 raw v5", "5>6 wait"))
      << "the loads may not change places: the first wait tells them apart; the move of v0 is free";
  EXPECT_THAT(list("s_load_dword s4, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, 1\n"),
              ElementsAre("0>1 wait", "1>2 wait"));
}

TEST(Dependences, ResultsFromBeforeTheRange) {
  const Program p = build_program("s_waitcnt vmcnt(0)\nv_mov_b32 v1, v2\nv_mov_b32 v3, v4\n");
  WaveState state;
  state.pending[vmcnt].registers.insert(isa::RegUnit{2});
  const std::vector<Dependence> known = dependences(p, 0, 3, state);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0], (Dependence{0, 1, DependenceKind::Wait, {}}));
  EXPECT_EQ(dependences(p, 0, 3).size(), 2U) << "with nothing known, v4 may be on its way as well";
}

TEST(Dependences, LoadsBehindTheLastWaitKeepTheirOrder) {
  EXPECT_THAT(list("ds_read_b32 v4, v0\nds_read_b32 v5, v1\n"), ElementsAre("0>1 wait"))
      << "a wait in the next block may fall between them";
}

TEST(Dependences, BarriersSideEffectsAndBranches) {
  EXPECT_THAT(
      list("ds_write_b32 v0, v1\nv_mov_b32 v2, v3\ns_barrier\nds_read_b32 v4, v5\nv_mov_b32 v6, v7\n"),
      ElementsAre("0>2 order", "2>3 order"));
  EXPECT_THAT(list("s_setprio 1\nv_mov_b32 v0, v1\nds_read_b32 v4, v5\ns_setprio 0\n"),
              ElementsAre("0>3 order"));
  EXPECT_THAT(list("s_sleep 1\ns_sleep 2\n"), ElementsAre("0>1 order"));
  EXPECT_THAT(list("v_mov_b32 v0, v1\nv_mov_b32 v2, v0\nv_mov_b32 v3, v4\ns_branch L\nL:\n"),
              ElementsAre("0>1 raw v0", "1>3 order", "2>3 order"));
  EXPECT_THAT(list("v_mov_b32 v0, v1\ns_nop 1\nv_mov_b32 v2, v3\n"), IsEmpty())
      << "wait states are checked elsewhere";
}

TEST(Dependences, ModesReachVectorInstructions) {
  EXPECT_THAT(list("v_mov_b32 v0, v1\ns_setvskip 0, 0\nv_mov_b32 v2, v3\n"),
              ElementsAre("0>1 order", "1>2 order"));
  // While any register may be read, writes of other registers are ordered against it.
  const auto indexed =
      list("s_set_gpr_idx_on s0, gpr_idx(SRC0)\nv_mov_b32 v0, v1\nv_mov_b32 v9, v2\ns_set_gpr_idx_off\n");
  EXPECT_THAT(indexed, ::testing::Contains("1>2 raw v0"));
}

// --- against the definition: dropping a dependence that is not Raw must change what is ordered ---

TEST(Dependences, NoneIsImpliedByTheOthers) {
  const Program p = build_program(R"(
    global_load_dword v4, v[0:1], off
    ds_read_b32 v5, v2
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v2, v5
    v_add_u32 v6, v5, v5
    v_add_u32 v5, v6, v3
    s_waitcnt vmcnt(0)
    v_add_u32 v4, v4, v5
    s_barrier
    ds_read_b32 v7, v2 offset:64
    global_store_dword v[0:1], v4, off
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_u32 v2, v7, v4
    s_branch L
    L:
  )");
  const auto n = static_cast<Index>(p.entries.size());
  const std::vector<Dependence> all = dependences(p, 0, n);
  ASSERT_GT(all.size(), 15U);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, [](const Dependence& d) { return std::pair(d.to, d.from); }));
  for (const Dependence& dropped : all) {
    if (dropped.kind == DependenceKind::Raw) continue;
    std::vector<bool> reached(n);
    reached[dropped.from] = true;
    for (Index to = dropped.from + 1; to <= dropped.to; ++to)
      for (const Dependence& d : all)
        if (d.to == to && !(d == dropped) && reached[d.from]) reached[to] = true;
    EXPECT_FALSE(reached[dropped.to])
        << dropped.from << " before " << dropped.to << " follows from the others";
  }
}

// A long block of everything, put together from pieces, in less than quadratic time.
TEST(Dependences, LongBlocksStayFast) {
  Program p = build_program(R"(
    buffer_load_dword v4, v0, s[4:7], 0 offen
    ds_read_b128 v[8:11], v1
    v_mfma_f32_4x4x1_16b_f32 v[16:19], v20, v21, v[16:19]
    buffer_store_dword v5, v0, s[4:7], 0 offen
    v_add_u32 v6, v6, v7
    s_waitcnt vmcnt(1) lgkmcnt(0)
  )");
  const std::vector<Entry> piece = p.entries;
  while (p.entries.size() < 30'000) p.entries.insert(p.entries.end(), piece.begin(), piece.end());
  const auto n = static_cast<Index>(p.entries.size());
  p.functions[0].end = p.functions[0].padding = n;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Dependence> all = dependences(p, 0, n);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_LT(all.size(), size_t{20} * n);
  EXPECT_GT(all.size(), n);
}

} // namespace
} // namespace asmevo::program
