// The state of one wave: 64 lanes that run together. Registers, where it is, and why it waits. What happens
// to it is in the instruction families (families/), who runs when is in workgroup.h.
#pragma once

#include "emulator/address_space.h"
#include "emulator/fault.h"
#include "emulator/float_mode.h"
#include "emulator/micro_op.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace asmevo::emulator {

class Observer;
class Workgroup;

inline constexpr unsigned lanes = 64;
inline constexpr uint64_t all_lanes = ~uint64_t{0};

/// One vector register.
struct alignas(64) Row {
  uint32_t lane[lanes];
};

// Slots of the scalar file: the 7-bit operand codes of the ISA (s0 is 0), then machine state that can be read
// as an operand.
namespace slot {
inline constexpr unsigned flat_scratch = 102, xnack_mask = 104, vcc = 106, ttmp0 = 108, m0 = 124, exec = 126,
                          scc = 128;
// Read as operands only: two slots each. Apertures stay as they are; VCCZ and EXECZ are written before they
// are read.
inline constexpr unsigned shared_base = 130, shared_limit = 132, private_base = 134, private_limit = 136,
                          vccz = 138, execz = 140, count = 142;
} // namespace slot

/// What every wave of a dispatch shares and none changes.
struct DispatchContext {
  isa::Target target;
  // Bits 63:32 of the addresses through which FLAT reaches LDS and scratch.
  uint32_t shared_aperture_hi = 0x10000, private_aperture_hi = 0x20000;
  uint32_t scratch_bytes = 0;   // per lane
  uint64_t start_clock = 0;     // what s_memtime starts from
  unsigned allocated_vgprs = 0; // rows a wave has
};

class alignas(64) Wave {
 public:
  enum class State : uint8_t { Running, AtBarrier, Ended, Faulted };

  // --- registers
  alignas(64) std::array<uint32_t, slot::count> scalars{};
  Row* vectors = nullptr;           // DispatchContext::allocated_vgprs rows
  FloatMode mode;                   // MODE; bits the float mode does not know are kept there too
  std::array<uint32_t, 32> hwreg{}; // by hardware register id; MODE is `mode`
  uint64_t pc = 0;

  // --- surroundings
  const DispatchContext* dispatch = nullptr;
  Workgroup* workgroup = nullptr;
  AddressSpace* memory = nullptr;
  uint8_t* lds = nullptr;
  uint32_t lds_bytes = 0; // accesses beyond are dropped, reads give 0
  uint64_t scratch_base =
      0; // gfx942 and later: guest address of the wave's scratch, dwords interleaved by lane
  Observer* observer = nullptr;
  uint64_t sync_ticket = 0;   // of the GWS instruction it waits in, see global_wave_sync.h
  uint32_t number = 0;        // within the workgroup
  uint64_t instructions = 0;  // executed so far
  uint64_t* counts = nullptr; // executed instructions by isa::Family, of the whole workgroup

  // --- what needs looking at before the next instruction. Zero in nearly every step.
  enum Attention : uint32_t { stopped = 1, vgpr_indexing = 2, vskip = 4, yield = 8, mode_changed = 16 };
  uint32_t attention = 0;
  State state = State::Running;
  Fault fault;

  uint32_t& scc() { return scalars[slot::scc]; }
  uint64_t pair(unsigned slot_index) const {
    return scalars[slot_index] | uint64_t{scalars[slot_index + 1]} << 32;
  }
  void set_pair(unsigned slot_index, uint64_t value) {
    scalars[slot_index] = static_cast<uint32_t>(value);
    scalars[slot_index + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t exec() const { return pair(slot::exec); }
  uint64_t vcc() const { return pair(slot::vcc); }
  void set_exec(uint64_t value) { set_pair(slot::exec, value); }
  void set_vcc(uint64_t value) { set_pair(slot::vcc, value); }

  /// The value of a scalar or constant place; 0 where there is none.
  uint32_t scalar32(const Place& p) const {
    return p.scalar() ? scalars[p.index] : static_cast<uint32_t>(p.value);
  }
  uint64_t scalar64(const Place& p) const { return p.scalar() ? pair(p.index) : p.value; }

  void set_mode(uint32_t bits) {
    mode.assign(bits);
    attention |= mode_changed;
  }
  void stop(State why) {
    state = why;
    attention |= stopped;
  }
  /// Ends the run of this wave. The first fault stays.
  void fail(Fault what) {
    if (!fault) fault = std::move(what);
    stop(State::Faulted);
  }
  /// The same at an instruction, to which the pc goes back.
  void fail_at(const MicroOp& op, Fault what) {
    pc = what.pc = op.pc;
    fail(std::move(what));
  }
};

/// Fills what a wave can read of the dispatch's apertures: SRC_SHARED_BASE and its like, and SH_MEM_BASES.
inline void set_apertures(Wave& wave) {
  const uint64_t shared = uint64_t{wave.dispatch->shared_aperture_hi} << 32;
  const uint64_t own = uint64_t{wave.dispatch->private_aperture_hi} << 32;
  wave.set_pair(slot::shared_base, shared);
  wave.set_pair(slot::shared_limit, shared | 0xffffffff);
  wave.set_pair(slot::private_base, own);
  wave.set_pair(slot::private_limit, own | 0xffffffff);
  constexpr unsigned sh_mem_bases = 15;
  wave.hwreg[sh_mem_bases] =
      (wave.dispatch->private_aperture_hi >> 16) | (wave.dispatch->shared_aperture_hi >> 16 << 16);
}

} // namespace asmevo::emulator
