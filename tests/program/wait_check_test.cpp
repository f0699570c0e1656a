#include "check_helper.h"

namespace asmevo::program {
namespace {

using testing::found;

constexpr const char* end = "s_endpgm\n";

TEST(WaitCheck, LoadUsedWithoutWait) {
  EXPECT_EQ(found("global_load_dword v1, v[2:3], off\nv_add_f32_e32 v4, v1, v1\ns_endpgm\n"),
            "vmcnt v1: s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(
      found("global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v4, v1, v1\ns_endpgm\n"),
      "");
}

TEST(WaitCheck, VectorMemoryIsOneQueueOfLoadsAndStores) {
  const std::string text = "global_load_dword v1, v[2:3], off\n"
                           "global_store_dword v[2:3], v8, off\n"
                           "buffer_load_dword v5, v6, s[4:7], 0 offen\n";
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(2)\nv_mov_b32_e32 v9, v1\n" + end), "");
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(3)\nv_mov_b32_e32 v9, v1\n" + end),
            "vmcnt v1: s_waitcnt vmcnt(2)\n");
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(2)\nv_mov_b32_e32 v9, v5\n" + end),
            "vmcnt v5: s_waitcnt vmcnt(0)\n");
}

// llvm#178316, llvm#220694: these count although they bring nothing.
TEST(WaitCheck, CacheControlCounts) {
  const std::string text = "global_load_dword v1, v[2:3], off\nbuffer_wbl2 sc1\nbuffer_inv sc1\n";
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(2)\nv_mov_b32_e32 v9, v1\n" + end), "");
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(3)\nv_mov_b32_e32 v9, v1\n" + end),
            "vmcnt v1: s_waitcnt vmcnt(2)\n");
}

TEST(WaitCheck, FullCounterStallsTheWave) {
  std::string text = "global_load_dword v1, v[2:3], off\n";
  for (int k = 0; k < 62; ++k) text += "global_load_dword v4, v[2:3], off\n";
  EXPECT_EQ(found(text + "v_mov_b32_e32 v9, v1\n" + end), "vmcnt v1: s_waitcnt vmcnt(62)\n");
  text += "global_load_dword v4, v[2:3], off\n";
  EXPECT_EQ(found(text + "v_mov_b32_e32 v9, v1\n" + end), "");
}

TEST(WaitCheck, LdsIsInOrder) {
  const std::string text = "ds_read_b32 v1, v0\nds_read_b32 v2, v0 offset:4\nds_read_b32 v3, v0 offset:8\n";
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(2)\nv_mov_b32_e32 v9, v1\n" + end), "");
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(2)\nv_mov_b32_e32 v9, v2\n" + end),
            "lgkmcnt v2: s_waitcnt lgkmcnt(1)\n");
}

TEST(WaitCheck, ScalarMemoryOnlyByZero) {
  const std::string text = "s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\n";
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4\n" + end),
            "lgkmcnt s4: s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s6, s4\n" + end), "");
  // A wait for n leaves at most n LDS reads in flight, whatever else shares the counter.
  const std::string mixed = "ds_read_b32 v1, v0\nds_read_b32 v2, v0 offset:4\ns_load_dword s4, s[0:1], 0x0\n";
  EXPECT_EQ(found(mixed + "s_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v9, v1\n" + end), "");
  EXPECT_EQ(found(mixed + "s_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v9, v2\n" + end),
            "lgkmcnt v2: s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(found(mixed + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s5, s4\n" + end),
            "lgkmcnt s4: s_waitcnt lgkmcnt(0)\n");
}

TEST(WaitCheck, FlatNeedsBothCounters) {
  const std::string text = "flat_load_dword v1, v[2:3]\n";
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32_e32 v9, v1\n" + end), "");
  EXPECT_EQ(found(text + "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v9, v1\n" + end),
            "lgkmcnt v1: s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v9, v1\n" + end),
            "vmcnt v1: s_waitcnt vmcnt(0)\n");
  // Any order: another load behind it does not make a wait for 1 enough.
  EXPECT_EQ(found(text +
                  "global_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(1) lgkmcnt(0)\nv_mov_b32_e32 v9, v1\n" +
                  end),
            "vmcnt v1: s_waitcnt vmcnt(0)\n");
}

TEST(WaitCheck, OverwritingAResultInFlight) {
  EXPECT_EQ(found(std::string("global_load_dword v1, v[2:3], off\nv_mov_b32_e32 v1, 0\n") + end),
            "vmcnt v1: s_waitcnt vmcnt(0)\n");
  // In the same queue the later one comes later.
  EXPECT_EQ(
      found(
          std::string(
              "global_load_dword v1, v[2:3], off\nglobal_load_dword v1, v[4:5], off\ns_waitcnt vmcnt(0)\n") +
          end),
      "");
  EXPECT_EQ(
      found(std::string(
                "ds_read_b32 v1, v0\nglobal_load_dword v1, v[4:5], off\ns_waitcnt vmcnt(0) lgkmcnt(0)\n") +
            end),
      "lgkmcnt v1: s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(found(std::string(
                      "s_load_dword s4, s[0:1], 0x0\ns_load_dword s4, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\n") +
                  end),
            "lgkmcnt s4: s_waitcnt lgkmcnt(0)\n");
  // Two halves by two loads.
  EXPECT_EQ(found(std::string("global_load_short_d16 v1, v[2:3], off\nglobal_load_short_d16_hi v1, v[4:5], "
                              "off\ns_waitcnt vmcnt(0)\n") +
                  end),
            "");
  // But not from an address that the first has yet to bring.
  EXPECT_EQ(found(std::string("ds_read_b32 v1, v0\nds_read_u16_d16 v1, v1\ns_waitcnt lgkmcnt(0)\n") + end),
            "lgkmcnt v1: s_waitcnt lgkmcnt(0)\n");
}

TEST(WaitCheck, StoresReadTheirDataAtIssue) {
  EXPECT_EQ(found(std::string("global_store_dword v[2:3], v1, off\nv_mov_b32_e32 v1, 0\n") + end), "");
}

TEST(WaitCheck, WorstOfAllPaths) {
  const std::string diamond = "global_load_dword v1, v[2:3], off\n"
                              "s_cbranch_scc1 there\n"
                              "s_nop 0\n"
                              "there:\n"
                              "v_mov_b32_e32 v9, v1\n";
  EXPECT_EQ(found(diamond + end), "vmcnt v1: s_waitcnt vmcnt(0)\n");
  // The wait stands on one way only: maybe the other is never taken with this load.
  const std::string one_side = "global_load_dword v1, v[2:3], off\n"
                               "s_cbranch_scc1 there\n"
                               "s_waitcnt vmcnt(0)\n"
                               "there:\n"
                               "v_mov_b32_e32 v9, v1\n";
  EXPECT_EQ(found(one_side + end), "");
  EXPECT_EQ(found(one_side + end, true), "?vmcnt v1: s_waitcnt vmcnt(0)\n");
}

TEST(WaitCheck, AroundALoop) {
  const std::string loop = "s_mov_b32 s4, 4\n"
                           "v_mov_b32_e32 v1, 0\n"
                           "loop:\n"
                           "v_add_f32_e32 v5, v5, v1\n"
                           "global_load_dword v1, v[2:3], off\n"
                           "s_sub_u32 s4, s4, 1\n"
                           "s_cmp_lg_u32 s4, 0\n";
  EXPECT_EQ(found(loop + "s_cbranch_scc1 loop\n" + end), "vmcnt v1: s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(found(loop + "s_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\n" + end), "");
}

TEST(WaitCheck, OneMistakeOneFinding) {
  EXPECT_EQ(found(std::string("global_load_dwordx2 v[4:5], v[2:3], off\nv_mov_b32_e32 v6, v4\nv_mov_b32_e32 "
                              "v7, v5\nv_mov_b32_e32 v8, v4\n") +
                  end),
            "vmcnt v4: s_waitcnt vmcnt(0)\n");
}

TEST(WaitCheck, CallsWaitForEverything) {
  EXPECT_EQ(
      found(std::string(
                "global_load_dword v1, v[2:3], off\ns_swappc_b64 s[30:31], s[4:5]\nv_mov_b32_e32 v9, v1\n") +
            end),
      "");
}

TEST(WaitCheck, LdsInFlightAtABarrierIsAPossibleMistake) {
  const std::string text = "ds_write_b32 v0, v1\n";
  EXPECT_EQ(found(text + "s_barrier\n" + end), "");
  EXPECT_EQ(found(text + "s_barrier\n" + end, true), "?lds-write-at-barrier LDS: s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(0)\ns_barrier\n" + end, true), "");
  const std::string dma = "s_mov_b32 m0, 0\ns_nop 0\nbuffer_load_dword v1, s[4:7], 0 offen lds\n";
  EXPECT_EQ(found(dma + "s_barrier\n" + end, true), "?lds-dma-at-barrier LDS: s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(found(dma + "s_waitcnt vmcnt(0)\ns_barrier\n" + end, true), "");
}

// With VGPR indexing on, v1 need not be v1.
TEST(WaitCheck, IndexedRegistersProveNothing) {
  const std::string text = "global_load_dword v1, v[2:3], off\ns_set_gpr_idx_on s4, "
                           "gpr_idx(SRC0)\nv_mov_b32_e32 v9, v1\ns_set_gpr_idx_off\n";
  EXPECT_EQ(found(text + end), "");
}

// The transposing loads of gfx950 seem to raise lgkmcnt by two: only possibly too late.
TEST(WaitCheck, TransposingLoadsMayCountTwice) {
  const std::string text = "ds_read_b64_tr_b8 v[2:3], v0\nds_read_b64_tr_b8 v[4:5], v0 offset:256\n";
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(2)\nv_mov_b32_e32 v9, v2\n" + end, true, isa::Gfx::gfx950),
            "?lgkmcnt v2: s_waitcnt lgkmcnt(1)\n");
  EXPECT_EQ(found(text + "s_waitcnt lgkmcnt(3)\nv_mov_b32_e32 v9, v2\n" + end, true, isa::Gfx::gfx950),
            "lgkmcnt v2: s_waitcnt lgkmcnt(1)\n");
}

} // namespace
} // namespace asmevo::program
