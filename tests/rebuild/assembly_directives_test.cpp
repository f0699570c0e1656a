#include "base/random.h"
#include "codeobject/samples.h"
#include "full_run.h"
#include "rebuild/assembly.h"
#include "rebuild/assembly_directives.h"

#include <gmock/gmock.h>

#include <chrono>

namespace asmevo::rebuild {
namespace {

using ::testing::HasSubstr;

const std::string head = "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n";

std::string refusal(std::string_view text) {
  const Status status = check_directives(text, "k.s");
  return status ? "" : status.error().message;
}

std::string not_taken(std::string_view place, std::string_view directive) {
  return fmt::format("k.s:{}: {} is not taken: only directives that 'recover' writes, and plain data", place,
                     directive);
}

TEST(AssemblyDirectives, WhatRepeatsOrIncludesIsNamedWithItsPlace) {
  for (const char* directive : {".rept", ".rep", ".irp", ".irpc", ".macro", ".altmacro", ".include",
                                ".incbin", ".org", ".if", ".purgem", ".end", ".error", ".bundle_align_mode",
                                ".pseudo_probe", ".reloc", ".line", ".amd_kernel_code_t"})
    EXPECT_EQ(refusal(fmt::format("s_nop 0\n  {} 3\n", directive)), not_taken("2:3", directive));
  EXPECT_EQ(refusal(".REPT 3\n"), not_taken("1:1", ".rept"));
}

TEST(AssemblyDirectives, BehindLabelsAndComments) {
  for (const char* text :
       {"a: .rept 2", "a : .rept 2", "1: .rept 2", "\"a b\": .rept 2", "a: b: .rept 2", ".La: .rept 2",
        "/* x */ .rept 2", "/* x\n*/ .rept 2", "s_nop 0\r.rept 2", "\t.rept\t2", "\"a\nb\\\"\": .rept 2",
        ".byte '\"'\n.rept 2", ".byte '\\\"'\n.rept 2", "x = 1\n.rept 2", "; /*\n.rept 2", "// \"\n.rept 2",
        "# '\n.rept 2", ".amdgpu_metadata\n---\n.end_amdgpu_metadata\n.rept 2"})
    EXPECT_THAT(refusal(text), HasSubstr(".rept is not taken")) << text;
}

TEST(AssemblyDirectives, WhatOnlyLooksLikeOne) {
  for (const char* text :
       {"; .rept 2", "// .rept 2", "# .rept 2", "s_nop 0 ; .rept 2", "/* .rept 2 */", "/*\n.rept 2\n*/",
        ".asciz \".rept\"", ".asciz \"\n.rept 2\n\"", ".rept: s_nop 0", ".rept = 3", ".byte 1 // \n",
        ".amdgpu_metadata\n  .name: x\n.rept 3\n", ".long .rept"})
    EXPECT_EQ(refusal(text), "") << text;
}

TEST(AssemblyDirectives, StringsAndCommentsWithoutEnd) {
  EXPECT_EQ(refusal("s_nop 0\n \"\"b#/*\n"), "k.s:2:6: this comment has no end"); // LLVM 22 loops for ever
  EXPECT_EQ(refusal("s_nop 0\n.ascii \"a\\\"\n"), "k.s:2:8: this string has no end");
  EXPECT_EQ(refusal(".ascii \"a\\\\\"\n/**/"), "");
  EXPECT_EQ(refusal("s_nop \\n\n"), "k.s:1:7: a backslash outside of strings");
}

TEST(AssemblyDirectives, Sizes) {
  EXPECT_EQ(refusal(".zero 0x40000000\n"), "");
  EXPECT_EQ(refusal("\n.zero 0x40000001\n"), "k.s:2:1: .zero of more than 1073741824 bytes");
  for (const char* text :
       {".space 99999999999999999999", ".skip 0x7fffffffff, 1", ".fill 0x10000000, 8",
        ".fill 0x10000000, 99, 3", ".fill 0x40000001", ".p2align 31", ".p2align 99", ".balign 0x80000000"})
    EXPECT_THAT(refusal(text), HasSubstr("k.s:1:1: ")) << text;
  for (const char* text : {".fill 16, 8, 0", ".p2align 8", ".p2align 12, 0, 4", ".balign 4096", ".zero a-b"})
    EXPECT_EQ(refusal(text), "") << text;
}

// LLVM's parser obeys .error wherever it sees a directive; there it must have been refused. Text of pieces
// that hide or begin statements.
TEST(AssemblyDirectives, SeesWhatLlvmSees) {
  const std::vector<std::string> pieces = {".error \"seen\"",
                                           ".error \"seen\"\n",
                                           "\n",
                                           "\n",
                                           "\n",
                                           " ",
                                           ";",
                                           "//",
                                           "#",
                                           "/*",
                                           "*/",
                                           "\"",
                                           "'",
                                           "\\",
                                           "\r",
                                           ":",
                                           "a",
                                           "b:",
                                           "1:",
                                           "s_nop 0",
                                           "=",
                                           ".byte 1",
                                           "\t",
                                           ",",
                                           "'a'",
                                           "\"q\"",
                                           ".text",
                                           "\x1a"};
  RandomStream random(7);
  size_t seen = 0;
  const int rounds = test::full_run() ? 1000 : 80;
  for (int k = 0; k < rounds; ++k) {
    std::string text;
    for (int n = 0; n < 14; ++n) text += pieces[random.below(pieces.size())];
    text += "\n*/\n"; // LLVM's parser may never end looking for that
    const auto path = samples::save("directives.s", as_bytes(text));
    const auto ran =
        samples::run("ulimit -t 1; " + samples::llvm +
                     "llvm-mc -triple amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=null " + path.string());
    if (ran.output.find("error: seen") == std::string::npos) continue;
    ++seen;
    EXPECT_NE(refusal(text), "") << testing::PrintToString(text) << "\n" << ran.output;
  }
  EXPECT_GT(seen, static_cast<size_t>(rounds) / 10);
}

std::string assembling(const std::string& text) {
  const auto made = assemble_in_child(head + text, "k.s");
  EXPECT_FALSE(made);
  return made ? "" : made.error().message;
}

// Once these ran until a limit of minutes, or failed without a place.
TEST(AssemblyDirectives, TextThatRanOn) {
  const auto start = std::chrono::steady_clock::now();
  std::string nested = ".text\n";
  for (int k = 0; k < 9; ++k) nested += ".rept 1000\n";
  EXPECT_EQ(assembling(nested + "s_nop 0\n"), not_taken("3:1", ".rept"));
  EXPECT_EQ(assembling(".include \"k.s\"\n"), not_taken("2:1", ".include"));
  EXPECT_EQ(assembling(".incbin \"/dev/zero\"\n"), not_taken("2:1", ".incbin"));
  EXPECT_EQ(assembling(".text\n.org 0x7fffffffffff\n"), not_taken("3:1", ".org"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(AssemblyDirectives, LimitOfMemory) {
  std::string text = ".data\n";
  for (int k = 0; k < 3; ++k) text += ".zero 0x3fffffff\n";
  EXPECT_THAT(assembling(text),
              ::testing::MatchesRegex("k.s: assembling takes more than 1024 MiB of memory"));
}

TEST(AssemblyDirectives, LimitOfTime) {
  if (!test::full_run()) GTEST_SKIP() << "takes as long as the limit";
  // 2^60 terms.
  std::string text = ".text\n.set a0, x-y\n";
  for (int k = 1; k <= 60; ++k) text += fmt::format(".set a{0}, a{1}+a{1}\n", k, k - 1);
  EXPECT_EQ(assembling(text + ".long a60\ny:\n s_nop 0\nx:\n"), "k.s: assembling takes more than 10 seconds");
}

} // namespace
} // namespace asmevo::rebuild
