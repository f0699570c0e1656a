#include "timing/wave_progress.h"

namespace asmevo::timing {

void WaveProgress::start(const WaveTrace& trace, const TimedCode& code, double at) {
  trace_ = &trace;
  code_ = &code;
  step_ = 0;
  since = ready = at;
  reason = Stall::None;
  priority = 0;
  code_line = ~uint64_t{0};
  dependences.reset(code.has_matrix());
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

void WaveProgress::issued(double at, double next) {
  dependences.issued(op(), at);
  ++step_;
  since = ready = next;
  reason = Stall::None;
  if (at_end()) return;
  id_ = code_->id_of(trace_->steps[step_].op);
  const WaveDependences::Ready next_ready = dependences.ready(op(), ready);
  ready = next_ready.at, reason = next_ready.reason;
}

} // namespace asmevo::timing
