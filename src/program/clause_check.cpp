#include "program/clause_check.h"

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::RegRange;

enum class Kind : uint8_t { None, Scalar, Vector };

Kind kind_of(const Instruction& i) {
  switch (i.issue) {
  case isa::IssueClass::Smem: return Kind::Scalar;
  case isa::IssueClass::Vmem:
  case isa::IssueClass::Flat: return Kind::Vector;
  default: return Kind::None;
  }
}

// What `writer` writes and `reader` reads.
RegRange shared(const Instruction& writer, const Instruction& reader) {
  for (const RegRange& d : writer.defs)
    if (reader.reads(d)) return d;
  return {};
}

// The last instruction of the run [first, at] conflicts with the one at `other`, in either direction.
void report(const Program& program, Index other, Index at, FindingList& findings) {
  const Instruction &a = program.instruction(other), &b = program.instruction(at);
  const RegRange registers = shared(a, b).count != 0 ? shared(a, b) : shared(b, a);
  if (registers.count == 0) return;
  Finding finding;
  finding.kind = FindingKind::MissingWaitStates;
  finding.rule = "xnack-clause";
  finding.producer = other;
  finding.consumer = at;
  finding.missing = "an instruction in between (s_nop 0)";
  findings.add(std::move(finding), registers);
}

// A run longer than this is not looked at as a whole; LLVM looks back no further either.
constexpr Index longest_run = 5;

// Instructions of one kind up to and with `at`.
Index run_start(const Program& program, const Block& block, Index at) {
  Index first = at;
  while (first > block.begin && at - first < longest_run &&
         kind_of(program.instruction(first - 1)) == kind_of(program.instruction(at)))
    --first;
  return first;
}

} // namespace

void check_clauses(const Program& program, const Cfg& cfg, FindingList& findings) {
  if (program.target.xnack != isa::Feature::On) return;
  for (const Block& block : cfg.blocks()) {
    if (!block.reachable) continue;
    for (Index i = block.begin; i < block.end; ++i) {
      if (kind_of(program.instruction(i)) == Kind::None) continue;
      const Index first = run_start(program, block, i);
      bool loads = false; // stores alone are replayed without harm
      for (Index other = first; other < i; ++other) loads = loads || !program.instruction(other).defs.empty();
      if (loads)
        for (Index other = first; other <= i; ++other) report(program, other, i, findings);
    }
  }
}

} // namespace asmevo::program
