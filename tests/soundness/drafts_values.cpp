// NaNs hidden: a maximum with minus infinity, or a minimum with infinity, leaves every number as it is and
// makes a number out of a NaN. In what is worked out, and in what is stored.
#include "mutation/assembly_text.h"
#include "soundness/drafts.h"

#include <charconv>

namespace asmevo::soundness {

namespace {

using mutation::AssemblyText;
using program::Index;

// First and last of "v[4:7]" or "v4".
std::optional<std::pair<unsigned, unsigned>> vgprs(const std::string& operand) {
  const bool range = operand.starts_with("v[");
  if (operand.size() < 2 || operand[0] != 'v' || operand.starts_with("vcc")) return std::nullopt;
  unsigned first = 0, last = 0;
  const char* const end = operand.data() + operand.size();
  auto parsed = std::from_chars(operand.data() + (range ? 2 : 1), end, first);
  if (parsed.ec != std::errc{}) return std::nullopt;
  last = first;
  if (range && parsed.ptr != end) parsed = std::from_chars(parsed.ptr + 1, end, last);
  return std::pair(first, last);
}

void behind_arithmetic(const Bench& bench, Index i, Drafts& list) {
  const AssemblyText t = AssemblyText::parse(bench.text(i));
  const std::string base = t.base();
  if (!base.ends_with("_f32") || base.starts_with("v_cmp") || t.operands.empty()) return;
  const auto result = vgprs(t.operands[0]);
  if (!result || result->first != result->second) return;
  for (const auto& [what, text] : {std::pair{"v_max_f32", "v_max_f32_e32 v{0}, 0xff800000, v{0}"},
                                   {"v_min_f32", "v_min_f32_e32 v{0}, 0x7f800000, v{0}"}})
    list.push_back({.text = fmt::format("{} behind {}", what, place_text(bench, i)),
                    .changes = {inserted(bench.id(i + 1), fmt::format(fmt::runtime(text), result->first))}});
}

void in_front_of_store(const Bench& bench, Index i, Drafts& list) {
  for (const isa::Operand& o : bench.program().instruction(i).operands) {
    if (o.role != isa::Role::Vdata || o.kind != isa::Operand::Kind::Register) continue;
    for (const auto& [what, minimum, text] :
         {std::tuple{"v_max_f32", "", "v_max_f32_e32 v{0}, 0xff800000, v{0}\n"},
          {"v_min_f32", "", "v_min_f32_e32 v{0}, 0x7f800000, v{0}\n"},
          {"v_pk_max_f16", "s_mov_b32 s92, 0xfc00fc00\n", "v_pk_max_f16 v{0}, v{0}, s92\n"},
          {"v_pk_min_f16", "s_mov_b32 s92, 0x7c007c00\n", "v_pk_min_f16 v{0}, v{0}, s92\n"}}) {
      std::string all = minimum;
      for (unsigned n = 0; n < o.reg.count; ++n) all += fmt::format(fmt::runtime(text), o.reg.first + n);
      list.push_back({.text = fmt::format("{} in front of {}", what, place_text(bench, i)),
                      .changes = {inserted(bench.id(i), all)}});
    }
  }
}

} // namespace

Drafts nan_hidden(const Bench& bench) {
  Drafts list;
  const program::Function& f = bench.function();
  for (Index i = f.begin; i < f.padding; ++i)
    if (bench.program().instruction(i).issue == isa::IssueClass::Valu) behind_arithmetic(bench, i, list);
  for (const Index i : stores_of(bench)) in_front_of_store(bench, i, list);
  return list;
}

} // namespace asmevo::soundness
