// Scalar instructions that the conformance vectors leave out.
#include "one_instruction.h"

namespace asmevo::emulator {
namespace {

TEST(scalar, calls_and_returns) {
  Snippet s = snippet("gfx942", R"(
    s_getpc_b64 s[0:1]
    s_add_u32 s0, s0, 16
    s_addc_u32 s1, s1, 0
    s_swappc_b64 s[2:3], s[0:1]
    s_branch 3
    s_mov_b32 s4, 7
    s_mov_b32 s5, 8
    s_setpc_b64 s[2:3]
    s_mov_b32 s6, 9
  )");
  run(s);
  EXPECT_EQ(s.s(4), 7U);
  EXPECT_EQ(s.s(5), 8U);
  EXPECT_EQ(s.s(6), 9U);
  EXPECT_EQ(s.s(2), Snippet::code_address + 16);
}

TEST(scalar, direct_call_keeps_the_return_address) {
  Snippet s = snippet("gfx942", "s_call_b64 s[2:3], 1\ns_mov_b32 s4, 7\ns_mov_b32 s5, 8");
  run(s);
  EXPECT_EQ(s.s(2), Snippet::code_address + 4);
  EXPECT_EQ(s.s(4), 0U);
  EXPECT_EQ(s.s(5), 8U);
}

TEST(scalar, relative_moves) {
  Snippet s = snippet("gfx942", "s_movrels_b32 s0, s10\ns_movreld_b64 s[20:21], s[12:13]");
  s.wave().scalars[slot::m0] = 2;
  s.s(12) = 0x1234;
  s.s(13) = 0x5678;
  run(s);
  EXPECT_EQ(s.s(0), 0x1234U);
  EXPECT_EQ(s.s(22), 0x1234U);
  EXPECT_EQ(s.s(23), 0x5678U);
}

TEST(scalar, relative_move_beyond_the_registers_is_a_fault) {
  Snippet s = snippet("gfx942", "s_movrels_b32 s0, s10");
  s.wave().scalars[slot::m0] = 100;
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Illegal);
}

// Lanes of s[0:1] go to `taken`, the others fall through; all meet at the join with what they did.
TEST(scalar, fork_and_join_run_both_sides) {
  for (const uint64_t taken : {uint64_t{0xff}, ~uint64_t{0xff}, uint64_t{0}, all_lanes}) {
    Snippet s = snippet("gfx942", R"(
      s_mov_b64 s[30:31], exec
      s_cbranch_i_fork s[0:1], 2
      v_add_u32_e32 v1, 1, v1
      s_branch 1
      v_add_u32_e32 v1, 16, v1
      s_cbranch_join s2
      s_mov_b64 exec, s[30:31]
      v_add_u32_e32 v2, 1, v2
    )");
    s.wave().set_pair(0, taken);
    // The stack lives in s[0:3] while CSP is 0: keep the mask elsewhere, as compilers do, by starting at
    // CSP 1.
    s.wave().set_mode(FloatMode::usual | 1U << 29);
    s.s(2) = 1;
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      ASSERT_EQ(s.v(1, l), (taken >> l & 1) != 0 ? 16U : 1U) << l;
      ASSERT_EQ(s.v(2, l), 1U) << l;
    }
  }
}

TEST(scalar, zero_flags_can_be_sources) {
  Snippet s = snippet("gfx942", "s_mov_b32 s0, src_vccz\ns_mov_b32 s1, src_execz\ns_mov_b64 vcc, "
                                "1\ns_mov_b32 s2, src_vccz\ns_mov_b64 exec, 0\n"
                                "s_mov_b32 s3, src_execz");
  run(s);
  EXPECT_EQ(s.s(0), 1U);
  EXPECT_EQ(s.s(1), 0U);
  EXPECT_EQ(s.s(2), 0U);
  EXPECT_EQ(s.s(3), 1U);
}

TEST(scalar, zero_flags_in_wide_and_double_use) {
  Snippet s = snippet("gfx942", "s_cmp_eq_u32 src_vccz, src_execz");
  s.s(slot::scc) = 1;
  run(s);
  EXPECT_EQ(s.s(slot::scc), 0U);

  constexpr uint32_t words[] = {0xd1780000, 0x000000fc}; // v_mov_b64_e64 v[0:1], src_execz
  auto wide = Snippet::from_words(*isa::Target::from_id("gfx942"), words);
  ASSERT_TRUE(wide.has_value());
  wide->set_v64(0, 0, ~uint64_t{0});
  run(*wide);
  EXPECT_EQ(wide->v64(0, 0), 0U);
}

TEST(scalar, setreg_changes_the_field_it_names) {
  Snippet s = snippet(
      "gfx942",
      "s_mov_b32 s0, 2\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s0\ns_getreg_b32 s1, hwreg(HW_REG_MODE)\n"
      "v_mov_b32_e32 v0, 1.0\nv_mov_b32_e32 v1, 1\nv_add_f32_e32 v2, v0, v1");
  s.v(1, 0) = 0;
  run(s);
  EXPECT_EQ(s.s(1), FloatMode::usual | 2U);
}

TEST(scalar, rounding_mode_reaches_vector_arithmetic) {
  // 1 + 2^-30 rounds up, down, toward zero.
  for (const auto& [mode, expected] :
       {std::pair{1U, 0x3f800001U}, std::pair{2U, 0x3f800000U}, std::pair{0U, 0x3f800000U}}) {
    Snippet s = snippet("gfx942", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s0\nv_add_f32_e32 v2, v0, v1");
    s.s(0) = mode;
    s.v(0, 5) = 0x3f800000;
    s.v(1, 5) = 0x30800000;
    run(s);
    EXPECT_EQ(s.v(2, 5), expected) << mode;
  }
}

} // namespace
} // namespace asmevo::emulator
