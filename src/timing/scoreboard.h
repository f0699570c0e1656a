// The time of one wave that has the machine to itself: instructions issue in order, each as soon as its unit
// is free, what it reads is there, and the waits before it are done. Memory answers after the latency that it
// is told to have. What schedulers ask: does this order hide more than that one?
//
// Loads and matrix instructions differ in what the hardware looks after. A register that a load brings is
// only safe behind an s_waitcnt, so nothing here stalls for it; results of matrix instructions hold back what
// uses them.
#pragma once

#include "timing/instruction_cost.h"
#include "timing/stall.h"

#include <array>
#include <cstdint>
#include <deque>

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
  // Operations in flight that a counter counts, by when they complete. Those in order never complete before
  // their forerunners.
  struct Queue {
    std::deque<double> done;
    void add(double at, bool in_order);
    /// When at most n are left.
    double left(size_t n, bool in_order) const;
  };

  double operands_ready(const isa::Instruction&) const;
  double unit_free(const isa::Instruction&, const InstructionCost&) const;
  double waited(const isa::Instruction&) const;
  void write_results(const isa::Instruction&, const InstructionCost&, double at);
  void start_memory(const isa::Instruction&, const InstructionCost&, const Memory&, double at);
  double latency_of(const isa::Instruction&) const;

  isa::Target target_;
  Machine machine_;
  double now_ = 0, end_ = 0;
  std::array<double, pipe_count> free_{}; // by Pipe
  double valu_after_matrix_ = 0, packed_after_matrix_ = 0;
  std::array<double, isa::unit::count> ready_{};            // by register
  std::array<double, isa::unit::count> accumulated_{};      // the same for who adds to exactly that result
  std::array<isa::RegRange, isa::unit::count> result_of_{}; // of the matrix instruction that wrote it last
  Queue vector_, lds_, scalar_;
};

} // namespace asmevo::timing
