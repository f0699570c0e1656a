// The fields that encoding.cpp reads out of the words, against the modifiers in LLVM's text of the same
// words.
#include "isa/codec.h"
#include "isa/encoding.h"
#include "isa/random_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <regex>
#include <set>

namespace asmevo::isa {
namespace {

// An assembly line taken apart: operands in order, modifiers by name.
class Text {
 public:
  explicit Text(const std::string& text) {
    const size_t space = std::min(text.find(' '), text.size());
    mnemonic = text.substr(0, space);
    std::string rest = text.substr(space);
    // Modifiers start at the first word that is one.
    static const std::regex first_modifier(
        R"( (op_sel|op_sel_hi|neg|neg_lo|neg_hi|cbsz|abid|blgp|bitop3|mul|div|quad_perm|row_\w+|wave_\w+|bank_mask|bound_ctrl|dst_sel|dst_unused|src[01]_sel|offset|offset0|offset1|format)(?=:)| (clamp|row_mirror|row_half_mirror|glc|slc|scc|sc0|sc1|nt|lds|offen|idxen|gds|tfe)(?= |$))");
    std::smatch found;
    if (std::regex_search(rest, found, first_modifier)) {
      modifiers = rest.substr(static_cast<size_t>(found.position(0)));
      rest.resize(static_cast<size_t>(found.position(0)));
    }
    int depth = 0;
    std::string operand;
    for (const char c : rest + ",") {
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        if (!operand.empty()) operands.push_back(operand);
        operand.clear();
      } else if (c != ' ') {
        operand += c;
      }
    }
  }

  bool has(const std::string& word) const {
    return std::regex_search(modifiers, std::regex(" " + word + "(?= |$)"));
  }
  std::optional<int64_t> number(const std::string& name) const {
    std::smatch m;
    if (!std::regex_search(modifiers, m, std::regex(" " + name + ":(-?(0x)?[0-9a-f]+)"))) return std::nullopt;
    return std::stoll(m[1].str(), nullptr, 0);
  }
  std::string word(const std::string& name) const {
    std::smatch m;
    return std::regex_search(modifiers, m, std::regex(" " + name + ":(\\w+)")) ? m[1].str() : "";
  }
  // "op_sel:[0,1,1]" as bits, first element lowest.
  std::optional<std::vector<unsigned>> list(const std::string& name) const {
    std::smatch m;
    if (!std::regex_search(modifiers, m, std::regex(" " + name + ":\\[([0-9,]+)\\]"))) return std::nullopt;
    std::vector<unsigned> values;
    for (const char c : m[1].str())
      if (c != ',') values.push_back(static_cast<unsigned>(c - '0'));
    return values;
  }
  unsigned mask(const std::string& name, unsigned count, unsigned otherwise = 0) const {
    const auto values = list(name);
    if (!values) return otherwise;
    unsigned bits = 0;
    for (unsigned k = 0; k < values->size() && k < count; ++k) bits |= (*values)[k] << k;
    return bits;
  }

  std::string mnemonic, modifiers;
  std::vector<std::string> operands;
};

struct SourceMarks {
  unsigned neg = 0, abs = 0, sext = 0;
};

SourceMarks marks_of(const std::vector<std::string>& sources) {
  static const std::regex negated(R"(^-(\||[vsa][0-9\[]|ttmp|vcc|exec|m0|src_|flat|xnack|null)|^neg\()");
  SourceMarks marks;
  for (unsigned k = 0; k < sources.size(); ++k) {
    if (std::regex_search(sources[k], negated)) marks.neg |= 1U << k;
    if (sources[k].find('|') != std::string::npos) marks.abs |= 1U << k;
    if (sources[k].find("sext(") != std::string::npos) marks.sext |= 1U << k;
  }
  return marks;
}

unsigned index_of(std::initializer_list<std::string_view> names, std::string_view name, unsigned otherwise) {
  unsigned k = 0;
  for (const std::string_view n : names) {
    if (n == name) return k;
    ++k;
  }
  return otherwise;
}

unsigned dpp_control(const Text& t) {
  if (const auto q = t.list("quad_perm")) return (*q)[0] | (*q)[1] << 2 | (*q)[2] << 4 | (*q)[3] << 6;
  for (const auto& [name, base] :
       {std::pair{"row_shl", 0x100U}, {"row_shr", 0x110U}, {"row_ror", 0x120U}, {"row_newbcast", 0x150U}})
    if (const auto n = t.number(name)) return base + static_cast<unsigned>(*n);
  for (const auto& [name, control] :
       {std::pair{"wave_shl", 0x130U}, {"wave_rol", 0x134U}, {"wave_shr", 0x138U}, {"wave_ror", 0x13cU}})
    if (t.number(name)) return control;
  if (const auto n = t.number("row_bcast")) return *n == 15 ? 0x142 : 0x143;
  return t.has("row_mirror") ? 0x140 : t.has("row_half_mirror") ? 0x141 : 0xffff;
}

class FieldsOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { codec_ = *Codec::create(*Target::from_id(GetParam())); }

  /// Calls check(instruction, text) for random instructions of the families without dead bits.
  template <class F>
  size_t each(const std::set<Family>& families, uint64_t seed, F check) {
    size_t count = 0;
    for (const auto& w : test::random_words(seed, 16)) {
      if (!families.contains(family_of(w[0]))) continue;
      const Instruction* i = codec_->decode({reinterpret_cast<const uint8_t*>(w.data()), sizeof(w)});
      if (i->is_data() || i->has_dead_bits()) continue;
      ++count;
      const std::string text = codec_->print(*i);
      SCOPED_TRACE(fmt::format("{} [{:08x} {:08x}]", text, w[0], w[1]));
      check(*i, Text(text));
    }
    return count;
  }

  std::unique_ptr<Codec> codec_;
};
INSTANTIATE_TEST_SUITE_P(Targets, FieldsOn, testing::Values("gfx90a", "gfx942", "gfx950"),
                         [](const auto& i) { return std::string(i.param); });

std::vector<std::string> sources_of(const Instruction& i, const Text& t) {
  size_t results = 0;
  for (const Operand& o : i.operands) results += o.is_def ? 1 : 0;
  if (i.extension == Extension::Sdwa && t.operands.size() > 1 && t.operands[1] == "vcc")
    ++results; // the carry
  return {t.operands.begin() + static_cast<ptrdiff_t>(std::min(results, t.operands.size())),
          t.operands.end()};
}

// Integer operations have modifier fields that LLVM keeps without printing them.
bool hides_modifiers(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  for (const std::string_view part : {"ldexp", "dot", "_pk_", "cvt_sr", "cvt_scalef32", "ashr_pk"})
    if (m.find(part) != std::string_view::npos) return true;
  return false;
}

TEST_P(FieldsOn, OutputModifiers) {
  const auto count = each(
      {Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3}, 31, [](const Instruction& i, const Text& t) {
        EXPECT_EQ(i.mods.clamp, t.has("clamp"));
        const int64_t multiply = t.number("mul").value_or(1);
        EXPECT_EQ(i.mods.omod, t.number("div") ? 3 : multiply == 2 ? 1 : multiply == 4 ? 2 : 0);
      });
  EXPECT_GT(count, 3000U);
}

TEST_P(FieldsOn, SourceModifiers) {
  size_t negated = 0, absolute = 0, extended = 0;
  each({Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3}, 32,
       [&](const Instruction& i, const Text& t) {
         const bool encoded =
             i.family == Family::Vop3 || i.extension == Extension::Sdwa || i.extension == Extension::Dpp;
         if (!encoded || hides_modifiers(i)) return;
         const SourceMarks marks = marks_of(sources_of(i, t));
         EXPECT_EQ(i.mods.neg, marks.neg);
         EXPECT_EQ(i.mods.abs, marks.abs);
         EXPECT_EQ(i.mods.sext, marks.sext);
         negated += marks.neg != 0, absolute += marks.abs != 0, extended += marks.sext != 0;
       });
  EXPECT_GT(negated, 100U);
  EXPECT_GT(absolute, 100U);
  EXPECT_GT(extended, 20U);
}

TEST_P(FieldsOn, OpSel) {
  size_t seen = 0;
  each({Family::Vop3, Family::Vop3p}, 33, [&](const Instruction& i, const Text& t) {
    const auto list = t.list("op_sel");
    const auto count = static_cast<unsigned>(sources_of(i, t).size());
    if (i.matrix != MatrixKind::None || i.base_mnemonic.starts_with("v_accvgpr")) return;
    seen += list.has_value();
    if (i.family == Family::Vop3) {
      // One bit a source and one for the destination, which is bit 3 of the field.
      unsigned expected = 0;
      for (unsigned k = 0; list && k < list->size(); ++k)
        expected |= (*list)[k] << (k + 1 == list->size() && k > 0 && k >= count ? 3 : k);
      EXPECT_EQ(i.mods.op_sel, i.is("v_bitop3_b16") ? i.mods.op_sel : expected); // its op_sel is not printed
      return;
    }
    const bool mixed = i.base_mnemonic.find("mix") != std::string_view::npos;
    const unsigned all = (1U << count) - 1;
    EXPECT_EQ(i.mods.op_sel, t.mask("op_sel", 3));
    EXPECT_EQ(i.mods.op_sel_hi & all, t.mask("op_sel_hi", 3, mixed ? 0 : all));
    if (mixed) return; // neg_hi is abs there
    EXPECT_EQ(i.mods.neg, t.mask("neg_lo", 3));
    EXPECT_EQ(i.mods.neg_hi, t.mask("neg_hi", 3));
    EXPECT_EQ(i.mods.clamp, t.has("clamp"));
  });
  EXPECT_GT(seen, 50U);
}

TEST_P(FieldsOn, Matrix) {
  std::map<std::string, size_t> seen;
  each({Family::Vop3p}, 34, [&](const Instruction& i, const Text& t) {
    if (i.matrix == MatrixKind::None) return;
    const auto number = [&](const char* name) { return static_cast<unsigned>(t.number(name).value_or(0)); };
    EXPECT_EQ(i.mods.cbsz, number("cbsz"));
    EXPECT_EQ(i.mods.abid, number("abid"));
    EXPECT_EQ(i.mods.blgp, t.list("neg") ? t.mask("neg", 3) : number("blgp"));
    if (i.dwords == 4) {
      EXPECT_EQ(i.mods.op_sel, t.mask("op_sel", 2));
      EXPECT_EQ(i.mods.op_sel_hi, t.mask("op_sel_hi", 2));
    }
    for (const char* name : {"cbsz", "abid", "blgp"}) seen[name] += number(name) != 0;
    seen["scaled"] += i.dwords == 4;
  });
  for (const char* name : {"cbsz", "abid", "blgp"}) EXPECT_GT(seen[name], 3U) << name;
  EXPECT_EQ(seen["scaled"] > 0, std::string_view(GetParam()) == "gfx950");
}

TEST_P(FieldsOn, Dpp) {
  size_t count = 0;
  each({Family::Vop1, Family::Vop2}, 35, [&](const Instruction& i, const Text& t) {
    if (i.extension != Extension::Dpp) return;
    ++count;
    EXPECT_EQ(i.mods.dpp_ctrl, dpp_control(t));
    EXPECT_EQ(i.mods.row_mask, t.number("row_mask").value_or(15));
    EXPECT_EQ(i.mods.bank_mask, t.number("bank_mask").value_or(15));
    EXPECT_EQ(i.mods.bound_ctrl, t.number("bound_ctrl").has_value());
  });
  EXPECT_GT(count, 100U);
}

TEST_P(FieldsOn, Sdwa) {
  size_t count = 0;
  each({Family::Vop1, Family::Vop2, Family::Vopc}, 36, [&](const Instruction& i, const Text& t) {
    if (i.extension != Extension::Sdwa) return;
    ++count;
    const auto select = [&](const char* name, unsigned otherwise) {
      return index_of({"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"}, t.word(name),
                      otherwise);
    };
    EXPECT_EQ(i.mods.src0_sel, select("src0_sel", i.mods.src0_sel));
    EXPECT_EQ(i.mods.src1_sel, select("src1_sel", i.mods.src1_sel));
    EXPECT_EQ(i.mods.dst_sel, select("dst_sel", i.mods.dst_sel));
    EXPECT_EQ(i.mods.dst_unused, index_of({"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"},
                                          t.word("dst_unused"), i.mods.dst_unused));
    EXPECT_FALSE(i.family == Family::Vopc &&
                 (i.mods.dst_sel | i.mods.dst_unused | i.mods.omod) != 0); // an SGPR is there
  });
  EXPECT_GT(count, 100U);
}

TEST_P(FieldsOn, Memory) {
  const bool mi200 = std::string_view(GetParam()) == "gfx90a";
  std::map<std::string, size_t> seen;
  each({Family::Ds, Family::Flat, Family::Mubuf, Family::Mtbuf}, 37,
       [&](const Instruction& i, const Text& t) {
         if (i.base_mnemonic == "ds_swizzle_b32" || i.base_mnemonic.starts_with("buffer_wb") ||
             i.base_mnemonic.starts_with("buffer_inv"))
           return;
         const int64_t offset = t.number("offset").value_or(t.number("offset0").value_or(0) |
                                                            t.number("offset1").value_or(0) << 8);
         EXPECT_EQ(i.mods.offset, offset);
         const auto flag = [&](const char* name, bool value) {
           EXPECT_EQ(value, t.has(name)) << name;
           seen[name] += value;
         };
         if (i.family == Family::Ds) {
           if (i.base_mnemonic.find("gws") == std::string_view::npos) flag("gds", i.mods.gds);
           return;
         }
         flag(mi200 ? "glc" : "sc0", i.mods.sc0);
         flag(mi200 ? "slc" : "nt", i.mods.nt);
         flag(mi200 ? "scc" : "sc1", i.mods.sc1);
         if (i.family == Family::Flat) {
           if (mi200) flag("lds", i.mods.lds);
           seen["negative"] += offset < 0;
           return;
         }
         flag("lds", i.mods.lds);
         flag("offen", i.mods.offen);
         flag("idxen", i.mods.idxen);
         EXPECT_FALSE(i.mods.tfe) << "no target has it";
       });
  for (const char* name : {"lds", "offen", "idxen", "negative"}) EXPECT_GT(seen[name], 0U) << name;
  for (const char* name : mi200 ? std::array{"glc", "slc", "scc"} : std::array{"sc0", "nt", "sc1"})
    EXPECT_GT(seen[name], 100U);
}

TEST_P(FieldsOn, TypedBufferFormats) {
  constexpr std::array data_formats = {"INVALID",     "8",          "16",          "8_8",
                                       "32",          "16_16",      "10_11_11",    "11_11_10",
                                       "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                       "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
  constexpr std::array number_formats = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                         "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  size_t spelled = 0;
  each({Family::Mtbuf}, 38, [&](const Instruction& i, const Text& t) {
    std::string data = "8", number = "UNORM"; // what goes without saying
    std::smatch m;
    if (std::regex_search(t.modifiers, m, std::regex("BUF_DATA_FORMAT_(\\w+)"))) data = m[1];
    if (std::regex_search(t.modifiers, m, std::regex("BUF_NUM_FORMAT_(\\w+)"))) number = m[1];
    EXPECT_EQ(data_formats[i.mods.format & 15], data);
    EXPECT_EQ(number_formats[i.mods.format >> 4], number);
    spelled += t.modifiers.find("FORMAT") != std::string::npos;
  });
  EXPECT_GT(spelled, 100U);
}

TEST_P(FieldsOn, ScalarMemory) {
  size_t immediate = 0, both = 0;
  each({Family::Smem}, 39, [&](const Instruction& i, const Text& t) {
    if (i.base_mnemonic.find("atc_probe") != std::string_view::npos || t.operands.size() < 2) return;
    EXPECT_EQ(i.mods.sc0, t.has("glc") || t.operands.back().ends_with("glc"));
    int64_t offset = t.number("offset").value_or(0);
    if (const char* last = t.operands.back().c_str(); std::isdigit(*last) != 0 || *last == '-')
      offset = std::strtoll(last, nullptr, 0);
    EXPECT_EQ(i.mods.offset, offset);
    immediate += offset != 0, both += t.number("offset").has_value();
  });
  EXPECT_GT(immediate, 20U);
  EXPECT_GT(both, 0U);
}

// Bits of v_bitop3's truth table stand where other instructions have neg, abs and omod.
TEST(Encoding, Bitop3) {
  const auto codec = *Codec::create(*Target::from_id("gfx950"));
  for (unsigned table = 0; table < 256; ++table) {
    const auto lines = codec->parse(fmt::format("v_bitop3_b32 v0, v1, v2, v3 bitop3:{:#x}", table));
    ASSERT_TRUE(lines) << lines.error().describe();
    const Modifiers& m = (*lines)[0].instruction->mods;
    EXPECT_EQ(m.bitop3, table);
    EXPECT_EQ(m.neg | m.abs | m.omod, 0);
  }
}

TEST(Encoding, FamiliesOfTheManual) {
  // CDNA3 ISA, chapter 13: one word each.
  EXPECT_EQ(family_of(0x80000000), Family::Sop2);
  EXPECT_EQ(family_of(0xb0000000), Family::Sopk);
  EXPECT_EQ(family_of(0xbe800000), Family::Sop1);
  EXPECT_EQ(family_of(0xbf000000), Family::Sopc);
  EXPECT_EQ(family_of(0xbf800000), Family::Sopp);
  EXPECT_EQ(family_of(0xc0000000), Family::Smem);
  EXPECT_EQ(family_of(0x02000000), Family::Vop2);
  EXPECT_EQ(family_of(0x7e000000), Family::Vop1);
  EXPECT_EQ(family_of(0x7c000000), Family::Vopc);
  EXPECT_EQ(family_of(0xd0000000), Family::Vop3);
  EXPECT_EQ(family_of(0xd3800000), Family::Vop3p);
  EXPECT_EQ(family_of(0xd4000000), Family::Vintrp);
  EXPECT_EQ(family_of(0xd8000000), Family::Ds);
  EXPECT_EQ(family_of(0xdc000000), Family::Flat);
  EXPECT_EQ(family_of(0xe0000000), Family::Mubuf);
  EXPECT_EQ(family_of(0xe8000000), Family::Mtbuf);
  EXPECT_EQ(family_of(0xf0000000), Family::Mimg);
  EXPECT_EQ(family_of(0xc4000000), Family::Exp);
}

} // namespace
} // namespace asmevo::isa
