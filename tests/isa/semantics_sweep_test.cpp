// What the codec says of instructions, over all opcodes, against LLVM's text and register classes of the same
// words.
#include "isa/codec.h"
#include "isa/random_words.h"
#include "isa/register_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

namespace asmevo::isa {
namespace {

using test::names;

class SemanticsOn : public testing::TestWithParam<const char*> {
 protected:
  template <class F>
  size_t each(uint64_t seed, F check, unsigned fillings = 16, std::string_view only = {}) {
    const auto codec = *Codec::create(*Target::from_id(GetParam()));
    size_t count = 0;
    for (const auto& w : test::random_words(seed, fillings, only)) {
      const Instruction* i = codec->decode({reinterpret_cast<const uint8_t*>(w.data()), sizeof(w)});
      if (i->is_data()) continue;
      ++count;
      const std::string text = codec->print(*i);
      SCOPED_TRACE(fmt::format("{} [{:08x} {:08x}]", text, w[0], w[1]));
      check(*i, text);
    }
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, SemanticsOn, testing::Values("gfx90a", "gfx942", "gfx950"),
                         [](const auto& i) { return std::string(i.param); });

std::set<std::string> registers_in(std::string text) {
  static const std::regex reg(
      R"(\b(?:v|s|a|ttmp)(?:\d+|\[\d+:\d+\])|\b(?:vcc|exec|flat_scratch|xnack_mask)(?:_lo|_hi)?\b|\bm0\b|\bsrc_(?:scc|vccz|execz)\b)");
  text.erase(0, text.find(' '));
  std::set<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), reg), end; at != end; ++at) {
    const std::string name = at->str();
    all.insert(name == "src_scc" ? "scc" : name == "src_vccz" ? "vcc" : name == "src_execz" ? "exec" : name);
  }
  return all;
}

TEST_P(SemanticsOn, TextAndSetsNameTheSameRegisters) {
  const size_t count = each(41, [](const Instruction& i, const std::string& text) {
    if (i.family == Family::Mimg) return; // its flag a16 looks like a register
    const std::set<std::string> printed = registers_in(text);
    std::set<std::string> known = names(i.defs), operands;
    known.merge(names(i.uses));
    for (const std::string& r : printed) EXPECT_TRUE(known.contains(r)) << r << " is in the text only";
    for (const Operand& o : i.operands)
      if (o.kind == Operand::Kind::Register && o.reg.count != 0) {
        EXPECT_TRUE(printed.contains(name(o.reg))) << name(o.reg) << " is an operand only";
        EXPECT_TRUE(o.is_def ? i.writes(o.reg) : i.reads(o.reg));
      }
    // What is not in the text is machine state, or all SGPRs of s_movrel.
    for (const auto& set : {i.defs, i.uses})
      for (const RegRange& r : set)
        EXPECT_TRUE(printed.contains(name(r)) ||
                    !(is_vector(r.first) || (is_sgpr(r.first) && r.count != 102)))
            << name(r);
  });
  EXPECT_GT(count, 9000U);
}

TEST_P(SemanticsOn, AccessWidthsFitTheRegisters) {
  std::set<std::string_view> seen;
  each(42, [&](const Instruction& i, const std::string&) {
    const MemoryAccess& a = i.memory;
    const bool discards =
        i.defs.empty() && !i.operands.empty() && i.operands[0].is_def; // s_load_dword null, ...
    if (a.bytes == 0 || a.lds_dma || discards) return;
    const Operand* data = i.find(Role::Vdst);
    for (const Role role : {Role::Vdata, Role::Sdata})
      if (data == nullptr) data = i.find(role);
    ASSERT_NE(data, nullptr);
    seen.insert(i.base_mnemonic);
    unsigned registers = (a.bytes + 3U) / 4;
    const bool exchanges = i.base_mnemonic.find("cmpswap") != std::string_view::npos &&
                           !(data->is_def && data->role == Role::Vdst && i.family == Family::Flat);
    if (exchanges) registers *= 2; // the new value and the one to compare with
    // Two separate registers of LDS writes.
    if (i.find(Role::Vdata1) != nullptr && !data->is_def && a.store && !a.atomic) registers /= 2;
    EXPECT_EQ(data->reg.count, registers);
    EXPECT_EQ(a.returns, !i.defs.empty());
    EXPECT_TRUE(a.load || a.store);
  });
  EXPECT_GT(seen.size(), 300U);
}

TEST_P(SemanticsOn, MatrixInstructions) {
  std::set<std::string_view> seen;
  const auto check = [&](const Instruction& i, const std::string&) {
    const bool is_matrix = i.base_mnemonic.starts_with("v_mfma") || i.base_mnemonic.starts_with("v_smfmac");
    EXPECT_EQ(i.matrix != MatrixKind::None, is_matrix);
    if (!is_matrix) return;
    seen.insert(i.base_mnemonic);
    EXPECT_TRUE(i.matrix_passes == 2 || i.matrix_passes == 4 || i.matrix_passes == 8 || i.matrix_passes == 16)
        << int{i.matrix_passes};
    EXPECT_EQ(i.issue, IssueClass::Mfma);
    EXPECT_FALSE(i.reads({unit::exec, 2}));
  };
  each(43, check, 400, "VOP3P");
  // gfx90a: 5 each of f32, f16, bf16, bf16_1k and i8, 2 of f64; the others as in the lists of AMD's ISA
  // manuals.
  const std::string_view target = GetParam();
  EXPECT_EQ(seen.size(), target == "gfx90a" ? 27U : target == "gfx942" ? 46U : 68U);
}

} // namespace
} // namespace asmevo::isa
