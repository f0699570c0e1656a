#include "program/liveness.h"
#include "program_builder.h"

#include <gmock/gmock.h>

#include <string>

namespace asmevo::program {
namespace {

using testing::build_program;

struct Analysed {
  Program program;
  Cfg cfg;
  Liveness liveness;

  explicit Analysed(std::string_view text, bool kernel = true)
      : program(build_program(text, kernel)), cfg(Cfg::build(program, program.functions[0])),
        liveness(Liveness::compute(program, program.functions[0], cfg)) {}
  Analysed(const Analysed&) = delete;

  std::string vectors_before(Index i) const { return names(liveness.before(i)); }
  static std::string names(const isa::RegSet& set) {
    std::string text;
    set.for_each([&](isa::RegUnit u) {
      if (isa::is_vector(u)) text += (text.empty() ? "" : " ") + isa::name(u);
    });
    return text;
  }
};

TEST(Liveness, StraightLine) {
  const Analysed a(R"(
    v_mov_b32 v1, v0
    v_add_u32 v2, v1, v0
    ds_write_b32 v1, v2
    s_endpgm
  )");
  EXPECT_EQ(a.vectors_before(0), "v0");
  EXPECT_EQ(a.vectors_before(1), "v0 v1");
  EXPECT_EQ(a.vectors_before(2), "v1 v2");
  EXPECT_EQ(a.vectors_before(3), "");
  EXPECT_EQ(a.liveness.after(1), a.liveness.before(2));
  EXPECT_EQ(a.liveness.before_each(0)[2], a.liveness.before(2));
  EXPECT_EQ(a.liveness.peak().vgprs, 2U);
}

TEST(Liveness, WriteUnderNarrowedMaskDoesNotKillTheOtherLanes) {
  const Analysed a(R"(
    v_mov_b32 v1, v0
    s_and_saveexec_b64 s[4:5], vcc
    v_mov_b32 v1, 1
    s_or_b64 exec, exec, s[4:5]
    ds_write_b32 v0, v1
    s_endpgm
  )");
  const LiveSets narrowed = a.liveness.lanes_before(2);
  EXPECT_FALSE(narrowed.on.contains(1)) << "about to be overwritten in these lanes";
  EXPECT_TRUE(narrowed.off.contains(1));
  EXPECT_TRUE(a.liveness.before(1).contains(1));
  EXPECT_EQ(a.vectors_before(0), "v0") << "the first write is under the mask the kernel starts with";
}

TEST(Liveness, MaskIsRestoredToWhatItWas) {
  // v5 is written before each use under the same mask: it is not live around the loop, though a narrower
  // region lies between, in all three ways of restoring the mask.
  for (const std::string restore : {"s_or_b64 exec, exec, s[4:5]", "s_mov_b64 exec, s[4:5]"}) {
    const Analysed a("L:\n"
                     "v_mov_b32 v5, v0\n"
                     "s_and_saveexec_b64 s[4:5], vcc\n"
                     "v_add_u32 v0, v0, v0\n" +
                     restore +
                     "\n"
                     "ds_write_b32 v0, v5\n"
                     "s_cbranch_scc0 L\n"
                     "s_endpgm\n");
    EXPECT_EQ(a.vectors_before(0), "v0") << restore;
    EXPECT_EQ(a.vectors_before(2), "v0 v5") << restore;
  }
  const Analysed all(R"(
      s_mov_b64 exec, -1
    L:
      v_mov_b32 v5, v0
      s_mov_b64 exec, s[4:5]
      v_add_u32 v0, v0, v0
      s_mov_b64 exec, -1
      ds_write_b32 v0, v5
      s_cbranch_scc0 L
      s_endpgm
  )");
  EXPECT_EQ(all.vectors_before(1), "v0");
}

// v5 lives in the lanes of the inner mask only: what it held in others when that was saved is not wanted,
// though nobody knows how the masks compare.
TEST(Liveness, LanesThatAMaskGivesBackAreThoseItTookAway) {
  const std::string body = R"(
      s_and_saveexec_b64 s[4:5], vcc
      s_cbranch_execz outer
      v_mov_b32 v5, v0
      s_and_saveexec_b64 s[6:7], s[10:11]
      s_cbranch_execz inner
      v_mov_b32 v5, 1
    inner:
      s_or_b64 exec, exec, s[6:7]
      ds_write_b32 v0, v5
    outer:
      s_or_b64 exec, exec, s[4:5]
      s_cbranch_scc0 L
      s_endpgm
  )";
  const Analysed a("L:\n" + body);
  EXPECT_EQ(a.vectors_before(0), "v0");
  EXPECT_EQ(a.vectors_before(2), "v0");
  EXPECT_EQ(a.vectors_before(4), "v0 v5");
  // The mask is another one when it is given back.
  std::string overwritten = body;
  overwritten.insert(overwritten.find("    inner:"), "      s_mov_b64 s[6:7], s[12:13]\n");
  EXPECT_EQ(Analysed("L:\n" + overwritten).vectors_before(0), "v0 v5");
}

TEST(Liveness, MaskThatIsNotRestoredKeepsOldValuesAlive) {
  // The second s_or widens beyond the mask of the write to v5: other lanes still read what the loop left
  // before.
  const Analysed a(R"(
    L:
      v_mov_b32 v5, v0
      s_or_b64 exec, exec, s[8:9]
      ds_write_b32 v0, v5
      s_cbranch_scc0 L
      s_endpgm
  )");
  EXPECT_EQ(a.vectors_before(0), "v0 v5");
}

TEST(Liveness, CrossLaneReadsNeedLanesThatAreOff) {
  const Analysed a(R"(
    v_mov_b32 v1, v0
    v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0
    ds_write_b32 v0, v2
    s_endpgm
  )",
                   false);
  EXPECT_TRUE(a.liveness.lanes_before(0).off.contains(1));
  EXPECT_FALSE(a.liveness.lanes_before(0).on.contains(1));
  EXPECT_FALSE(a.liveness.before(1).contains(2))
      << "all of v2 is written, though the encoding names its old value";
}

TEST(Liveness, ReturnsCallsAndUnknownJumps) {
  const Analysed returns("v_mov_b32 v1, v0\ns_setpc_b64 s[30:31]\n", false);
  EXPECT_TRUE(returns.liveness.before(1).contains(200));
  EXPECT_TRUE(returns.liveness.live_at_exit(0).contains(200));
  const Analysed calls("s_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n", false);
  EXPECT_TRUE(calls.liveness.before(0).contains(200));
  EXPECT_FALSE(calls.liveness.after(0).contains(200));
  EXPECT_TRUE(calls.liveness.live_at_exit(1).empty());
}

TEST(Liveness, WhatNothingHasWrittenIsNotLive) {
  const Analysed a("v_add_u32 v9, v8, v0\nds_write_b32 v0, v9\ns_endpgm\n");
  EXPECT_EQ(a.vectors_before(0), "v0");
  const Analysed device("v_add_u32 v9, v8, v0\nds_write_b32 v0, v9\ns_endpgm\n", false);
  EXPECT_EQ(device.vectors_before(0), "v0 v8");
}

TEST(Liveness, IndexedRegions) {
  const std::string rest = "v_mov_b32 v1, v2\ns_set_gpr_idx_off\nds_write_b32 v0, v1\ns_endpgm\n";
  const Analysed source("s_set_gpr_idx_on s0, gpr_idx(SRC0)\n" + rest, false);
  EXPECT_TRUE(source.liveness.before(1).contains(77));
  EXPECT_FALSE(source.liveness.before(3).contains(77));
  const Analysed result("s_set_gpr_idx_on s0, gpr_idx(DST)\n" + rest, false);
  EXPECT_FALSE(result.liveness.before(1).contains(77));
  EXPECT_TRUE(result.liveness.before(1).contains(1)) << "another register may be the one written";
  // M0 holds the operand bits: once it is written they are not known.
  const Analysed unknown("s_set_gpr_idx_on s0, gpr_idx(DST)\ns_mov_b32 m0, s1\n" + rest, false);
  EXPECT_TRUE(unknown.liveness.before(2).contains(77));
  // Bit 27 of MODE turns indexing on too.
  const Analysed mode("s_setreg_b32 hwreg(HW_REG_MODE, 27, 1), s0\n" + rest, false);
  EXPECT_TRUE(mode.liveness.before(1).contains(77));
  const Analysed rounding("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0\n" + rest, false);
  EXPECT_FALSE(rounding.liveness.before(1).contains(77));
}

TEST(Liveness, SkippedVectorInstructionsKillNothing) {
  const std::string rest = "v_mov_b32 v1, v2\ns_setvskip 0, 0\nds_write_b32 v0, v1\ns_endpgm\n";
  const Analysed may("s_setvskip s0, 3\n" + rest, false);
  EXPECT_TRUE(may.liveness.before(1).contains(1));
  const Analysed off("s_setvskip 0, 0\n" + rest, false);
  EXPECT_FALSE(off.liveness.before(1).contains(1));
}

TEST(Liveness, ConditionalScalarMoveKeepsTheOldValue) {
  const Analysed a("s_cmov_b32 s5, s6\ns_mov_b32 m0, s5\ns_endpgm\n");
  EXPECT_TRUE(a.liveness.before(0).contains(isa::unit::scalar0 + 5));
}

} // namespace
} // namespace asmevo::program
