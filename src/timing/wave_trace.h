// What a wave did, as far as its time depends on it: the instructions in their order, and for each access
// which pieces of memory it touched or how long it kept LDS busy. Recorded once while the emulator runs a
// workgroup, and replayed by the cycle model on as many machines as one likes.
//
// A wave's trace does not depend on other waves' speed unless the kernel waits for memory that others write,
// or reads the clock: such kernels are flagged (depends_on_time). Waiting is seen where a wave reads one
// place again and again past the first cache, by one instruction, or changes it by an atomic that returns.
#pragma once

#include "emulator/observer.h"
#include "timing/coalescing.h"

#include <bit>
#include <map>
#include <utility>
#include <vector>

namespace asmevo::timing {

/// One memory instruction may make several (FLAT over two apertures, DS with two addresses).
struct TracedAccess {
  isa::MemoryKind space = isa::MemoryKind::None; // Global, Lds, Scalar, ...: where it went
  bool load = false, store = false, atomic = false;
  // Lds: on as many banks as the recorder was told. Vector memory: address_cycles.
  uint16_t cycles = 0;
  uint32_t lanes = 0;                   // how many
  uint32_t first_piece = 0, pieces = 0; // of WaveTrace::pieces
  bool operator==(const TracedAccess&) const = default;
};

struct TracedStep {
  uint32_t op = 0;           // MicroOp::index
  uint32_t accesses_end = 0; // its accesses are those from the step before's end on
  bool operator==(const TracedStep&) const = default;
};

/// A piece of memory: its address, and how many of its bytes.
class TracedPiece {
 public:
  explicit TracedPiece(const Piece& p)
      : value_(p.address | (static_cast<uint64_t>(std::popcount(p.bytes)) - 1)) {}
  uint64_t address() const { return value_ & ~uint64_t{piece_bytes - 1}; }
  unsigned bytes() const { return static_cast<unsigned>(value_ % piece_bytes) + 1; }
  bool operator==(const TracedPiece&) const = default;

 private:
  uint64_t value_;
};

struct WaveTrace {
  std::vector<TracedStep> steps;
  std::vector<TracedAccess> accesses;
  std::vector<TracedPiece> pieces;
  uint64_t executed = 0; // instructions; more than steps where the trace was cut
  bool operator==(const WaveTrace&) const = default;
};

struct WorkgroupTrace {
  uint64_t index = 0;
  std::vector<WaveTrace> waves;
  bool operator==(const WorkgroupTrace&) const = default;
};

/// What need not be run for a trace, where it decides neither which way waves go nor which memory they touch.
/// Nobody can know that of a kernel without having run it whole: see same_paths (dispatch_trace.h).
enum class LeftOut : uint8_t { Nothing, MatrixProducts, FloatArithmetic };

/// Traces of the workgroups that run in one place, one after another.
class TraceRecorder final : public emulator::Observer {
 public:
  /// `most_steps`: what is kept of each wave; what follows is only counted.
  explicit TraceRecorder(unsigned lds_banks, uint64_t most_steps = ~uint64_t{0},
                         LeftOut left_out = LeftOut::Nothing)
      : lds_banks_(lds_banks), most_steps_(most_steps), left_out_(left_out) {}

  void workgroup_started(emulator::Workgroup&) override;
  void workgroup_ended(emulator::Workgroup&) override;
  uint64_t run(emulator::Wave&, emulator::Code&, uint64_t budget) override;
  void before(emulator::Wave&, const emulator::MicroOp&) override;
  /// Asked by the loop: whether to run it.
  bool wants(const emulator::MicroOp& op) { return left_out_ == LeftOut::Nothing || is_wanted(op); }
  void memory(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent&) override;
  void after(emulator::Wave&, const emulator::MicroOp&) override;

  /// Of those that have ended, in the order in which they did.
  std::vector<WorkgroupTrace> take() { return std::exchange(done_, {}); }
  /// Instructions met so far, by MicroOp::index. They live as long as the module that was run.
  const std::map<uint32_t, const isa::Instruction*>& instructions() const { return instructions_; }
  bool depends_on_time() const { return depends_on_time_; }

 private:
  bool is_wanted(const emulator::MicroOp&);

  unsigned lds_banks_;
  uint64_t most_steps_;
  LeftOut left_out_;
  enum class Wanted : uint8_t { NotAsked, Yes, No };
  std::vector<Wanted> wanted_; // by MicroOp::index
  std::vector<Piece> pieces_;  // of one access
  WorkgroupTrace now_;
  std::vector<WorkgroupTrace> done_;
  std::map<uint32_t, const isa::Instruction*> instructions_;
  bool depends_on_time_ = false;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t>
      last_place_; // by wave and op, of those that could be waiting
};

} // namespace asmevo::timing
