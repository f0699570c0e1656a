// What is known of a wave when it reaches an instruction: the modes that change what instructions mean,
// registers that have been written, and results that are still on their way. Every fact is a "may": true
// where some path makes it so.
#pragma once

#include "program/cfg.h"

#include <array>
#include <vector>

namespace asmevo::program {

/// Kinds of memory traffic, as bits.
enum Traffic : uint8_t {
  no_traffic = 0,
  global_load = 1, // scalar, buffer, global, flat, scratch
  global_store = 2,
  lds_load = 4, // LDS and GDS
  lds_store = 8,
  all_traffic = 15,
};
/// What one instruction does: an atomic loads and stores, flat goes both ways, LDS-DMA loads globally and
/// stores in LDS. Cache control counts as both kinds of global traffic.
uint8_t traffic_of(const isa::Instruction&);
/// May two accesses of these kinds touch the same bytes, one of them writing?
bool may_clash(uint8_t traffic_a, uint8_t traffic_b);

/// The wait counters, in the order of arrays over them.
enum Counter : uint8_t { vmcnt, lgkmcnt, expcnt, counter_count };
/// How much the instruction raises a counter.
unsigned raises(const isa::Instruction&, Counter);
/// The field of an s_waitcnt; nothing where it is at its maximum (waits for nothing), or not an s_waitcnt.
std::optional<unsigned> wait_of(const isa::Instruction&, Counter);

struct WaveState {
  // VSKIP may be on: vector instructions may be skipped (s_setvskip).
  bool may_skip = false;
  // VGPR indexing may be on (s_set_gpr_idx_on), and for which operands of VALU instructions: bit 0 src0, 1
  // src1, 2 src2, 3 the result.
  bool may_index = false;
  uint8_t index_operands = 0;
  // Registers that hold something: written since the start, or set up before it.
  isa::RegSet written;
  // Per counter: registers whose asynchronous write, and traffic that, may not be complete. Cleared by a wait
  // for 0 only.
  struct Pending {
    isa::RegSet registers;
    uint8_t traffic = no_traffic;
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  std::array<Pending, counter_count> pending;

  /// Operands that an instruction may take from another register than it names; 0 for all but VALU.
  uint8_t indexed_operands(const isa::Instruction&) const;
  void advance(const isa::Instruction&);
  /// True where this grew.
  bool merge(const WaveState&);
  /// Everything possible.
  static WaveState unknown();
};

/// Forward analysis of a function. A kernel starts with all scalars and v0 to v2 written (the ABI's set-up)
/// and nothing pending; a device function with everything written and pending. Both start with VSKIP and
/// indexing off, and calls come back with the modes they found.
class WaveStates {
 public:
  static WaveStates compute(const Program&, const Function&, const Cfg&);
  /// At the start of a block.
  const WaveState& at_block(uint32_t block) const { return blocks_[block]; }
  /// Before an entry of the function; walks its block.
  WaveState before(Index i) const;

 private:
  const Program* program_ = nullptr;
  const Cfg* cfg_ = nullptr;
  std::vector<WaveState> blocks_;
};

} // namespace asmevo::program
