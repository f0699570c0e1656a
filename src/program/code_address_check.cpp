#include "program/code_address_check.h"

namespace asmevo::program {

namespace {

bool adds_to(const isa::Instruction& i, isa::RegUnit half, std::string_view add, std::string_view subtract) {
  return (i.is(add) || i.is(subtract)) && i.reads({half, 1});
}

// The addition that loses its carry; none where all is well.
Index lost_carry(const Program& program, const Block& block, Index getpc) {
  const isa::Operand* pair = program.instruction(getpc).find(isa::Role::Sdst);
  if (pair == nullptr || pair->kind != isa::Operand::Kind::Register) return no_index;
  const isa::RegUnit low = pair->reg.first, high = static_cast<isa::RegUnit>(low + 1);
  Index open = no_index;
  bool low_is_address = true;
  for (Index at = getpc + 1; at < block.end; ++at) {
    const isa::Instruction& i = program.instruction(at);
    if (open != no_index) {
      if (adds_to(i, high, "s_addc_u32", "s_subb_u32"))
        open = no_index;
      else if (i.writes({isa::unit::scc, 1}))
        return open;
    } else if (low_is_address && adds_to(i, low, "s_add_u32", "s_sub_u32")) {
      open = at;
      continue;
    }
    if (i.writes({low, 1})) low_is_address = false;
    if (!low_is_address && open == no_index) break;
  }
  return open;
}

} // namespace

void check_code_addresses(const Program& program, const Cfg& cfg, FindingList& findings) {
  for (const Block& block : cfg.blocks())
    for (Index at = block.begin; at < block.end; ++at) {
      if (!program.instruction(at).is("s_getpc_b64")) continue;
      const Index add = lost_carry(program, block, at);
      if (add == no_index) continue;
      Finding finding;
      finding.kind = FindingKind::Address;
      finding.rule = "code-address-carry";
      finding.producer = at;
      finding.consumer = add;
      finding.possible = true;
      finding.missing = "s_addc_u32";
      findings.add(std::move(finding));
    }
}

} // namespace asmevo::program
