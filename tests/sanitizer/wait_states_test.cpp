// Wait states, along the way that control takes.
#include "sanitizer/sanitized.h"

namespace asmevo::sanitizer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WaitStates, AreCountedOnAStraightWay) {
  const std::string matrix = "v_mov_b32_e32 v10, 0\n v_mov_b32_e32 v11, 0\n s_nop 7\n"
                             "v_mfma_f32_4x4x4_16b_f16 v[4:7], v[10:11], v[10:11], 0\n";
  EXPECT_THAT(found(matrix + "s_nop 3\n v_mov_b32_e32 v8, v4"),
              ElementsAre("possible wait_states mfma-valu-read v4"));
  EXPECT_THAT(found(matrix + "s_nop 4\n v_mov_b32_e32 v8, v4"), IsEmpty());
  const Defects list = sanitized(matrix + "s_nop 1\n v_mov_b32_e32 v8, v4", {}, {.uninitialised = false});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].fix, "3 more wait states between them (s_nop)");
}

// What comes before a loop and what comes at its end are both before its first instruction.
TEST(WaitStates, AreCountedRoundALoop) {
  const std::string_view loop = R"(
    s_mov_b32 s10, 3
    s_mov_b32 s12, 0
    s_nop 7
  head:
    v_mov_b32_e32 v5, s12
    v_mov_b32_e32 v6, 7
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    v_readfirstlane_b32 s12, v6
    s_cbranch_scc1 head
  )";
  // v_readfirstlane writes an SGPR as a VALU instruction, and the next round's v_mov reads it.
  EXPECT_THAT(found(loop), ElementsAre("possible wait_states valu-writes-sgpr-valu s12"));
  EXPECT_THAT(found(std::string(loop).replace(loop.find("s_cbranch"), 0, "s_nop 3\n    ")), IsEmpty());
}

// A carry comes from the last instruction that wrote it, and a second copy of what K0 does is no news.
TEST(WaitStates, NearerWriterOfTheSame) {
  const std::string add = "v_add_co_u32_e32 v3, vcc, v0, v0\n v_addc_co_u32_e32 v5, vcc, v0, v0, vcc\n ",
                    carry = "possible wait_states valu-writes-sgpr-valu vcc";
  EXPECT_THAT(found(add), ElementsAre(carry));
  EXPECT_THAT(found(add + add), ElementsAre(carry, carry));
  EXPECT_THAT(new_defects(sanitized(add), sanitized(add + add)), IsEmpty());
  EXPECT_THAT(new_defects(sanitized(add + "v_cndmask_b32_e32 v6, v0, v0, vcc"), sanitized(add + add)),
              IsEmpty());
  EXPECT_EQ(new_defects(sanitized("s_nop 0"), sanitized(add)).size(), 1U);
}

} // namespace
} // namespace asmevo::sanitizer
