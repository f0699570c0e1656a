#include "one_instruction.h"

namespace asmevo::emulator {
namespace {

void number_lanes(Snippet& s, unsigned row, uint32_t base) {
  for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = base + l;
}

TEST(VectorMove, ReadFirstLane) {
  for (const auto& [exec, lane] :
       {std::pair(uint64_t{0}, 0U), {uint64_t{1} << 63, 63U}, {uint64_t{0xff00}, 8U}}) {
    Snippet s = snippet("gfx942", "v_readfirstlane_b32 s5, v1");
    number_lanes(s, 1, 100);
    s.wave().set_exec(exec);
    run(s);
    EXPECT_EQ(s.s(5), 100 + lane);
  }
}

TEST(VectorMove, ReadLaneTakesTheNumberModulo64AndIgnoresExec) {
  Snippet s = snippet("gfx942",
                      "v_readlane_b32 s5, v1, s6\nv_readlane_b32 s7, v1, 33\nv_readlane_b32 vcc_hi, v1, m0");
  number_lanes(s, 1, 100);
  s.wave().set_exec(0);
  s.s(6) = 64 + 17;
  s.s(slot::m0) = 5;
  run(s);
  EXPECT_EQ(s.s(5), 117U);
  EXPECT_EQ(s.s(7), 133U);
  EXPECT_EQ(s.wave().vcc() >> 32, 105U);
}

TEST(VectorMove, WriteLaneIgnoresExec) {
  Snippet s = snippet("gfx942", "v_writelane_b32 v1, s3, 7\nv_writelane_b32 v1, 1.0, m0");
  number_lanes(s, 1, 100);
  s.wave().set_exec(0);
  s.s(3) = 42;
  s.s(slot::m0) = 128 + 9;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) EXPECT_EQ(s.v(1, l), l == 7 ? 42 : l == 9 ? 0x3f800000 : 100 + l);
}

TEST(VectorMove, SwapUnderExec) {
  Snippet s = snippet("gfx942", "v_swap_b32 v1, v2");
  number_lanes(s, 1, 100);
  number_lanes(s, 2, 200);
  s.wave().set_exec(0xf0);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const bool active = l >= 4 && l < 8;
    EXPECT_EQ(s.v(1, l), (active ? 200 : 100) + l);
    EXPECT_EQ(s.v(2, l), (active ? 100 : 200) + l);
  }
}

// Row 1 of VDST changes places with row 0 of the source, row 3 with row 2 (of 16 lanes, or of 32).
TEST(VectorMove, PermlaneSwaps) {
  for (const unsigned rows : {16U, 32U}) {
    Snippet s = snippet("gfx950", "v_permlane" + std::to_string(rows) + "_swap_b32 v1, v2");
    number_lanes(s, 1, 100);
    number_lanes(s, 2, 200);
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      const bool odd = l / rows % 2 == 1;
      EXPECT_EQ(s.v(1, l), odd ? 200 + l - rows : 100 + l);
      EXPECT_EQ(s.v(2, l), odd ? 200 + l : 100 + l + rows);
    }
  }
}

// As DPP has it: who would read a disabled lane stays, reads 0 (bound_ctrl), or reads it all the same (fi).
TEST(VectorMove, PermlaneSwapWithDisabledLanes) {
  struct Form {
    const char* suffix;
    uint32_t expected;
  };
  for (const Form& form : {Form{"", 100 + 32 + 3}, Form{" bound_ctrl:1", 0}, Form{" fi:1", 200 + 3}}) {
    Snippet s = snippet("gfx950", std::string("v_permlane32_swap_b32_e64 v1, v2") + form.suffix);
    number_lanes(s, 1, 100);
    number_lanes(s, 2, 200);
    s.wave().set_exec(all_lanes & ~uint64_t{8}); // lane 3 is off
    run(s);
    EXPECT_EQ(s.v(1, 32 + 3), form.expected) << form.suffix;
    EXPECT_EQ(s.v(2, 3), 203U);      // disabled itself
    EXPECT_EQ(s.v(1, 32 + 4), 204U); // the others as ever
    EXPECT_EQ(s.v(2, 4), 100U + 32 + 4);
  }
}

TEST(VectorMove, ChoiceWithFloatModifiers) {
  Snippet s = snippet("gfx942", "v_cndmask_b32_e64 v3, -v1, |v2|, s[4:5]\nv_cndmask_b32_e32 v4, v1, v2, vcc\n"
                                "v_cndmask_b32_e64 v5, 1.0, -1, vcc");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(1, l) = 0x3f800000 + l;
    s.v(2, l) = 0xbf000000 + l;
  }
  const uint64_t mask = 0x8123456789abcdef;
  s.wave().set_pair(4, mask);
  s.wave().set_vcc(~mask);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const bool set = (mask >> l & 1) != 0;
    EXPECT_EQ(s.v(3, l), set ? 0x3f000000 + l : 0xbf800000 + l);
    EXPECT_EQ(s.v(4, l), set ? 0x3f800000 + l : 0xbf000000 + l);
    EXPECT_EQ(s.v(5, l), set ? 0x3f800000 : 0xffffffff);
  }
}

TEST(VectorMove, WideConstants) {
  Snippet s = snippet("gfx942", "v_mov_b64 v[0:1], 1.0\nv_mov_b64 v[2:3], -2\nv_mov_b64 v[4:5], 0x87654321\n"
                                "v_mov_b64 v[6:7], s[2:3]");
  s.wave().set_pair(2, 0x1122334455667788);
  run(s);
  EXPECT_EQ(s.v64(0, 5), 0x3ff0000000000000U);
  EXPECT_EQ(s.v64(2, 5), 0xfffffffffffffffeU);
  EXPECT_EQ(s.v64(4, 5), 0x87654321U);
  EXPECT_EQ(s.v64(6, 5), 0x1122334455667788U);
}

TEST(VectorMove, AccumulationRegistersUnderExec) {
  Snippet s =
      snippet("gfx942", "v_accvgpr_write_b32 a1, v1\nv_accvgpr_mov_b32 a2, a1\nv_accvgpr_read_b32 v2, a2\n"
                        "v_accvgpr_write_b32 a3, 2.0");
  number_lanes(s, 1, 100);
  s.wave().set_exec(0xffff0000ffff0000);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const bool active = l / 16 % 2 == 1;
    EXPECT_EQ(s.a(1, l), active ? 100 + l : 0);
    EXPECT_EQ(s.a(2, l), active ? 100 + l : 0);
    EXPECT_EQ(s.v(2, l), active ? 100 + l : 0);
    EXPECT_EQ(s.a(3, l), active ? 0x40000000U : 0U);
  }
}

TEST(VectorMove, NothingHappens) {
  Snippet s = snippet("gfx942", "v_nop\nv_clrexcp");
  run(s);
  EXPECT_EQ(s.wave().instructions, 2U);
}

} // namespace
} // namespace asmevo::emulator
