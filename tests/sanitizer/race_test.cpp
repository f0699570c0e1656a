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
              ElementsAre("lds_race read-write lds 0x0"));
}

TEST(LdsRace, BytesSideBySideAreNoRace) {
  const std::string bytes =
      "v_lshrrev_b32_e32 v3, 6, v0\n v_lshlrev_b32_e32 v4, 1, v0\n v_and_b32_e32 v4, 0x7e, v4\n"
      "v_add_u32_e32 v4, v3, v4\n ds_write_b8 v4, v0\n";
  EXPECT_THAT(found(bytes, two_waves), IsEmpty());
  EXPECT_THAT(found(bytes + "ds_write_b16 v4, v0\n", two_waves), ::testing::Not(IsEmpty()));
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
