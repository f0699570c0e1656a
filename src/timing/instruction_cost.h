// What an instruction costs by itself: which unit it goes to, for how long it holds it, and when its result
// can be used. What memory adds depends on addresses, and what waits add on the other instructions: neither
// is here.
//
// A SIMD issues for its own waves: vector and matrix instructions, which work beside each other for a while.
// Scalar, memory and LDS instructions go to units that the four SIMDs of a compute unit share.
#pragma once

#include "isa/instruction.h"
#include "timing/machine_model.h"

#include <string_view>

namespace asmevo::timing {

/// Cycles: a SIMD issues one instruction of a kind, and a wave one, in as many.
inline constexpr double turn = 4;

enum class Pipe : uint8_t {
  Valu,   // transcendentals, too
  Matrix, // v_mfma, v_smfmac
  Salu,   // with s_getreg and its like
  Smem,
  Vmem, // buffer, global, flat and scratch, LDS-DMA
  Lds,
  Branch,
  Message,  // s_sendmsg, exports
  Internal, // s_waitcnt, s_nop, s_barrier, s_setprio: nothing is sent to any unit
};
inline constexpr size_t pipe_count = static_cast<size_t>(Pipe::Internal) + 1;
std::string_view name(Pipe);

/// Which instructions cannot issue in one turn of a SIMD. Scalar arithmetic and scalar loads are one kind
/// (AMD, GCN architecture white paper: "scalar ALU or memory").
constexpr size_t port_of(Pipe pipe) {
  return static_cast<size_t>(pipe == Pipe::Smem ? Pipe::Salu : pipe);
}

struct InstructionCost {
  Pipe pipe = Pipe::Internal;
  /// Cycles for which it holds the unit.
  double issue = 4;
  /// Cycles from its issue to that of an instruction which uses what it computes; of loads, what is not
  /// memory's.
  double latency = 4;
  // Of matrix instructions, from their issue:
  double to_accumulator = 0; // to one that adds to exactly its result
  double to_valu = 0; // to an ordinary vector instruction of the same SIMD that does not need the result
  double to_packed_valu = 0; // to one of v_pk_*_f32, v_pk_mov_b32 or v_dot*
};

/// v_pk_*_f32 and v_pk_mov_b32.
bool is_packed_f32(const isa::Instruction&);

InstructionCost instruction_cost(const isa::Instruction&, const isa::Target&, const Machine&);

} // namespace asmevo::timing
