// What a wave's next instruction waits for: wait counters, results of matrix instructions on their way, and
// results that take longer than a turn.
//
// Loads and matrix instructions differ in what the hardware looks after. A register that a load brings is
// only safe behind an s_waitcnt, so nothing here waits for it; results of matrix instructions hold back what
// uses them.
#pragma once

#include "timing/stall.h"
#include "timing/timed_code.h"

#include <algorithm>
#include <array>
#include <memory>

namespace asmevo::timing {

/// When the operations that a wait counter counts are done, oldest first. They come back in order.
/// `most`: more than the counter can count; the instruction that would be one too many waits.
template <unsigned most>
class WaitQueue {
 public:
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

class WaveDependences {
 public:
  /// A new wave; `has_matrix`: of a kernel with matrix instructions.
  void reset(bool has_matrix);

  struct Ready {
    double at = 0;
    Stall reason = Stall::None; // the last to be over
    void not_before(double time, Stall why) {
      if (time > at) at = time, reason = why;
    }
  };
  /// When the instruction can issue, not before `at`.
  Ready ready(const TimedOp&, double at) const;
  /// It has issued at `at`. What it has in flight is the caller's to add below.
  void issued(const TimedOp&, double at);

  static constexpr unsigned most_vector = 64, most_lds = 16;
  WaitQueue<most_vector> vector;
  WaitQueue<most_lds> lds;
  double scalar = 0; // when all that comes back in any order is done

 private:
  void wait_for_counters(const TimedOp&, Ready&) const;
  void wait_for_operands(const TimedOp&, Ready&) const;

  // By vector register: when the result is there, when for one that adds to exactly it, and what that is.
  struct MatrixResults {
    std::array<double, isa::unit::scalar0> ready{}, accumulated{};
    std::array<isa::RegRange, isa::unit::scalar0> result_of{};
  };
  std::unique_ptr<MatrixResults> matrix_;
  double matrix_until_ = 0;       // no result of a matrix instruction is later
  const TimedOp* slow_ = nullptr; // the instruction before, if its result takes longer than a turn
  double slow_until_ = 0;
};

} // namespace asmevo::timing
