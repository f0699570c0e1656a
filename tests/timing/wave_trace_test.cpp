// What waves' traces hold: the instructions that ran, and what memory they touched.
#include "emulator/assembled_kernel.h"
#include "timing/dispatch_trace.h"
#include "timing/wave_trace.h"

#include <gmock/gmock.h>

namespace asmevo::timing {
namespace {

using ::testing::ElementsAre;

struct Traced {
  std::vector<WorkgroupTrace> groups;
  std::vector<std::string> texts; // of wave 0's steps: base mnemonics
  uint64_t instructions = 0;
  bool depends_on_time = false;
};

Traced trace_of(const std::string& body, unsigned groups = 1, unsigned items = 64,
                LeftOut left_out = LeftOut::Nothing) {
  auto recorder = std::make_unique<TraceRecorder>(32, ~uint64_t{0}, left_out);
  device::EmulatorOptions options;
  options.threads = 1;
  options.observer = [&](size_t) { return recorder.get(); };
  emulator::KernelOptions kernel;
  kernel.lds_bytes = 4096;
  emulator::Bench bench(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\n v_lshlrev_b32_e32 v1, 2, v0\n s_waitcnt lgkmcnt(0)\n" + body +
          "\n s_endpgm\n",
      kernel, options);
  const uint64_t buffer = bench.buffer(1 << 16);
  const device::LaunchOutcome outcome = bench.launch(groups, items, {buffer});
  EXPECT_TRUE(outcome.completed()) << outcome.text;
  Traced traced;
  traced.groups = recorder->take();
  traced.instructions = outcome.instructions;
  traced.depends_on_time = recorder->depends_on_time();
  for (const TracedStep& s : traced.groups.front().waves.front().steps)
    traced.texts.emplace_back(recorder->instructions().at(s.op)->base_mnemonic);
  return traced;
}

TEST(WaveTrace, HoldsWhatRan) {
  const Traced t = trace_of("s_mov_b32 s4, 3\nround:\n s_sub_u32 s4, s4, 1\n s_cmp_lg_u32 s4, 0\n"
                            "s_cbranch_scc1 round",
                            3, 128);
  ASSERT_EQ(t.groups.size(), 3U);
  uint64_t steps = 0;
  for (const WorkgroupTrace& g : t.groups) {
    EXPECT_EQ(g.waves.size(), 2U);
    for (const WaveTrace& w : g.waves) steps += w.steps.size();
  }
  EXPECT_EQ(steps, t.instructions);
  EXPECT_THAT(t.texts,
              ElementsAre("s_load_dwordx2", "v_lshlrev_b32", "s_waitcnt", "s_mov_b32", "s_sub_u32",
                          "s_cmp_lg_u32", "s_cbranch_scc1", "s_sub_u32", "s_cmp_lg_u32", "s_cbranch_scc1",
                          "s_sub_u32", "s_cmp_lg_u32", "s_cbranch_scc1", "s_endpgm"));
  EXPECT_FALSE(t.depends_on_time);
}

// The accesses of the step of that number.
std::vector<TracedAccess> accesses_of(const WaveTrace& wave, size_t step) {
  const uint32_t first = step == 0 ? 0 : wave.steps[step - 1].accesses_end;
  return {wave.accesses.begin() + first, wave.accesses.begin() + wave.steps[step].accesses_end};
}

TEST(WaveTrace, HoldsWhatMemoryWasTouched) {
  const Traced t = trace_of("global_load_dword v2, v1, s[8:9]\n" // a row of dwords: four pieces
                            "v_lshlrev_b32_e32 v3, 8, v0\n"
                            "global_store_byte v3, v0, s[8:9] offset:3\n" // a piece a lane
                            "ds_write_b32 v1, v0\n"
                            "ds_read2st64_b32 v[4:5], v1 offset1:1\n"
                            "s_mov_b64 exec, 0xff\n"
                            "global_atomic_add v1, v0, s[8:9]\n s_waitcnt vmcnt(0) lgkmcnt(0)");
  const WaveTrace& w = t.groups.front().waves.front();
  const auto scalar = accesses_of(w, 0);
  ASSERT_EQ(scalar.size(), 1U);
  EXPECT_EQ(scalar[0].space, isa::MemoryKind::Scalar);
  EXPECT_EQ(scalar[0].pieces, 1U);
  const auto row = accesses_of(w, 3);
  ASSERT_EQ(row.size(), 1U);
  EXPECT_EQ(row[0].pieces, 4U);
  EXPECT_EQ(row[0].lanes, 64U);
  EXPECT_TRUE(row[0].load && !row[0].store);
  const TracedPiece& first = w.pieces[row[0].first_piece];
  EXPECT_EQ(first.bytes(), 64U);
  EXPECT_EQ(w.pieces[row[0].first_piece + 3].address(), first.address() + 192);
  const auto bytes = accesses_of(w, 5);
  ASSERT_EQ(bytes.size(), 1U);
  EXPECT_EQ(bytes[0].pieces, 64U);
  EXPECT_EQ(w.pieces[bytes[0].first_piece].bytes(), 1U);
  const auto written = accesses_of(w, 6);
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].cycles, 2U);
  EXPECT_EQ(accesses_of(w, 7).size(), 2U); // two addresses
  const auto atomic = accesses_of(w, 9);
  ASSERT_EQ(atomic.size(), 1U);
  EXPECT_TRUE(atomic[0].atomic);
  EXPECT_EQ(atomic[0].lanes, 8U);
  EXPECT_EQ(atomic[0].pieces, 1U);
  EXPECT_TRUE(accesses_of(w, 1).empty());
}

TEST(WaveTrace, AClockIsNoticed) {
  EXPECT_TRUE(trace_of("s_memtime s[4:5]\n s_waitcnt lgkmcnt(0)").depends_on_time);
}

// One place read again and again past the first cache may be waited for; different places are not.
TEST(WaveTrace, WaitingForOthersIsNoticed) {
  const auto twice = [](const std::string& load, const std::string& between) {
    return trace_of("s_mov_b32 s4, 2\nround:\n " + load + "\n s_waitcnt vmcnt(0)\n " + between +
                    "\n s_sub_u32 s4, s4, 1\n s_cmp_lg_u32 s4, 0\n s_cbranch_scc1 round")
        .depends_on_time;
  };
  EXPECT_TRUE(twice("global_load_dword v2, v1, s[8:9] sc1", ""));
  EXPECT_FALSE(twice("global_load_dword v2, v1, s[8:9] sc1", "v_add_u32_e32 v1, 4, v1"));
  EXPECT_FALSE(twice("global_load_dword v2, v1, s[8:9]", ""));
  EXPECT_TRUE(twice("global_atomic_add v2, v1, v0, s[8:9] sc0", ""));
  EXPECT_FALSE(twice("global_atomic_add v1, v0, s[8:9]", "")); // nobody looks at the result
}

TEST(Coalescing, PiecesComeOnceInTheOrderOfLanes) {
  const uint64_t addresses[] = {130, 0, 62, 130, 4};
  std::vector<Piece> pieces = {{0, 1}}; // of another instruction
  coalesce(addresses, 0b11111, 4, pieces);
  EXPECT_THAT(pieces,
              ElementsAre(Piece{0, 1}, Piece{128, 0b111100}, Piece{0, 0xc0000000000000ff}, Piece{64, 3}));
}

// Whether a trace without some arithmetic is that of the whole run.
bool same_without(const std::string& body, LeftOut what) {
  DispatchTrace whole, without;
  whole.groups = trace_of(body).groups;
  without.groups = trace_of(body, 1, 64, what).groups;
  return same_paths(whole, without);
}

TEST(WaveTrace, ArithmeticThatIsOnlyStoredNeedNotBeRun) {
  const std::string body = "global_load_dword v2, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_exp_f32 v2, v2\n"
                           "v_mfma_f32_4x4x1f32 v[4:7], v2, v2, 0\n s_nop 7\n v_mov_b32 v3, v4\n"
                           "global_store_dword v1, v3, s[8:9]";
  EXPECT_TRUE(same_without(body, LeftOut::MatrixProducts));
  EXPECT_TRUE(same_without(body, LeftOut::FloatArithmetic));
}

TEST(WaveTrace, ArithmeticThatDecidesShows) {
  const std::string address =
      "v_mov_b32 v2, 0x41000000\n v_add_f32 v2, v2, v2\n v_cvt_u32_f32 v2, v2\n"
      "v_lshlrev_b32 v2, 8, v2\n global_load_dword v3, v2, s[8:9]\n s_waitcnt vmcnt(0)";
  EXPECT_FALSE(same_without(address, LeftOut::FloatArithmetic)) << "an address";
  EXPECT_TRUE(same_without(address, LeftOut::MatrixProducts));
  // 2 > 1 with the sum, 0 > 1 without it.
  const std::string branch =
      "v_mov_b32 v3, 1.0\n v_mov_b32 v2, 0\n v_add_f32 v2, v3, v3\n"
      "v_cmp_lt_f32 vcc, v3, v2\n s_nop 4\n s_cbranch_vccnz over\n s_nop 0\nover:\n s_nop 1";
  EXPECT_FALSE(same_without(branch, LeftOut::FloatArithmetic)) << "a branch";
}

} // namespace
} // namespace asmevo::timing
