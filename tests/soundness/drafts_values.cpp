// NaNs hidden: a maximum with minus infinity, or a minimum with infinity, leaves every number as it is and
// makes a number out of a NaN.
#include "mutation/assembly_text.h"
#include "soundness/drafts.h"

namespace asmevo::soundness {

Drafts nan_hidden(const Bench& bench) {
  Drafts list;
  const program::Function& f = bench.function();
  for (program::Index i = f.begin; i < f.padding; ++i) {
    const isa::Instruction& instruction = bench.program().instruction(i);
    if (instruction.issue != isa::IssueClass::Valu) continue;
    const mutation::AssemblyText t = mutation::AssemblyText::parse(bench.text(i));
    const std::string base = t.base();
    if (!base.ends_with("_f32") || base.starts_with("v_cmp") || t.operands.empty() ||
        t.operands[0][0] != 'v' || t.operands[0].starts_with("vcc") || t.operands[0][1] == '[')
      continue;
    for (const auto& [what, text] : {std::pair{"v_max_f32", "v_max_f32_e32 {0}, 0xff800000, {0}"},
                                     {"v_min_f32", "v_min_f32_e32 {0}, 0x7f800000, {0}"}})
      list.push_back(
          {.text = fmt::format("{} behind {}", what, place_text(bench, i)),
           .changes = {inserted(bench.id(i + 1), fmt::format(fmt::runtime(text), t.operands[0]))}});
  }
  return list;
}

} // namespace asmevo::soundness
