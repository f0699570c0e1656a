#include "timing/wave_progress.h"

#include <algorithm>

namespace asmevo::timing {

namespace {

constexpr double turn = 4;

// The sparse ones add to their result; their third factor is an index.
const isa::RegRange* accumulator(const isa::Instruction& i) {
  const bool sparse = i.base_mnemonic.starts_with("v_smfmac");
  const isa::Operand* const o = i.find(sparse ? isa::Role::Vdst : isa::Role::Src2);
  return o != nullptr && o->kind == isa::Operand::Kind::Register ? &o->reg : nullptr;
}

} // namespace

void WaveProgress::start(const WaveTrace& trace, const TimedCode& code, double at) {
  std::unique_ptr<MatrixResults> matrix = std::move(matrix_);
  *this = WaveProgress();
  trace_ = &trace;
  code_ = &code;
  if (code.has_matrix()) {
    matrix_ = std::move(matrix);
    if (matrix_ == nullptr) matrix_ = std::make_unique<MatrixResults>();
    *matrix_ = {};
  }
  since = ready = at;
  if (!at_end()) id_ = code.id_of(trace.steps[0].op);
}

std::span<const TracedAccess> WaveProgress::accesses() const {
  const uint32_t first = step_ == 0 ? 0 : trace_->steps[step_ - 1].accesses_end;
  return {trace_->accesses.data() + first, trace_->steps[step_].accesses_end - first};
}

bool WaveProgress::jumps() const {
  if (step_ + 1 >= trace_->steps.size()) return false;
  return trace_->steps[step_ + 1].op != trace_->steps[step_].op + op().dwords;
}

void WaveProgress::note_results(const TimedOp& op, double at) {
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

void WaveProgress::wait_for_operands() {
  const TimedOp& now = op();
  if (slow_ != nullptr && slow_until_ > ready)
    for (const isa::RegRange& range : slow_->instruction->defs)
      if (now.instruction->reads(range)) not_before(slow_until_, Stall::AluDependency);
  if (matrix_until_ <= ready) return;
  const isa::RegRange* const added_to = now.matrix ? accumulator(*now.instruction) : nullptr;
  double at = 0;
  for (const isa::RegRange& range : now.instruction->uses) {
    if (!isa::is_vector(range.first)) continue;
    const bool exact = added_to != nullptr && range == *added_to && matrix_->result_of[range.first] == range;
    for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
      at = std::max(at, exact ? matrix_->accumulated[u] : matrix_->ready[u]);
  }
  // Nor may it overwrite what a matrix instruction is still computing.
  if (!now.matrix)
    for (const isa::RegRange& range : now.instruction->defs)
      if (isa::is_vector(range.first))
        for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
          at = std::max(at, matrix_->ready[u]);
  not_before(at, Stall::AluDependency);
}

void WaveProgress::wait_for_counters() {
  const TimedOp& now = op();
  if (now.kind == TimedOp::Kind::Waitcnt) {
    not_before(vector.left(now.most_vector), Stall::Waitcnt);
    not_before(lds.left(now.most_lds), Stall::Waitcnt);
    if (now.most_lds == 0) not_before(scalar, Stall::Waitcnt);
  } else if (now.kind == TimedOp::Kind::EndProgram) {
    // The hardware waits for all counters before the wave's place is free (ISA manual, S_ENDPGM).
    not_before(std::max({vector.all(), lds.all(), scalar}), Stall::Waitcnt);
  } else if (now.counts_vector) {
    not_before(vector.left(WaitQueue::most - 1), Stall::OtherWait);
  }
}

void WaveProgress::issued(double at, double next) {
  note_results(op(), at);
  ++step_;
  since = ready = next;
  reason = Stall::None;
  if (at_end()) return;
  id_ = code_->id_of(trace_->steps[step_].op);
  wait_for_operands();
  wait_for_counters();
}

} // namespace asmevo::timing
