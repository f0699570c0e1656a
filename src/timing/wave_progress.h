// How far a wave is that replays its trace.
#pragma once

#include "timing/wave_dependences.h"
#include "timing/wave_trace.h"

namespace asmevo::timing {

class WaveProgress {
 public:
  void start(const WaveTrace&, const TimedCode&, double at);

  bool at_end() const { return step_ == trace_->steps.size(); }
  const TimedOp& op() const { return code_->op(id_); }
  uint32_t id() const { return id_; }
  std::span<const TracedAccess> accesses() const;
  std::span<const TracedPiece> pieces(const TracedAccess& a) const {
    return {trace_->pieces.data() + a.first_piece, a.pieces};
  }
  /// Whether the instruction behind the current one in the trace is not the one behind it in memory.
  bool jumps() const;

  /// When its next instruction's turn came, when it can issue, and what it waited for last.
  double since = 0, ready = 0;
  Stall reason = Stall::None;
  uint8_t priority = 0;
  uint64_t code_line = ~uint64_t{0}; // that is in its instruction buffer
  WaveDependences dependences;

  /// The current instruction has issued at `at`: its results, and where the wave goes on.
  void issued(double at, double next);
  /// Not before then, for that reason.
  void not_before(double at, Stall why) {
    if (at > ready) ready = at, reason = why;
  }

 private:
  const WaveTrace* trace_ = nullptr;
  const TimedCode* code_ = nullptr;
  size_t step_ = 0;
  uint32_t id_ = 0;
};

} // namespace asmevo::timing
