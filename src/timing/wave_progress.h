// How far a wave is that replays its trace, and what its next instruction waits for: its counters, the
// results of matrix instructions on their way, scalar results, the instruction itself.
#pragma once

#include "timing/stall.h"
#include "timing/timed_code.h"
#include "timing/wave_trace.h"

#include <array>
#include <memory>

namespace asmevo::timing {

/// When the operations that a wait counter counts are done, oldest first. They come back in order.
class WaitQueue {
 public:
  /// More than a counter can count: the instruction that would be one too many waits.
  static constexpr unsigned most = 64;
  void add(double at) {
    last_ = std::max(last_, at);
    done_[next_++ % most] = last_;
  }
  /// When at most n are left.
  double left(unsigned n) const { return n >= most || next_ <= n ? 0 : done_[(next_ - 1 - n) % most]; }
  double all() const { return last_; }

 private:
  std::array<double, most> done_{};
  uint64_t next_ = 0;
  double last_ = 0;
};

/// What matrix instructions have on their way, by vector register.
struct MatrixResults {
  std::array<double, isa::unit::scalar0> ready{}, accumulated{};
  std::array<isa::RegRange, isa::unit::scalar0> result_of{};
};

class WaveProgress {
 public:
  void start(const WaveTrace&, const TimedCode&, double at);

  bool at_end() const { return step_ == trace_->steps.size(); }
  /// The trace stops before the wave did.
  bool cut() const { return at_end() && trace_->executed > trace_->steps.size(); }
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

  WaitQueue vector, lds;
  double scalar = 0; // when all that comes back in any order is done

  /// The current instruction has issued at `at`: its results, and where the wave goes on.
  void issued(double at, double next);
  /// Not before then, for that reason.
  void not_before(double at, Stall why) {
    if (at > ready) ready = at, reason = why;
  }

 private:
  void wait_for_operands();
  void wait_for_counters();
  void note_results(const TimedOp&, double at);

  const WaveTrace* trace_ = nullptr;
  const TimedCode* code_ = nullptr;
  size_t step_ = 0;
  uint32_t id_ = 0;
  std::unique_ptr<MatrixResults> matrix_;
  double matrix_until_ = 0;       // no result of a matrix instruction is later
  const TimedOp* slow_ = nullptr; // the instruction before, if its result takes longer than a turn
  double slow_until_ = 0;
};

} // namespace asmevo::timing
