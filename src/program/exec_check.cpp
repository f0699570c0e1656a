#include "program/exec_check.h"

#include "program/exec_change.h"

namespace asmevo::program {

void check_exec(const Program& program, const Function&, const Cfg& cfg, FindingList& findings) {
  for (const Block& block : cfg.blocks()) {
    if (!block.reachable) continue;
    Index cleared = no_index;
    for (Index i = block.begin; i < block.end; ++i) {
      const isa::Instruction& instruction = program.instruction(i);
      const bool wasted = instruction.reads_exec && (!instruction.defs.empty() || instruction.memory.store);
      if (cleared != no_index && wasted) {
        Finding finding;
        finding.kind = FindingKind::Exec;
        finding.rule = "exec-zero";
        finding.producer = cleared;
        finding.consumer = i;
        findings.add(std::move(finding), {isa::unit::exec, 2});
      }
      if (const ExecChange change = exec_change(instruction); change != ExecChange::None)
        cleared = change == ExecChange::Clear ? i : no_index;
    }
  }
}

} // namespace asmevo::program
