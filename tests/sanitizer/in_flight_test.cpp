// Registers and LDS bytes that are used while an asynchronous operation on them is in flight.
#include "sanitizer/sanitized.h"

namespace asmevo::sanitizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(InFlight, ALoadMustBeWaitedFor) {
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n v_add_u32_e32 v5, 1, v4"),
              ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v5, 1, v4"),
              IsEmpty());
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n s_waitcnt lgkmcnt(0)\n v_add_u32_e32 v5, 1, v4"),
              ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found("ds_read_b32 v4, v1\n v_add_u32_e32 v5, 1, v4"), ElementsAre("in_flight lgkmcnt v4"));
  EXPECT_THAT(found("s_load_dword s4, s[8:9], 0x0\n s_add_u32 s5, s4, 1"),
              ElementsAre("in_flight lgkmcnt s4"));
}

TEST(InFlight, SaysWhatWouldMendIt) {
  const Defects list = sanitized(R"(
    global_load_dword v4, v1, s[8:9]
    global_load_dword v5, v1, s[8:9] offset:4
    global_load_dword v6, v1, s[8:9] offset:8
    v_add_u32_e32 v7, v4, v1
    s_waitcnt vmcnt(0)
  )");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].fix, "s_waitcnt vmcnt(2) before the second");
  EXPECT_EQ(list[0].first.text, "global_load_dword v4, v1, s[8:9]");
  EXPECT_EQ(list[0].second.text, "v_add_u32_e32 v7, v4, v1");
  EXPECT_LT(list[0].first.pc, list[0].second.pc);
  EXPECT_THAT(list[0].message(), HasSubstr("v4 used while in flight: 'v_add_u32_e32 v7, v4, v1' at "));
}

TEST(InFlight, CountsWhatIsYounger) {
  const std::string three =
      "global_load_dword v4, v1, s[8:9]\n global_store_dword v1, v1, s[8:9] offset:512\n"
      "global_load_dword v6, v1, s[8:9] offset:1024\n";
  EXPECT_THAT(found(three + "s_waitcnt vmcnt(2)\n v_mov_b32_e32 v7, v4"), IsEmpty());
  EXPECT_THAT(found(three + "s_waitcnt vmcnt(3)\n v_mov_b32_e32 v7, v4"), ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found(three + "s_waitcnt vmcnt(1)\n v_mov_b32_e32 v7, v6"), ElementsAre("in_flight vmcnt v6"));
}

// Scalar memory comes in any order: with it in flight a wait for n proves something of LDS only.
TEST(InFlight, ScalarMemoryNeedsAWaitForZero) {
  const std::string both = "ds_read_b32 v4, v1\n s_load_dword s4, s[8:9], 0x0\n";
  EXPECT_THAT(found(both + "s_waitcnt lgkmcnt(1)\n s_mov_b32 s5, s4"), ElementsAre("in_flight lgkmcnt s4"));
  EXPECT_THAT(found(both + "s_waitcnt lgkmcnt(0)\n s_mov_b32 s5, s4\n v_mov_b32_e32 v5, v4"), IsEmpty());
  EXPECT_THAT(found("ds_read_b32 v4, v1\n ds_read_b32 v5, v1\n s_load_dword s4, s[8:9], 0x0\n"
                    "s_waitcnt lgkmcnt(2)\n v_mov_b32_e32 v6, v4"),
              ElementsAre("in_flight lgkmcnt v4"));
  EXPECT_THAT(found("ds_read_b32 v4, v1\n ds_read_b32 v5, v1\n s_load_dword s4, s[8:9], 0x0\n"
                    "s_waitcnt lgkmcnt(1)\n v_mov_b32_e32 v6, v4"),
              IsEmpty());
}

TEST(InFlight, FlatCountsTwice) {
  const std::string flat = "v_mov_b32_e32 v2, s8\n v_mov_b32_e32 v3, s9\n flat_load_dword v4, v[2:3]\n";
  EXPECT_THAT(found(flat + "s_waitcnt vmcnt(0)\n v_mov_b32_e32 v5, v4"), ElementsAre("in_flight lgkmcnt v4"));
  EXPECT_THAT(found(flat + "s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v5, v4"), ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found(flat + "s_waitcnt vmcnt(0) lgkmcnt(0)\n v_mov_b32_e32 v5, v4"), IsEmpty());
}

TEST(InFlight, NothingMayBeOverwrittenThatIsToCome) {
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n v_mov_b32_e32 v4, 0"),
              ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n ds_read_b32 v4, v1\n s_waitcnt vmcnt(0) lgkmcnt(0)"),
              ElementsAre("in_flight vmcnt v4"));
  // In one queue the second comes second.
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n global_load_dword v4, v1, s[8:9] offset:4"),
              IsEmpty());
  EXPECT_THAT(
      found("global_load_short_d16 v4, v1, s[8:9]\n global_load_short_d16_hi v4, v1, s[8:9] offset:2"),
      IsEmpty());
  // Store data is read when the store issues.
  EXPECT_THAT(found("global_store_dword v1, v0, s[8:9]\n v_mov_b32_e32 v0, 0"), IsEmpty());
}

TEST(InFlight, LanesThatTheLoadLeavesAloneAreFree) {
  const std::string half =
      "s_mov_b64 s[10:11], exec\n s_mov_b64 exec, 0xff\n global_load_dword v4, v1, s[8:9]\n";
  EXPECT_THAT(found(half + "s_not_b64 exec, exec\n v_mov_b32_e32 v5, v4"), IsEmpty());
  EXPECT_THAT(found(half + "s_mov_b64 exec, s[10:11]\n v_mov_b32_e32 v5, v4"),
              ElementsAre("in_flight vmcnt v4"));
  EXPECT_THAT(found(half + "s_not_b64 exec, exec\n v_readlane_b32 s4, v4, 3"),
              ElementsAre("in_flight vmcnt v4"));
}

// A load of half a register may follow another into the same register unwaited, but not take its address from
// it.
TEST(InFlight, HalfALoadReadsItsAddressToo) {
  const std::string first = "global_load_dword v2, v1, s[8:9]\n";
  EXPECT_THAT(found(first + "global_load_short_d16 v2, v1, s[8:9]\n s_waitcnt vmcnt(0)"), IsEmpty());
  EXPECT_THAT(found(first + "global_load_short_d16 v2, v2, s[8:9]\n s_waitcnt vmcnt(0)"),
              ElementsAre("in_flight vmcnt v2"));
  EXPECT_THAT(found("ds_read_b32 v2, v1\n ds_read_u16_d16 v2, v2\n s_waitcnt lgkmcnt(0)"),
              ElementsAre("in_flight lgkmcnt v2"));
}

TEST(InFlight, AccumulationRegistersAreRegistersToo) {
  EXPECT_THAT(
      found("global_load_dword a0, v1, s[8:9]\n v_accvgpr_read_b32 v2, a0", {.vgprs = 300, .gpu = "gfx90a"}),
      ElementsAre("in_flight vmcnt a0"));
}

TEST(InFlight, LdsDmaComesWithVmcnt) {
  const std::string dma = "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[8:9]\n";
  EXPECT_THAT(found(dma + "s_waitcnt lgkmcnt(0)\n ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)"),
              ElementsAre("in_flight vmcnt lds 0x0"));
  EXPECT_THAT(found(dma + "s_waitcnt vmcnt(0)\n ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)"), IsEmpty());
  // Another wave, behind a barrier.
  const std::string other = "v_xor_b32_e32 v2, 0x100, v1\n s_mov_b32 m0, 0\n v_readfirstlane_b32 s4, v1\n"
                            "s_mov_b32 m0, s4\n s_nop 0\n global_load_lds_dword v1, s[8:9]\n";
  EXPECT_THAT(found(other + "s_barrier\n ds_read_b32 v4, v2\n s_waitcnt vmcnt(0) lgkmcnt(0)", {.items = 128}),
              ::testing::Contains("in_flight vmcnt lds 0x100"));
  EXPECT_THAT(found(other + "s_waitcnt vmcnt(0)\n s_barrier\n ds_read_b32 v4, v2\n s_waitcnt lgkmcnt(0)",
                    {.items = 128}),
              IsEmpty());
  // By another LDS-DMA: a wave's own come in order, two waves' do not.
  const std::string same = "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[8:9]\n";
  EXPECT_THAT(found(same + same + "s_waitcnt vmcnt(0)"), IsEmpty());
  EXPECT_THAT(found(same + "s_barrier\n" + same + "s_waitcnt vmcnt(0)", {.items = 128}),
              ::testing::Not(::testing::Contains(HasSubstr("in_flight")))); // all bring the same
  const std::string own =
      "global_store_dword v1, v0, s[8:9]\n s_waitcnt vmcnt(0)\n s_barrier\n s_mov_b32 m0, 0\n s_nop 0\n"
      "global_load_lds_dword v1, s[8:9]\n";
  EXPECT_THAT(found(own + "s_barrier\n" + own + "s_waitcnt vmcnt(0)", {.items = 128}),
              ::testing::Contains("in_flight vmcnt lds 0x0"));
}

TEST(InFlight, LdsDmaWritesOnlyItsLanes) {
  const std::string two_lanes =
      "s_mov_b64 s[10:11], exec\n s_brev_b32 s12, 1\n s_mov_b32 exec_lo, 1\n"
      "s_mov_b32 exec_hi, s12\n s_mov_b32 m0, 0\n s_nop 0\n"
      "global_load_lds_dword v1, s[8:9]\n s_mov_b64 exec, s[10:11]\n v_mov_b32_e32 v2, ";
  EXPECT_THAT(found(two_lanes + "0x40\n ds_read_b32 v4, v2\n s_waitcnt vmcnt(0) lgkmcnt(0)"), IsEmpty());
  EXPECT_THAT(found(two_lanes + "0xfc\n ds_read_b32 v4, v2\n s_waitcnt vmcnt(0) lgkmcnt(0)"),
              ElementsAre("in_flight vmcnt lds 0xfc"));
}

TEST(InFlight, LdsDmaOfAnotherWaveIsWaitedForThere) {
  const Defects list = sanitized("v_readfirstlane_b32 s4, v1\n s_cmp_eq_u32 s4, 0\n s_cbranch_scc1 6\n"
                                 "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[8:9]\n"
                                 "s_nop 0\n s_nop 0\n" // where the other wave goes on
                                 "s_barrier\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v2, 0\n ds_read_b32 v4, v2\n"
                                 "s_waitcnt lgkmcnt(0)",
                                 {.items = 128});
  const auto dma = std::ranges::find(list, DefectKind::InFlight, &Defect::kind);
  ASSERT_NE(dma, list.end());
  EXPECT_EQ(dma->first.wave, 1U);
  EXPECT_EQ(dma->second.wave, 0U);
  EXPECT_EQ(dma->fix, "s_waitcnt vmcnt(0) in wave 1, and then s_barrier, between them");
  EXPECT_THAT(dma->message(), HasSubstr("against wave 1"));
}

} // namespace
} // namespace asmevo::sanitizer
