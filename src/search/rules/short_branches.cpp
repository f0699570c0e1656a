// No branch over a few vector instructions that do nothing anyway where it is taken.
//
// s_cbranch_execz skips the body of an if where no lane of the wave takes it. A branch costs a wave some 16
// cycles, taken or not, since nothing behind it issues before it is decided; a vector instruction with EXEC =
// 0 costs 4 and does nothing:
//
//     s_and_saveexec_b64 s[4:5], vcc          s_and_saveexec_b64 s[4:5], vcc
//     s_cbranch_execz skip                    v_mul_f32 v1, v1, v2
//     v_mul_f32 v1, v1, v2                    s_or_b64 exec, exec, s[4:5]
//   skip:
//     s_or_b64 exec, exec, s[4:5]
//
// Pattern: s_cbranch_execz forwards over at most four instructions.
// Condition: these are vector arithmetic that writes vector registers of lanes that are on, and nothing else:
// no scalar result (a comparison, v_readfirstlane), no matrix instruction, which takes all lanes.
#include "program/wait_states_placement.h"
#include "search/rules/rule_list.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using isa::Instruction;
using program::Index;

constexpr Index most_skipped = 4;
constexpr double may_win = 0.5; // of the time that is spent at the branch

bool does_nothing_without_lanes(const Instruction& i) {
  if (i.issue == isa::IssueClass::Nop) return true;
  if (i.issue != isa::IssueClass::Valu && i.issue != isa::IssueClass::Transcendental) return false;
  if (!i.reads_exec || i.writes_all_lanes || i.cross_lane || i.vgpr_index_mode || i.side_effects)
    return false;
  return std::ranges::all_of(i.defs, [](const isa::RegRange& d) { return isa::is_vector(d.first); });
}

bool is_needless(const RuleContext& context, Index i) {
  const Instruction& branch = context.code.instruction(i);
  if (!branch.is("s_cbranch_execz")) return false;
  const Index target = context.code.program().branch_target(i);
  if (target == program::no_index || target <= i + 1 || target - i - 1 > most_skipped) return false;
  for (Index k = i + 1; k < target; ++k)
    if (!does_nothing_without_lanes(context.code.instruction(k))) return false;
  return true;
}

// A branch is a wait state, too.
std::string in_its_place(const RuleContext& context, program::WaitStates& states,
                         const std::map<Index, unsigned>& short_before, Index branch) {
  program::WaitStates::Change without;
  without.made = [&](Index i) { return i == branch ? 0U : isa::wait_states(context.code.instruction(i)); };
  unsigned most = 0;
  for (const auto& [i, missing] : states.missing(without)) {
    const auto was = short_before.find(i);
    const unsigned known = was == short_before.end() ? 0 : was->second;
    if (missing > known) most = std::max(most, missing);
  }
  return program::nops(most);
}

} // namespace

std::vector<Proposal> propose_short_branches(const RuleContext& context) {
  std::vector<Proposal> proposals;
  program::WaitStates states(context.code.program(), context.code.cfg());
  const auto short_before = states.missing();
  const program::Function& f = context.code.function();
  for (Index i = f.begin; i < f.padding; ++i) {
    if (!is_needless(context, i)) continue;
    Proposal p;
    p.changes.push_back(replace(context, i, i, in_its_place(context, states, short_before, i)));
    p.rationale = fmt::format("no branch at {} over {} vector instructions", context.code.id(i),
                              context.code.program().branch_target(i) - i - 1);
    p.promise = may_win * context.time_of(i);
    proposals.push_back(std::move(p));
  }
  return proposals;
}

} // namespace asmevo::search
