// Reads of what nobody has written, waves at different barriers, and what a candidate has that K0 has not.
#include "sanitizer/sanitized.h"

namespace asmevo::sanitizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> unwritten(std::string_view body, const LaunchedAs& as = {}) {
  std::vector<std::string> list;
  for (const Defect& d : sanitized(body, as))
    if (d.kind == DefectKind::Uninitialised) list.push_back(fmt::format("{} lane {}", d.object, d.lane));
  return list;
}

TEST(Uninitialised, Registers) {
  EXPECT_THAT(unwritten("v_add_u32_e32 v5, 1, v40"), ElementsAre("v40 lane 0"));
  EXPECT_THAT(unwritten("s_add_u32 s5, s40, 1"), ElementsAre("s40 lane -1"));
  EXPECT_THAT(unwritten("v_mov_b32_e32 v40, 1\n v_add_u32_e32 v5, 1, v40"), IsEmpty());
  EXPECT_THAT(unwritten("s_add_u32 s5, s2, s3\n s_add_u32 s5, s0, s1\n v_mov_b32_e32 v2, v0"), IsEmpty());
  // One lane is enough.
  EXPECT_THAT(unwritten("s_mov_b64 s[10:11], exec\n s_mov_b64 exec, -2\n v_mov_b32_e32 v40, 1\n"
                        "s_mov_b64 exec, s[10:11]\n v_add_u32_e32 v5, 1, v40"),
              ElementsAre("v40 lane 0"));
}

TEST(Uninitialised, Lds) {
  EXPECT_THAT(unwritten("ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)"), ElementsAre("lds 0x0 lane 0"));
  EXPECT_THAT(unwritten("ds_write_b32 v1, v0\n ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)"), IsEmpty());
  EXPECT_THAT(unwritten("ds_write_b16 v1, v0\n ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)"),
              ElementsAre("lds 0x2 lane 0"));
}

TEST(Convergence, WavesThatMeetAtDifferentBarriers) {
  const std::string_view body = R"(
    v_readfirstlane_b32 s10, v0
    s_cmp_eq_u32 s10, 0
    s_cbranch_scc1 first
    s_barrier
    s_branch done
  first:
    s_barrier
  done:
  )";
  EXPECT_THAT(found(body, {.items = 128}),
              ElementsAre("possible convergence waves meet at different barriers s_barrier"));
  EXPECT_THAT(found(body), IsEmpty());
}

TEST(NewDefects, AreThoseThatK0DoesNotHave) {
  const Defects k0 = sanitized("global_load_dword v4, v1, s[8:9]\n v_mov_b32_e32 v5, v4");
  const Defects same = sanitized("s_nop 0\n global_load_dword v6, v1, s[8:9]\n v_mov_b32_e32 v7, v6");
  const Defects more = sanitized("global_load_dword v4, v1, s[8:9]\n v_mov_b32_e32 v5, v4\n"
                                 "global_load_dword v4, v1, s[8:9]\n v_mov_b32_e32 v5, v4");
  ASSERT_EQ(k0.size(), 1U);
  EXPECT_THAT(new_defects(k0, same), IsEmpty());
  EXPECT_EQ(new_defects(k0, more).size(), 1U);
  EXPECT_EQ(new_defects({}, k0).size(), 1U);
}

} // namespace
} // namespace asmevo::sanitizer
