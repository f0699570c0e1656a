// Decoder, printer and parser against LLVM's own programs, over every opcode value of every format.
#include "isa/codec.h"
#include "isa/encoding.h"
#include "isa/random_words.h"
#include "llvm_tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace asmevo::isa {
namespace {

constexpr std::array target_names = {"gfx90a", "gfx942", "gfx950"};

ByteSpan bytes_of(std::span<const uint32_t> words) {
  return {reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes()};
}

std::unique_ptr<Codec> codec_for(std::string_view name) {
  return *Codec::create(*Target::from_id(name));
}

std::string hex(const test::RandomWords& w) {
  return fmt::format("{:08x} {:08x} {:08x} {:08x}", w[0], w[1], w[2], w[3]);
}

// What llvm-objdump makes of each sample: its text and how many dwords it takes; no text where it says
// <unknown>. Samples stand 32 bytes apart with s_nop behind them, so that one cannot upset the next.
struct Disassembled {
  std::string text;
  unsigned dwords = 0;
};

std::string normal_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char d = c == '\t' ? ' ' : c;
    if (d == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += d;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<Disassembled> objdump(const std::vector<test::RandomWords>& samples, std::string_view cpu) {
  const test::ScratchFolder folder;
  std::string source = ".text\n";
  for (const auto& w : samples)
    source += fmt::format(".long {},{},{},{},0xbf800000,0xbf800000,0xbf800000,0xbf800000\n", w[0], w[1], w[2],
                          w[3]);
  std::vector<Disassembled> result(samples.size());
  if (!test::assemble(source, cpu, folder / "words")) return {};
  if (test::run_llvm(fmt::format("llvm-objdump -d --mcpu={} '{}' > '{}'", cpu, (folder / "words").string(),
                                 (folder / "out").string())) != 0)
    return {};
  const std::string listing = test::text_of(folder / "out");
  for (size_t at = 0; at < listing.size();) {
    const size_t end = std::min(listing.find('\n', at), listing.size());
    const std::string_view line(listing.data() + at, end - at);
    at = end + 1;
    const size_t comment = line.rfind("// ");
    if (comment == std::string_view::npos) continue;
    const uint64_t offset = std::strtoull(line.data() + comment + 3, nullptr, 16);
    if (offset % 32 != 0 || offset / 32 >= samples.size()) continue;
    Disassembled& d = result[offset / 32];
    const std::string_view words = line.substr(line.find(": ", comment) + 2);
    const auto is_word = [&](size_t p) { // eight hex digits; comments of the disassembler may follow them
      return p + 8 <= words.size() &&
             words.substr(p, 8).find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
    };
    while (is_word(d.dwords * 9)) ++d.dwords;
    d.text = normal_spaces(line.substr(0, comment));
    if (d.text.starts_with(".long") || d.text.empty()) d = {};
  }
  return result;
}

class CodecOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, CodecOn, testing::ValuesIn(target_names),
                         [](const auto& i) { return std::string(i.param); });

// LLVM's disassembler accepts words that no assembler writes; they are data to us. These marks in its text
// tell.
bool llvm_doubts(std::string_view text) {
  return text.find("/*") != std::string_view::npos || text.starts_with("v_mfma_ld_scale_b32");
}

// Words that objdump takes for instructions and we for data: no assembler may make them from objdump's text.
struct Refused {
  std::string text;
  test::RandomWords words;
};

void expect_not_assembled(const std::vector<Refused>& refused, std::string_view cpu) {
  const test::ScratchFolder folder;
  std::string source;
  for (const Refused& r : refused) source += r.text + "\n";
  ASSERT_TRUE(write_file(folder / "text.s", source));
  const std::string stem = (folder / "text").string();
  (void)test::run_llvm(
      fmt::format("llvm-mc -triple=amdgcn-amd-amdhsa -mcpu={} -show-encoding '{}.s' > '{}.out' 2> '{}.err'",
                  cpu, stem, stem, stem));
  std::set<size_t> wrong; // lines
  const std::string errors = test::text_of(stem + ".err"), out = test::text_of(stem + ".out");
  for (size_t at = 0; (at = errors.find("text.s:", at)) != std::string::npos; at += 7)
    wrong.insert(std::strtoul(errors.c_str() + at + 7, nullptr, 10));
  size_t at = 0;
  for (size_t k = 0; k < refused.size(); ++k) {
    if (wrong.contains(k + 1)) continue;
    at = out.find("encoding: [", at);
    ASSERT_NE(at, std::string::npos);
    std::string bytes;
    for (const uint8_t b : bytes_of(std::span(refused[k].words).first(encoded_dwords(refused[k].words[0]))))
      bytes += fmt::format("{}0x{:02x}", bytes.empty() ? "" : ",", b);
    // A 32-bit register of graphics waves; the assembler takes it for a 64-bit operand.
    const bool graphics = refused[k].text.find("src_pops_exiting_wave_id") != std::string::npos;
    EXPECT_TRUE(graphics || out.substr(at + 11, bytes.size() + 1) != bytes + "]") << refused[k].text;
    ++at;
  }
}

TEST_P(CodecOn, AgreesWithObjdumpOnRandomWords) {
  const auto codec = codec_for(GetParam());
  std::vector<test::RandomWords> samples;
  // Words on which LLVM's disassembler itself crashes cannot be shown to it.
  for (auto w : test::random_words(11, 8)) {
    if (has_reserved_code(w)) continue;
    for (unsigned k = encoded_dwords(w[0]); k < w.size(); ++k) w[k] = 0xbf800000;
    samples.push_back(w);
  }
  const auto expected = objdump(samples, GetParam());
  ASSERT_EQ(expected.size(), samples.size());
  size_t instructions = 0, data = 0;
  std::vector<Refused> refused;
  for (size_t k = 0; k < samples.size(); ++k) {
    const Instruction* i = codec->decode(bytes_of(samples[k]));
    ASSERT_NE(i, nullptr);
    if (i->is_data()) {
      ++data;
      EXPECT_EQ(i->dwords, 1);
      if (!expected[k].text.empty() && !llvm_doubts(expected[k].text))
        refused.push_back({expected[k].text, samples[k]});
      continue;
    }
    ++instructions;
    EXPECT_EQ(normal_spaces(codec->print(*i)), expected[k].text) << hex(samples[k]);
    EXPECT_EQ(i->dwords, expected[k].dwords) << hex(samples[k]);
    EXPECT_EQ(i->dwords, encoded_dwords(samples[k][0])) << hex(samples[k]);
    EXPECT_TRUE(std::ranges::equal(i->encoding(), std::span(samples[k]).first(i->dwords)));
  }
  expect_not_assembled(refused, GetParam());
  fmt::print("{}: {} words, {} instructions, {} data, {} of them text to objdump\n", GetParam(),
             samples.size(), instructions, data, refused.size());
  EXPECT_GT(instructions, 5000U);
  EXPECT_GT(data, 5000U);
  EXPECT_LT(refused.size(), samples.size() / 100);
}

TEST(Codec, UnusedBitsOfWaitcntAreDead) {
  const auto codec = codec_for("gfx942");
  const uint32_t words[] = {0xbf8cb0f0};
  const Instruction* i = codec->decode(bytes_of(words));
  EXPECT_EQ(i->words[0], words[0]);
  EXPECT_EQ(i->dead_bits[0], 0x3080U);
  const WaitcntFields f = WaitcntFields::decode(static_cast<uint16_t>(i->words[0]));
  EXPECT_EQ(f.vmcnt, 32U);
  EXPECT_EQ(f.expcnt, 7U);
  EXPECT_EQ(f.lgkmcnt, 0U);
  EXPECT_EQ(f.encode(), (words[0] & ~i->dead_bits[0]) & 0xffff);
}

TEST_P(CodecOn, DeadBitsMeanNothing) {
  const auto codec = codec_for(GetParam());
  size_t checked = 0;
  for (const auto& w : test::random_words(12, 8)) {
    const Instruction* i = codec->decode(bytes_of(w));
    if (i->is_data() || !i->has_dead_bits()) continue;
    ++checked;
    test::RandomWords clean = w;
    for (unsigned k = 0; k < i->dwords; ++k) clean[k] ^= i->dead_bits[k];
    const Instruction* again = codec->decode(bytes_of(clean));
    EXPECT_EQ(codec->print(*again), codec->print(*i)) << hex(w);
    EXPECT_EQ(again->llvm_opcode, i->llvm_opcode);
  }
  EXPECT_GT(checked, 500U);
}

// The bits that gfx950's scaled f4 MFMAs carry in production code (src2's op_sel) and that text cannot
// express.
TEST(Codec, KeepsDeadBitsOfScaledMfma) {
  const auto codec = codec_for("gfx950");
  const auto lines = codec->parse(
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[20:23], v24, v25 cbsz:4 blgp:4");
  ASSERT_TRUE(lines) << lines.error().describe();
  test::RandomWords words{};
  std::ranges::copy((*lines)[0].instruction->encoding(), words.begin());
  words[0] |= 0x6000;
  const Instruction* i = codec->decode(bytes_of(words));
  ASSERT_FALSE(i->is_data());
  EXPECT_EQ(i->dead_bits[0], 0x6000U);
  EXPECT_EQ(i->words[0], words[0]);
  EXPECT_EQ(codec->print(*i), codec->print(*(*lines)[0].instruction));
}

// Messages with which LLVM's assembler refuses what its disassembler accepts: limits of the hardware that
// random register numbers break.
bool is_operand_limit(std::string_view message) {
  constexpr std::string_view known[] = {"constant bus",
                                        "not supported on this GPU",
                                        "not available on this GPU",
                                        "register index is out of range",
                                        "64 bit aligned",
                                        "must not partially overlap",
                                        "op_sel operand",
                                        "only 4-bit values",
                                        "20-bit unsigned offset",
                                        "must be even aligned",
                                        "even-aligned",
                                        "invalid operand for instruction",
                                        "dst and src operands",
                                        "dpp",
                                        "cannot use",
                                        "vgpr must be",
                                        "requires"};
  return std::ranges::any_of(known,
                             [&](std::string_view k) { return message.find(k) != std::string_view::npos; });
}

// Encodings with bits that mean nothing to the operation but are operands to LLVM, so that they are not dead
// and its text does not show them: modifiers of integer operands, high halves of 16-bit literals, unused
// message bits.
bool has_unprinted_bits(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  const auto has = [&](std::string_view part) { return m.find(part) != std::string_view::npos; };
  return i.literal() || m.starts_with("s_sendmsg") ||
         (i.mods.neg | i.mods.abs | i.mods.neg_hi | i.mods.op_sel) != 0 || has("ldexp") || has("dot") ||
         i.extension == Extension::Sdwa || has("16");
}

TEST_P(CodecOn, PrintedTextParsesToTheSameWords) {
  const auto codec = codec_for(GetParam());
  size_t same = 0, limits = 0, unprinted = 0;
  for (const auto& w : test::random_words(13, 8)) {
    const Instruction* i = codec->decode(bytes_of(w));
    if (i->is_data() || i->branch || i->has_dead_bits()) continue;
    const std::string text = codec->print(*i);
    const auto lines = codec->parse(text);
    if (!lines) {
      ++limits;
      EXPECT_TRUE(is_operand_limit(lines.error().message)) << text << ": " << lines.error().describe();
      EXPECT_EQ(lines.error().line, 1U);
      continue;
    }
    ASSERT_EQ(lines->size(), 1U);
    if ((*lines)[0].instruction == i) {
      ++same;
      continue;
    }
    ++unprinted;
    EXPECT_TRUE(has_unprinted_bits(*i)) << text << " " << hex(w);
    EXPECT_EQ(codec->print(*(*lines)[0].instruction), text);
  }
  fmt::print("{}: {} the same, {} beyond an operand limit, {} with unprinted bits\n", GetParam(), same,
             limits, unprinted);
  EXPECT_GT(same, 3000U);
  EXPECT_LT(unprinted, same / 25);
}

TEST_P(CodecOn, ReachesEveryMnemonicOfProductionKernels) {
  const auto codec = codec_for(GetParam());
  std::set<std::string> reached;
  for (const auto& w : test::random_words(1, 40))
    reached.insert(std::string(codec->decode(bytes_of(w))->base_mnemonic));
  const std::string list =
      test::text_of(std::string(ASMEVO_SOURCE_DIR) + "/tests/isa/production_mnemonics.txt");
  size_t wanted = 0;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find('\n', at), list.size());
    const std::string line = list.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    if (line.find(GetParam(), space) == std::string::npos) continue;
    ++wanted;
    EXPECT_TRUE(reached.contains(line.substr(0, space))) << line;
  }
  if (std::string_view(GetParam()) != "gfx90a") { // none of the listed kernels is for it
    EXPECT_GT(wanted, 150U);
  }
  EXPECT_GT(reached.size(), 1000U);
}

// Words that crash LLVM's disassembler, encoder or printer unless they are kept from it.
TEST_P(CodecOn, SurvivesReservedEncodings) {
  const auto codec = codec_for(GetParam());
  constexpr test::RandomWords hostile[] = {
      {0x01b958f9, 0x00013f3e},                         // SDWA dst_unused 3
      {0x5c018ef9, 0x01060709},                         // SDWA dst_sel 7
      {0x7ffe9ef9, 0x00072564},                         // SDWA src0_sel 7
      {0x7da0d2f9, 0x07011124},                         // SDWA src1_sel 7 of a comparison
      {0x7e04a4ff, 0x85f9441e},                         // v_accvgpr_mov_b32 from a literal
      {0xbeeb2ec1, 0x105264f0},                         // s_cbranch_join on a constant
      {0xd0a1007a, 0x068124f0},                         // 0.5 as a 16-bit integer
      {0xd0d80082, 0x026dff8b},                         // VOP3 with a literal
      {0xd03363ff, 0x21310f74},                         // comparison into register 255
      {0xd28900ff, 0x02010100},                         // v_readlane_b32 into register 255
      {0xd3c40018, 0xaf4838f6},                         // MFMA with a constant matrix
      {0xd3dd000e, 0x03fe70ad},                         // MFMA with a literal
      {0xd3ad0026, 0x51c9e766},                         // f8f6f4 MFMA with a constant matrix
      {0xd3ac1800, 0x08023318, 0xd3ad0900, 0x445218f2}, // and the scaled form
  };
  for (const auto& w : hostile) {
    const Instruction* i = codec->decode(bytes_of(w));
    ASSERT_NE(i, nullptr);
    EXPECT_TRUE(i->is_data()) << hex(w);
    EXPECT_EQ(codec->print(*i), fmt::format(".long {:#010x}", w[0]));
  }
}

TEST(Codec, ShortCode) {
  const auto codec = codec_for("gfx942");
  const uint32_t move_literal[] = {0xbe8000ff, 0x12345678};
  EXPECT_EQ(codec->decode({}), nullptr);
  EXPECT_EQ(codec->decode(bytes_of(move_literal).first(3)), nullptr);
  for (const size_t size : {4, 5, 7})
    EXPECT_TRUE(codec->decode(bytes_of(move_literal).first(size))->is_data());
  EXPECT_EQ(codec->print(*codec->decode(bytes_of(move_literal))), "s_mov_b32 s0, 0x12345678");
}

TEST(Codec, SameWordsSameInstruction) {
  const auto codec = codec_for("gfx942");
  const uint32_t words[] = {0xbe800081, 0xbe800081, 0xbe810081};
  const Instruction* first = codec->decode(bytes_of(words));
  EXPECT_EQ(first, codec->decode(bytes_of(words).subspan(4)));
  EXPECT_NE(first, codec->decode(bytes_of(words).subspan(8)));
  EXPECT_EQ(codec->pool_size(), 2U);
  const auto kept = codec->pool();
  codec->renew_pool();
  EXPECT_EQ(codec->pool_size(), 0U);
  EXPECT_EQ(first->words[0], words[0]); // the old pool still holds it
}

TEST(Codec, SymbolsInPlaceOfAddresses) {
  const auto codec = codec_for("gfx942");
  const uint32_t branch[] = {0xbf82fffe}, add[] = {0x8004ff04, 0x00001234};
  EXPECT_EQ(codec->print(*codec->decode(bytes_of(branch)), "loop"), "s_branch loop");
  EXPECT_EQ(codec->print(*codec->decode(bytes_of(add)), "table@rel32@lo+4"),
            "s_add_u32 s4, s4, table@rel32@lo+4");
}

TEST(Codec, ParsesSymbolUses) {
  const auto codec = codec_for("gfx942");
  const auto lines = codec->parse("start:\n"
                                  "  s_getpc_b64 s[4:5]   ; where we are\n"
                                  "  s_add_u32 s4, s4, table@rel32@lo+4\n"
                                  "  s_addc_u32 s5, s5, table@rel32@hi+12\n"
                                  "  s_add_u32 s6, s4, far@gotpcrel32@lo+4 // GOT\n"
                                  "\n"
                                  "again: last: s_cbranch_scc1 start\n");
  ASSERT_TRUE(lines) << lines.error().describe();
  ASSERT_EQ(lines->size(), 8U);
  EXPECT_EQ((*lines)[0].label, "start");
  EXPECT_EQ((*lines)[2].use, SymbolUse::Rel32Lo);
  EXPECT_EQ((*lines)[2].symbol, "table");
  EXPECT_EQ((*lines)[2].addend, 4);
  EXPECT_EQ((*lines)[3].use, SymbolUse::Rel32Hi);
  EXPECT_EQ((*lines)[3].addend, 12);
  EXPECT_EQ((*lines)[4].use, SymbolUse::GotPcRel32Lo);
  EXPECT_EQ((*lines)[4].line, 5U);
  EXPECT_EQ((*lines)[5].label, "again");
  EXPECT_EQ((*lines)[6].label, "last");
  EXPECT_EQ((*lines)[7].use, SymbolUse::Branch);
  EXPECT_EQ((*lines)[7].symbol, "start");
  EXPECT_EQ((*lines)[7].line, 7U);
}

TEST(Codec, ErrorsSayWhere) {
  const auto codec = codec_for("gfx942");
  struct Case {
    const char* text;
    unsigned line, column;
    const char* message;
  };
  constexpr Case cases[] = {
      {"s_nop 0\n  v_add_f32 v0, v1, v2\n  v_nonsense v0", 3, 3, "invalid instruction"},
      {"s_nop 0\nv_mov_b32 v0, v999", 2, 15, "register"},
      {"a:\ns_nop 0\na:\n", 3, 1, "a"},
      {"s_branch there+4", 1, 10, "expected an absolute expression or a label"},
      {"s_mov_b32 s0, there", 1, 1, "expression"},
      {"s_branch 1.5", 1, 10, "jump offset"},
      {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23]", 1, 1, "not supported"},
  };
  for (const Case& c : cases) {
    const auto lines = codec->parse(c.text);
    ASSERT_FALSE(lines) << c.text;
    EXPECT_EQ(lines.error().line, c.line) << lines.error().describe();
    EXPECT_EQ(lines.error().column, c.column) << lines.error().describe();
    EXPECT_NE(lines.error().message.find(c.message), std::string::npos) << lines.error().describe();
  }
}

} // namespace
} // namespace asmevo::isa
