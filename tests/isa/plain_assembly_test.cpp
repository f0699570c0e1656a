// What an edit's text may hold: instructions, labels and comments. Everything else is refused before LLVM
// sees it.
#include "isa/codec.h"
#include "isa/random_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

using namespace std::string_literals;

struct Refusal {
  std::string text;
  unsigned line, column;
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = {
      {".incbin \"/etc/passwd\"", 1, 1},
      {"s_nop 0\n .include \"x\"", 2, 2},
      {".rept 1000000", 1, 1},
      {".fill 1000000000, 8, 0", 1, 1},
      {".long 0", 1, 1},
      {".amdhsa_next_free_vgpr 8", 1, 1},
      {".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"", 1, 1},
      {".macro m", 1, 1},
      {".if 1", 1, 1},
      {".set x, 1", 1, 1},
      {".org 0x100000000", 1, 1},
      {".section .text", 1, 1},
      {".hsa_code_object_version 2,0", 1, 1},
      {"a: .long 0", 1, 4},
      {"x = 1", 1, 3},
      {"x == 1", 1, 3},
      {"s_mov_b32 s0, x=1", 1, 16},
      {"s_mov_b32 s0, .", 1, 15},
      {"s_branch .-4", 1, 10},
      {"s_branch .Llabel", 1, 10},
      {".Llabel:", 1, 1},
      {"s_mov_b32 s0, \"a\"", 1, 15},
      {"s_mov_b32 s0, 'a'", 1, 15},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"01pi\")", 1, 52},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"01pixx\")", 1, 52},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"01pip", 1, 52},
      {"s_nop 0 \\ s_nop 1", 1, 9},
      {"# 1 \"file\"", 1, 1},
      {"s_nop 0 # comment", 1, 9},
      {"/* s_nop 0 */", 1, 1},
      {"s_nop 0 /* hidden */", 1, 9},
      {"s_nop 0\0"s, 1, 8},
      {"s_nop 0\r\ns_nop 1", 1, 8},
      {"; comment with \0 in it"s, 1, 16},
      {"1: s_nop 0", 1, 1},
      {"s_branch 1b", 0, 0}, // refused by the assembler: there is no such label
      {"s_mov_b32 s0, 1..2", 1, 16},
      {"s_mov_b32 s0, 1.", 1, 16},
      {"s_mov_b32 s0, " + std::string(9, '(') + "1" + std::string(9, ')'), 1, 23},
      {"s_mov_b32 s0, " + std::string(9, '-') + "1", 1, 23},
      {"s_mov_b32 s0, - - - - - - - - - 1", 1, 31},
      {"V_MOV_B32 v0, v1", 1, 1},
      {"s_Nop 0", 1, 3},
      {"a::", 1, 2},
      {"a::s_nop 0", 1, 2},
      {"s_nop{0}", 1, 6},
      {"s_nop 0 ^ 1", 1, 9},
      {"s_nop 0 % 1", 1, 9},
      {"s_nop 4 / 2", 1, 9},
      {"s_nop 0`", 1, 8},
      {"\xc3\xa4: s_nop 0", 1, 1},
      {"s_nop 0\xff", 1, 8},
      {"s_nop 0\n\n\ts_nop 1 $$ @\v", 3, 0},
      {"s_nop " + std::string(1100, '1'), 1, 1024},
      {";" + std::string(1100, 'x'), 1, 1024},
      {std::string(64 * 1024 + 1, '\n'), 1, 1},
  };
  return all;
}

TEST(PlainAssembly, RefusesWhatIsNotAnInstructionOrLabel) {
  const auto codec = *Codec::create(*Target::from_id("gfx942"));
  for (const Refusal& r : refusals()) {
    const auto parsed = codec->parse(r.text);
    ASSERT_FALSE(parsed) << r.text.substr(0, 60);
    EXPECT_FALSE(parsed.error().message.empty());
    if (r.line == 0) continue;
    EXPECT_EQ(parsed.error().line, r.line) << r.text.substr(0, 60);
    if (r.column == 0) continue;
    EXPECT_EQ(parsed.error().column, r.column) << r.text.substr(0, 60) << ": " << parsed.error().describe();
    const auto plain = check_plain_assembly(r.text);
    ASSERT_FALSE(plain) << r.text.substr(0, 60);
    EXPECT_EQ(plain.error().describe(), parsed.error().describe());
  }
}

TEST(PlainAssembly, AcceptsInstructionsLabelsAndComments) {
  for (const char* text : {
           "",
           "\n\n",
           "   \t  ",
           "; only a comment",
           "// another",
           "loop:",
           "a: b: c:",
           "  loop :  s_nop 0 ; comment",
           "s_nop 0 // .incbin \"/etc/passwd\"",
           "s_nop 0 ; x = 1 /* */ # \" ' \xff",
           "v_mul_f32_e32 v0, 0.5, v1",
           "v_mul_f32_e32 v0, -1.0, v1",
           "s_add_u32 s0, s0, sym@rel32@lo+4",
           "v_add_f32_e64 v0, -|v1|, abs(v2) clamp mul:2",
           "s_mov_b32 s0, (1+2)*4",
           "s_mov_b32 s0, ~1",
           "s_mov_b32 s0, 1<<4",
           "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"01pip\")",
           "s_waitcnt vmcnt(0) & lgkmcnt(0)",
           "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0",
           "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
           "label$1: s_branch label$1",
           "_Z3fooPf: s_nop 0",
       })
    EXPECT_TRUE(check_plain_assembly(text)) << text;
  EXPECT_TRUE(check_plain_assembly(std::string(64 * 1024, '\n')));
  EXPECT_TRUE(check_plain_assembly("s_nop 0 ;" + std::string(1024 - 9, ' ')));
}

// Everything that LLVM prints for an instruction must be welcome in an edit.
TEST(PlainAssembly, AcceptsEveryPrintedInstruction) {
  for (const char* target : {"gfx90a", "gfx942", "gfx950"}) {
    const auto codec = *Codec::create(*Target::from_id(target));
    for (const auto& w : test::random_words(51, 12)) {
      const Instruction* i = codec->decode({reinterpret_cast<const uint8_t*>(w.data()), sizeof(w)});
      if (i->is_data()) continue;
      const std::string text = codec->print(*i);
      const auto plain = check_plain_assembly(text);
      EXPECT_TRUE(plain) << text << ": " << plain.error().describe();
    }
  }
}

TEST(PlainAssembly, PlacesOfErrorsFollowTheLines) {
  for (unsigned line = 1; line < 40; line += 7)
    for (unsigned column = 1; column < 30; column += 9) {
      std::string text;
      for (unsigned k = 1; k < line; ++k) text += "s_nop 0 ; line\n";
      text += std::string(column - 1, ' ') + ".byte 0\n s_nop 1\n";
      const auto plain = check_plain_assembly(text);
      ASSERT_FALSE(plain);
      EXPECT_EQ(plain.error().line, line);
      EXPECT_EQ(plain.error().column, column);
    }
}

} // namespace
} // namespace asmevo::isa
