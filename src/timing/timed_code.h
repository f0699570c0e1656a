// A kernel's instructions as the cycle model replays them: what each costs on a machine and what it does to
// the wave, worked out once so that replaying looks nothing up.
#pragma once

#include "timing/instruction_cost.h"

#include <cstdint>
#include <map>
#include <vector>

namespace asmevo::timing {

struct TimedOp {
  enum class Kind : uint8_t {
    Plain, // goes to its pipe and that is all
    Memory,
    Waitcnt,
    Nop,
    Sleep,
    Barrier,
    SetPriority,
    Branch,
    EndProgram,
    Invalidate, // buffer_inv, buffer_wbinvl1
  };
  Kind kind = Kind::Plain;
  Pipe pipe = Pipe::Internal;
  // Cycles.
  double issue = 4, latency = 4, to_accumulator = 0, to_valu = 0, to_packed_valu = 0;
  double extra = 0; // after which the wave goes on, beside its turn: s_nop, s_sleep
  bool matrix = false, packed = false;
  bool counts_vector = false, counts_lds = false, counts_scalar = false; // in which wait counters
  bool load = false, store = false, atomic = false, returns = false, lds_dma = false;
  // Cache hints: past the first cache; passing through quickly.
  bool past_l1 = false, streaming = false;
  uint8_t dwords = 1, priority = 0, bytes = 4; // bytes: of a lane
  uint8_t most_vector = 63, most_lds = 15;     // Waitcnt: what may be left
  const isa::Instruction* instruction = nullptr;
  uint64_t address = 0;   // in the code object
  uint64_t code_line = 0; // of the instruction cache, by its number
};

/// One instruction; `address`: of it in the code object.
TimedOp timed_op(const isa::Instruction&, uint64_t address, const isa::Target&, const Machine&);

class TimedCode {
 public:
  /// `instructions`: by the index that steps of a trace have, in dwords from `address` on.
  TimedCode(const std::map<uint32_t, const isa::Instruction*>& instructions, uint64_t address,
            const isa::Target&, const Machine&);

  size_t size() const { return ops_.size(); }
  const TimedOp& op(size_t id) const { return ops_[id]; }
  /// The id of the instruction that a step has.
  uint32_t id_of(uint32_t index) const { return ids_[index - first_]; }
  bool has_matrix() const { return has_matrix_; }

 private:
  std::vector<TimedOp> ops_;
  std::vector<uint32_t> ids_;
  uint32_t first_ = 0;
  bool has_matrix_ = false;
};

} // namespace asmevo::timing
