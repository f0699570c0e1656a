// Races between the waves of a workgroup in LDS, and between workgroups in memory.
#include "sanitizer/sanitized.h"

namespace asmevo::sanitizer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const LaunchedAs two_waves{.items = 128};

// v2: the place of the same lane of the other wave.
const std::string write_own = "v_xor_b32_e32 v2, 0x100, v1\n ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n";
const std::string read_other = "ds_read_b32 v4, v2\n s_waitcnt lgkmcnt(0)\n";

TEST(LdsRace, ABarrierMustDivideWriteAndRead) {
  // The first wave reads before the second writes, and the second what the first has written.
  EXPECT_THAT(found(write_own + read_other, two_waves),
              ElementsAre("lds_race read-write lds 0x100", "lds_race write-read lds 0x0"));
  EXPECT_THAT(found(write_own + "s_barrier\n" + read_other, two_waves), IsEmpty());
  EXPECT_THAT(found(write_own + "s_barrier\n" + read_other + "s_barrier\n" + write_own, two_waves),
              IsEmpty());
  EXPECT_THAT(found(write_own + "s_barrier\n" + read_other + write_own, two_waves),
              ElementsAre("lds_race write-read lds 0x0", "lds_race read-write lds 0x100"));
  // The same wave needs none.
  EXPECT_THAT(found("ds_write_b32 v1, v0\n ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)", two_waves), IsEmpty());
}

TEST(LdsRace, NamesBothSides) {
  const Defects list = sanitized(write_own + "s_barrier\n" + read_other + write_own, two_waves);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].first.text, "ds_read_b32 v4, v2");
  EXPECT_EQ(list[1].second.text, "ds_write_b32 v1, v0");
  EXPECT_EQ(list[1].first.wave, 0U);
  EXPECT_EQ(list[1].second.wave, 1U);
  EXPECT_EQ(list[1].lane, 0);
  EXPECT_EQ(list[1].times, 1U);
}

TEST(LdsRace, WritesOfDifferentThingsToOnePlace) {
  const std::string place = "v_mov_b32_e32 v3, 0\n";
  EXPECT_THAT(found(place + "ds_write_b32 v3, v0", two_waves), ElementsAre("lds_race write-write lds 0x0"));
  EXPECT_THAT(found(place + "ds_write_b32 v3, v3", two_waves),
              ElementsAre("possible lds_race write-write lds 0x0"));
  EXPECT_THAT(found(place + "ds_add_u32 v3, v0", two_waves), IsEmpty());
  EXPECT_THAT(found(place + "ds_add_u32 v3, v0\n ds_read_b32 v4, v3\n s_waitcnt lgkmcnt(0)", two_waves),
              ElementsAre("lds_race read-write lds 0x0", "lds_race write-read lds 0x0"));
}

TEST(LdsRace, BytesSideBySideAreNoRace) {
  const std::string bytes =
      "v_lshrrev_b32_e32 v3, 6, v0\n v_lshlrev_b32_e32 v4, 1, v0\n v_and_b32_e32 v4, 0x7e, v4\n"
      "v_add_u32_e32 v4, v3, v4\n ds_write_b8 v4, v0\n";
  EXPECT_THAT(found(bytes, two_waves), IsEmpty());
  EXPECT_THAT(found(bytes + "ds_write_b16 v4, v0\n", two_waves), ::testing::Not(IsEmpty()));
}

// v2: the wave's number, 64 times.
const std::string wave_number =
    "v_readfirstlane_b32 s4, v0\n s_nop 4\n s_lshr_b32 s4, s4, 6\n v_mov_b32_e32 v2, s4\n";

// Every byte counts, not only the first that meets.
TEST(LdsRace, WritesThatDifferSomewhere) {
  const std::string to_zero = "v_mov_b32_e32 v3, 0\n ds_write_b32 v3, ";
  EXPECT_THAT(found(wave_number + to_zero + "v2\n s_waitcnt lgkmcnt(0)", two_waves),
              ElementsAre("lds_race write-write lds 0x0"));
  EXPECT_THAT(
      found(wave_number + "v_lshlrev_b32_e32 v2, 8, v2\n" + to_zero + "v2\n s_waitcnt lgkmcnt(0)", two_waves),
      ElementsAre("lds_race write-write lds 0x1"));
  EXPECT_THAT(found(to_zero + "v3\n s_waitcnt lgkmcnt(0)", two_waves),
              ElementsAre("possible lds_race write-write lds 0x0"));
  // Lane 0 the same, the others not; and by the first of two accesses of one instruction.
  const std::string own_lane =
      "v_and_b32_e32 v3, 63, v0\n v_mul_u32_u24_e32 v4, v3, v2\n v_lshlrev_b32_e32 v3, 2, v3\n";
  EXPECT_THAT(found(wave_number + own_lane + "ds_write_b32 v3, v4\n s_waitcnt lgkmcnt(0)", two_waves),
              ElementsAre("lds_race write-write lds 0x4"));
  EXPECT_THAT(
      found(wave_number + own_lane + "ds_write2_b32 v3, v4, v3 offset1:64\n s_waitcnt lgkmcnt(0)", two_waves),
      ElementsAre("lds_race write-write lds 0x4"));
}

// Atomics go together, but what comes behind them needs a barrier, whichever wave it is of.
TEST(LdsRace, AtomicsOfSeveralWavesAndThenAnAccess) {
  const std::string add = "v_mov_b32_e32 v3, 0\n ds_add_u32 v3, v0\n s_waitcnt lgkmcnt(0)\n";
  EXPECT_THAT(found(add, {.items = 256}), IsEmpty());
  const std::string last_wave = wave_number + "s_cmp_lg_u32 s4, 3\n s_cbranch_scc1 3\n";
  const std::string read = "ds_read_b32 v5, v3\n s_waitcnt lgkmcnt(0)\n s_nop 0\n";
  EXPECT_THAT(found(add + last_wave + read, {.items = 256}), ElementsAre("lds_race write-read lds 0x0"));
  EXPECT_THAT(found(add + "s_barrier\n" + last_wave + read, {.items = 256}), IsEmpty());
}

const LaunchedAs two_groups{.groups = 2};

TEST(GlobalRace, WorkgroupsThatShareBytes) {
  EXPECT_THAT(found("global_store_dword v1, v0, s[8:9]", two_groups),
              Contains(HasSubstr("global_race write-write")));
  EXPECT_THAT(found("global_store_dword v1, v0, s[8:9]", {}), IsEmpty());
  const std::string own = "s_lshl_b32 s10, s2, 8\n v_add_u32_e32 v2, s10, v1\n";
  EXPECT_THAT(found(own + "global_store_dword v2, v0, s[8:9]", two_groups), IsEmpty());
  // One writes what all read.
  EXPECT_THAT(
      found(own + "global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)\n global_store_dword v2, v4, s[8:9]",
            two_groups),
      Contains(HasSubstr("global_race")));
  EXPECT_THAT(found("global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)", two_groups), IsEmpty());
}

TEST(GlobalRace, WhatSynchronisesIsNoRace) {
  EXPECT_THAT(found("global_atomic_add v1, v0, s[8:9]", two_groups), IsEmpty());
  EXPECT_THAT(found("global_store_dword v1, v0, s[8:9] sc0 sc1", two_groups), IsEmpty());
  EXPECT_THAT(
      found("global_atomic_add v1, v0, s[8:9]\n global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)",
            two_groups),
      ::testing::Each(HasSubstr("possible global_race")));
}

TEST(GlobalRace, NeighbouringBytesAreNone) {
  EXPECT_THAT(
      found("v_lshlrev_b32_e32 v3, 1, v0\n v_add_u32_e32 v3, s2, v3\n global_store_byte v3, v0, s[8:9]",
            two_groups),
      IsEmpty());
}

// In a workgroup alone: s2 is its number.
std::string only_in(unsigned workgroup, const std::string& what, unsigned dwords) {
  return fmt::format("s_cmp_lg_u32 s2, {}\n s_cbranch_scc1 {}\n{}\n", workgroup, dwords, what);
}

// Two workgroups write neighbouring bytes of a dword, a third reads one.
TEST(GlobalRace, IsWithWhoTouchedTheByte) {
  const std::string setup = "s_mov_b64 exec, 1\n";
  const Defects list = sanitized(setup + only_in(0, "global_store_byte v1, v0, s[8:9]", 2) +
                                     only_in(1, "global_store_byte v1, v0, s[8:9] offset:1", 2) +
                                     only_in(2, "global_load_ubyte v4, v1, s[8:9]\n s_waitcnt vmcnt(0)", 3),
                                 {.groups = 3});
  const auto race = std::ranges::find(list, DefectKind::GlobalRace, &Defect::kind);
  ASSERT_NE(race, list.end());
  EXPECT_EQ(race->first.text, "global_store_byte v1, v0, s[8:9]");
  EXPECT_EQ(race->first.workgroup, 0U);
  EXPECT_EQ(race->second.workgroup, 2U);
}

// A workgroup that may be ordered does not hide one that is not.
TEST(GlobalRace, PossibleOnesHideNoneThatIsCertain) {
  const std::string setup = "s_mov_b64 exec, 1\n v_mov_b32_e32 v3, 0x800\n v_mov_b32_e32 v6, s2\n";
  const std::string release = "global_atomic_add v3, v0, s[8:9]";
  const std::string acquire = "global_atomic_add v7, v3, v0, s[8:9] sc0\n s_waitcnt vmcnt(0)";
  const std::string store = "v_lshlrev_b32_e32 v5, 2, v6\n global_store_dword v5, v0, s[8:9]";
  const std::string read_both = "global_load_dwordx2 v[8:9], v1, s[8:9]\n s_waitcnt vmcnt(0)";
  // Workgroups 0 and 1 store, 0 releases; 2 acquires and reads.
  const std::string hidden = setup + "s_cmp_eq_u32 s2, 2\n s_cbranch_scc1 3\n" + store + "\n" +
                             only_in(0, release, 2) + only_in(2, acquire + "\n" + read_both, 6);
  EXPECT_THAT(found(hidden, {.groups = 3}), Contains(::testing::StartsWith("global_race write-read")));
  // Workgroups 0 and 1 read, 1 acquires; 2 stores and releases.
  const std::string masked = setup + "s_cmp_eq_u32 s2, 2\n s_cbranch_scc1 3\n" + read_both + "\n" +
                             only_in(1, acquire, 3) +
                             only_in(2, "global_store_dword v1, v0, s[8:9]\n" + release, 4);
  EXPECT_THAT(found(masked, {.groups = 3}), Contains(::testing::StartsWith("global_race read-write")));
}

// A plain store that a load past the caches reads: whether something orders them is not in the run.
TEST(GlobalRace, APlainStoreAndALoadThatSynchronises) {
  for (const std::string bits : {" sc0", " sc0 sc1"})
    EXPECT_THAT(found("s_mov_b64 exec, 1\n" + only_in(0, "global_store_dword v1, v0, s[8:9]", 2) +
                          only_in(1, "global_load_dword v4, v1, s[8:9]" + bits + "\n s_waitcnt vmcnt(0)", 3),
                      two_groups),
                ElementsAre(::testing::StartsWith("possible global_race write-read")));
}

TEST(GlobalRace, DoesNotDependOnThreads) {
  const std::string_view body = "v_and_b32_e32 v2, 31, v0\n v_lshlrev_b32_e32 v2, 2, v2\n"
                                "global_store_dword v2, v0, s[8:9]\n global_load_dword v4, v1, s[8:9]\n"
                                "s_waitcnt vmcnt(0)\n global_store_dword v1, v4, s[8:9]";
  std::vector<std::string> first;
  for (const unsigned threads : {1U, 2U, 2U, 2U}) {
    std::vector<std::string> lines;
    for (const Defect& d : sanitized(body, {.groups = 64, .threads = threads})) lines.push_back(d.message());
    EXPECT_THAT(lines, ::testing::Not(IsEmpty()));
    if (first.empty()) first = lines;
    EXPECT_EQ(lines, first);
  }
}

} // namespace
} // namespace asmevo::sanitizer
