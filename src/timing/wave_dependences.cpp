#include "timing/wave_dependences.h"

namespace asmevo::timing {

namespace {

// The sparse ones add to their result; their third factor is an index.
const isa::RegRange* accumulator(const isa::Instruction& i) {
  const bool sparse = i.base_mnemonic.starts_with("v_smfmac");
  const isa::Operand* const o = i.find(sparse ? isa::Role::Vdst : isa::Role::Src2);
  return o != nullptr && o->kind == isa::Operand::Kind::Register ? &o->reg : nullptr;
}

} // namespace

void WaveDependences::reset(bool has_matrix) {
  vector = {}, lds = {};
  scalar = matrix_until_ = slow_until_ = 0;
  slow_ = nullptr;
  if (!has_matrix) return;
  if (matrix_ == nullptr) matrix_ = std::make_unique<MatrixResults>();
  *matrix_ = {};
}

void WaveDependences::issued(const TimedOp& op, double at) {
  slow_ = op.kind == TimedOp::Kind::Plain && !op.matrix && op.latency > turn ? &op : nullptr;
  slow_until_ = at + op.latency;
  if (!op.matrix) return;
  for (const isa::RegRange& range : op.instruction->defs) {
    if (!isa::is_vector(range.first)) continue;
    for (isa::RegUnit u = range.first; u < range.first + range.count; ++u) {
      matrix_->ready[u] = at + op.latency;
      matrix_->accumulated[u] = at + op.to_accumulator;
      matrix_->result_of[u] = u == range.first ? range : isa::RegRange{};
    }
  }
  matrix_until_ = std::max(matrix_until_, at + op.latency);
}

void WaveDependences::wait_for_operands(const TimedOp& op, Ready& ready) const {
  if (slow_ != nullptr && slow_until_ > ready.at)
    for (const isa::RegRange& range : slow_->instruction->defs)
      if (op.instruction->reads(range)) ready.not_before(slow_until_, Stall::AluDependency);
  if (matrix_until_ <= ready.at) return;
  const isa::RegRange* const added_to = op.matrix ? accumulator(*op.instruction) : nullptr;
  for (const isa::RegRange& range : op.instruction->uses) {
    if (!isa::is_vector(range.first)) continue;
    const bool exact = added_to != nullptr && range == *added_to && matrix_->result_of[range.first] == range;
    for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
      ready.not_before(exact ? matrix_->accumulated[u] : matrix_->ready[u], Stall::AluDependency);
  }
  // Nor may it overwrite what a matrix instruction is still computing.
  if (op.matrix) return;
  for (const isa::RegRange& range : op.instruction->defs)
    if (isa::is_vector(range.first))
      for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
        ready.not_before(matrix_->ready[u], Stall::AluDependency);
}

void WaveDependences::wait_for_counters(const TimedOp& op, Ready& ready) const {
  switch (op.kind) {
  case TimedOp::Kind::Waitcnt:
    ready.not_before(vector.left(op.most_vector), Stall::Waitcnt);
    ready.not_before(lds.left(op.most_lds), Stall::Waitcnt);
    if (op.most_lds == 0) ready.not_before(scalar, Stall::Waitcnt);
    break;
  case TimedOp::Kind::EndProgram:
    // The hardware waits for all counters before the wave's place is free (ISA manual, S_ENDPGM).
    ready.not_before(std::max({vector.all(), lds.all(), scalar}), Stall::Waitcnt);
    break;
  default:
    if (op.counts_vector) ready.not_before(vector.left(most_vector - 1), Stall::OtherWait);
    break;
  }
}

WaveDependences::Ready WaveDependences::ready(const TimedOp& op, double at) const {
  Ready ready{at, Stall::None};
  wait_for_operands(op, ready);
  wait_for_counters(op, ready);
  return ready;
}

} // namespace asmevo::timing
