// The time of one wave that has the machine to itself: instructions issue in order, each as soon as its unit
// is free, what it reads is there, and the waits before it are done. Memory answers after the latency that it
// is told to have. What schedulers ask: does this order hide more than that one?
#pragma once

#include "timing/wave_dependences.h"

namespace asmevo::timing {

struct Issue {
  double at = 0;              // cycle
  double stalled = 0;         // cycles between when its turn came and `at`
  Stall reason = Stall::None; // the last to be over
};

class Scoreboard {
 public:
  Scoreboard(const isa::Target& target, const Machine& machine);

  /// Of an access: cycles until its data are there beside what the unit takes. By default a hit in the first
  /// cache, LDS without conflicts.
  struct Memory {
    double latency = -1;    // below 0: the default of the space
    double lds_cycles = -1; // below 0: without conflict
  };
  /// The wave's next instruction.
  Issue issue(const isa::Instruction&, const Memory& memory);
  Issue issue(const isa::Instruction& i) { return issue(i, Memory{}); }
  /// When the next could issue if nothing held it back.
  double now() const { return now_; }
  /// When everything is done, memory too.
  double end() const;

 private:
  double unit_free(const TimedOp&) const;
  void start_memory(const TimedOp&, const Memory&, double at);
  double latency_of(const TimedOp&) const;

  isa::Target target_;
  Machine machine_;
  double now_ = 0, end_ = 0;
  std::array<double, pipe_count> free_{}; // by Pipe
  double vector_port_ = 0, valu_after_matrix_ = 0, packed_after_matrix_ = 0;
  WaveDependences dependences_;
  TimedOp last_; // of the instruction that issued last: results refer to it
};

} // namespace asmevo::timing
