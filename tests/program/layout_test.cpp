#include "assembly_model.h"
#include "llvm_tools.h"
#include "program/layout.h"
#include "program_builder.h"

#include <gtest/gtest.h>

namespace asmevo::program {
namespace {

using testing::build_program;
using testing::codec_for;

uint64_t nowhere(uint32_t) {
  return 0;
}

uint32_t word_at(const TextImage& image, uint64_t offset) {
  return load<uint32_t>(image.bytes, offset).value();
}

std::string nops(size_t count) {
  std::string text;
  for (size_t k = 0; k < count; ++k) text += "s_nop 0\n";
  return text;
}

const isa::Instruction* nop() {
  return (*codec_for().parse("s_nop 0"))[0].instruction;
}

// Branches reach -32768 to 32767 dwords from the next instruction.
TEST(Layout, BranchRange) {
  Program p = build_program("start: s_branch end\nend: s_endpgm\n");
  const auto fill = [&](size_t count) {
    Program far = p;
    far.entries.insert(far.entries.begin() + 1, count, Entry{{1, 0}, no_index, nop()});
    for (Label& l : far.labels)
      if (l.at > 0) l.at += static_cast<Index>(count);
    far.functions[0].end = far.functions[0].padding = static_cast<Index>(far.entries.size());
    return far;
  };
  const auto good = lay_out(fill(32767), 0, nowhere);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(word_at(*good, 0), 0xbf827fffU);
  const auto bad = lay_out(fill(32768), 0, nowhere);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(bad.error().message,
            "instruction 0: the branch to 'end' is 32768 dwords away; a branch reaches -32768 to 32767");
}

TEST(Layout, BackwardBranchRange) {
  const auto backward = [](size_t count) {
    Program p = build_program("start: s_nop 0\n s_cbranch_scc0 start\n s_endpgm\n");
    p.entries.insert(p.entries.begin() + 1, count, Entry{{1, 0}, no_index, nop()});
    return lay_out(p, 0, nowhere);
  };
  const auto good = backward(32766);
  ASSERT_TRUE(good);
  EXPECT_EQ(word_at(*good, 4 * 32767), 0xbf848000U);
  const auto bad = backward(32767);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("'start' is -32769 dwords away"), std::string::npos)
      << bad.error().message;
}

// A gigantic program is refused, not wrapped around.
TEST(Layout, BranchTooFarAfterAnEdit) {
  isa::Codec& codec = codec_for();
  Program p = build_program("s_cbranch_scc0 end\n" + nops(5000) + "end: s_endpgm\n");
  for (uint32_t node = 1; node < 10; ++node) {
    Edit edit;
    edit.kernel = "f";
    edit.changes.push_back({std::nullopt, std::nullopt, InstrId{0, 4}, nops(6000)});
    auto next = splice(p, edit, node, codec);
    ASSERT_TRUE(next) << next.error().describe();
    p = std::move(*next);
    const auto image = lay_out(p, 0, nowhere);
    EXPECT_EQ(image.has_value(), 5000 + 6000 * node <= 32767) << node;
  }
}

TEST(Layout, OffsetsHaveOneMoreThanEntries) {
  const Program p = build_program("s_nop 0\ns_mov_b32 s0, 0x12345\nv_fma_f32 v0, v1, v2, v3\ns_endpgm\n");
  EXPECT_EQ(offsets_of(p), (std::vector<uint64_t>{0, 4, 12, 20, 24}));
  const auto image = lay_out(p, 0x1000, nowhere);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->offsets, offsets_of(p));
  EXPECT_EQ(image->bytes.size(), 24U);
}

// Another section: s_getpc_b64 and the pair that adds the distance. The result is checked by arithmetic:
// end of s_getpc + the 64-bit sum of the two literals is the address that was meant.
TEST(Layout, AddressesOfOtherSections) {
  for (const uint64_t section_at : {uint64_t{0x2000}, uint64_t{0x100000000}, uint64_t{0x100}}) {
    Program p = build_program("table: s_nop 0\ns_getpc_b64 s[0:1]\ns_add_u32 s0, s0, table@rel32@lo+4\n"
                              "s_addc_u32 s1, s1, table@rel32@hi+12\ns_endpgm\n");
    for (Reference& r : p.references) {
      r.label = no_index;
      r.section = 7;
      r.offset = 0x24;
      r.addend = -4;
      r.symbol = "table";
    }
    const uint64_t text_at = 0x1500;
    const auto image = lay_out(p, text_at, [&](uint32_t section) { return section == 7 ? section_at : 0; });
    ASSERT_TRUE(image) << image.error().message;
    const uint64_t sum = word_at(*image, 12) + (uint64_t{word_at(*image, 20)} << 32);
    EXPECT_EQ(text_at + 8 + sum, section_at + 0x20);
  }
}

// The high half as an inline constant: fine while the distance keeps its sign, an error when it does not.
TEST(Layout, InlineHighHalf) {
  Program p = build_program("table: s_nop 0\ns_getpc_b64 s[0:1]\ns_add_u32 s0, s0, table@rel32@lo+4\n"
                            "s_addc_u32 s1, s1, -1\ns_endpgm\n");
  p.entries[3].reference = static_cast<uint32_t>(p.references.size());
  Reference high = p.references[0];
  high.use = isa::SymbolUse::Rel32Hi;
  high.symbol = "table";
  p.references.push_back(high);
  EXPECT_TRUE(lay_out(p, 0x1000, nowhere)); // backwards: -1
  for (Label& l : p.labels) l.at = static_cast<Index>(p.entries.size());
  const auto forwards = lay_out(p, 0x1000, nowhere);
  ASSERT_FALSE(forwards);
  EXPECT_EQ(forwards.error().message,
            "instruction 10: the distance to 'table' no longer fits its constant operand");
}

class AlignedFunctions : public ::testing::Test {
 protected:
  // f: `size` instructions; g behind it on 256 bytes, with K0's filler as entries.
  static Program two_functions(size_t size, uint32_t filler) {
    Program p = build_program(nops(size - 1) + "s_endpgm\n" + nops(filler) + "s_endpgm\n");
    const auto begin = static_cast<Index>(size + filler);
    p.functions = {{"f", 0, begin, true, static_cast<Index>(size)}, {"g", begin, begin + 1, true, begin + 1}};
    p.aligned.push_back({begin, 256, static_cast<Index>(size), no_index, 0});
    return p;
  }
};

TEST_F(AlignedFunctions, FillerStaysWhereItFits) {
  Program p = two_functions(60, 4);
  p.entries[61].instruction =
      (*codec_for().parse("s_nop 7"))[0].instruction; // K0's own bytes, whatever they are
  const auto image = lay_out(p, 0, nowhere);
  ASSERT_TRUE(image);
  EXPECT_EQ(word_at(*image, 61 * 4), 0xbf800007U);
  EXPECT_EQ(image->offsets[64], 256U);
}

TEST_F(AlignedFunctions, FillerIsRenewedWhereItDoesNot) {
  for (const size_t size : {1, 59, 61, 64, 65, 120}) {
    const auto image = lay_out(two_functions(size, 4), 0, nowhere);
    ASSERT_TRUE(image);
    const uint64_t expected = (size * 4 + 255) / 256 * 256;
    EXPECT_EQ(image->offsets[size + 4], expected) << size;
    for (uint64_t at = size * 4; at < expected; at += 4) EXPECT_EQ(word_at(*image, at), 0xbf800000U);
    EXPECT_EQ(word_at(*image, expected), 0xbf810000U);
    EXPECT_EQ(image->bytes.size(), expected + 4);
  }
}

TEST_F(AlignedFunctions, PreloadEntryKeepsItsDistance) {
  Program p = build_program(nops(64) + "s_endpgm\n");
  p.aligned.push_back({64, 4, 60, 0, 256});
  ASSERT_TRUE(lay_out(p, 0, nowhere));
  Program longer = p;
  longer.entries.insert(longer.entries.begin(), Entry{{1, 0}, no_index, nop()});
  longer.aligned[0].at = 65;
  longer.aligned[0].filler = 61;
  const auto image = lay_out(longer, 0, nowhere);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(
      image.error().message,
      "the kernel's code for kernarg preload must stand 256 bytes behind its entry, but the instructions "
      "in front of it take 260 bytes");
}

} // namespace
} // namespace asmevo::program
