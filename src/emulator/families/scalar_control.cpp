// Branches, calls, barriers, messages, hardware registers and the modes that change how vector instructions
// run.
#include "emulator/families/scalar.h"

#include <fmt/format.h>

#include <bit>

namespace asmevo::emulator {

namespace {

void ignore(Wave&, const MicroOp&) {}

// --- branches

template <auto Taken>
void branch_if(Wave& wave, const MicroOp& op) {
  if (Taken(wave)) wave.pc = op.branch_target();
}

void set_pc(Wave& wave, const MicroOp& op) {
  wave.pc = wave.scalar64(op.source[0]);
}
void get_pc(Wave& wave, const MicroOp& op) {
  wave.set_pair(op.result.index, wave.pc);
}
void call(Wave& wave, const MicroOp& op) {
  wave.set_pair(op.result.index, wave.pc);
  wave.pc = op.branch_target();
}
void swap_pc(Wave& wave, const MicroOp& op) {
  const uint64_t target = wave.scalar64(op.source[0]);
  wave.set_pair(op.result.index, wave.pc);
  wave.pc = target;
}

// --- fork and join (CDNA3 ISA, 4.6): the smaller half of the lanes goes first, the other half's pc and EXEC
// wait in four SGPRs of a stack whose pointer is MODE.CSP.

constexpr unsigned csp_shift = 29;

unsigned stack_pointer(const Wave& wave) {
  return wave.mode.bits() >> csp_shift;
}
void set_stack_pointer(Wave& wave, unsigned csp) {
  wave.set_mode((wave.mode.bits() & ~(7U << csp_shift)) | (csp & 7) << csp_shift);
}

void fork(Wave& wave, uint64_t taken, uint64_t target) {
  const uint64_t pass = taken & wave.exec(), other = ~taken & wave.exec();
  if (other == 0) {
    wave.pc = target;
    return;
  }
  if (pass == 0) return;
  const bool fall_through_first = std::popcount(other) < std::popcount(pass);
  const unsigned at = stack_pointer(wave) * 4;
  wave.set_pair(at, fall_through_first ? pass : other);
  wave.set_pair(at + 2, fall_through_first ? target : wave.pc);
  wave.set_exec(fall_through_first ? other : pass);
  set_stack_pointer(wave, stack_pointer(wave) + 1);
  if (!fall_through_first) wave.pc = target;
}
void fork_direct(Wave& wave, const MicroOp& op) {
  fork(wave, wave.scalar64(op.source[0]), op.branch_target());
}
void fork_indirect(Wave& wave, const MicroOp& op) {
  fork(wave, wave.scalar64(op.source[0]), wave.scalar64(op.source[1]));
}
void join(Wave& wave, const MicroOp& op) {
  if (stack_pointer(wave) == wave.scalar32(op.source[0])) return;
  set_stack_pointer(wave, stack_pointer(wave) - 1);
  const unsigned at = stack_pointer(wave) * 4;
  wave.set_exec(wave.pair(at));
  wave.pc = wave.pair(at + 2);
}

// --- ends, waits, messages

void end_program(Wave& wave, const MicroOp&) {
  wave.stop(Wave::State::Ended);
}
void barrier(Wave& wave, const MicroOp&) {
  wave.stop(Wave::State::AtBarrier);
}
void sleep(Wave& wave, const MicroOp&) {
  wave.attention |= Wave::yield;
}
// Trap 3 is the debugger's, which is not there; 2 is what abort() and assert() become (AMDGPUUsage, "Trap
// Handler ABI").
void trap(Wave& wave, const MicroOp& op) {
  const unsigned id = op.instruction->words[0] & 0xff;
  constexpr unsigned debugger = 3;
  if (id != debugger) wave.fail_at(op, {.kind = FaultKind::Trap, .text = fmt::format("s_trap {}", id)});
}
void set_halt(Wave& wave, const MicroOp& op) {
  if ((op.instruction->words[0] & 1) != 0)
    wave.fail_at(op, {.kind = FaultKind::Trap, .text = "s_sethalt stops the wave for good"});
}
void set_kill(Wave& wave, const MicroOp& op) {
  if ((op.instruction->words[0] & 1) != 0) wave.stop(Wave::State::Ended);
}
void send_message_and_halt(Wave& wave, const MicroOp& op) {
  wave.fail_at(op, {.kind = FaultKind::Trap, .text = "s_sendmsghalt stops the wave for good"});
}

// --- MODE bits that change how vector instructions run: see interpreter.cpp

constexpr uint32_t mode_gpr_idx_en = 1U << 27, mode_vskip = 1U << 28;

// Keeps the wave's attention in step with MODE.
void assign_mode(Wave& wave, uint32_t bits) {
  wave.set_mode(bits);
  wave.attention &= ~uint32_t{Wave::vgpr_indexing | Wave::vskip};
  if ((bits & mode_gpr_idx_en) != 0) wave.attention |= Wave::vgpr_indexing;
  if ((bits & mode_vskip) != 0) wave.attention |= Wave::vskip;
}

void set_m0_bits(Wave& wave, uint32_t mask, uint32_t value) {
  uint32_t& m0 = wave.scalars[slot::m0];
  m0 = (m0 & ~mask) | (value & mask);
}
void index_on(Wave& wave, const MicroOp& op) {
  // SSRC1's field is the mask of operands itself, not an operand code.
  set_m0_bits(wave, 0xff, wave.scalar32(op.source[0]));
  set_m0_bits(wave, 0xf000, (op.instruction->words[0] >> 8 & 0xf) << 12);
  assign_mode(wave, wave.mode.bits() | mode_gpr_idx_en);
}
void index_off(Wave& wave, const MicroOp&) {
  assign_mode(wave, wave.mode.bits() & ~mode_gpr_idx_en);
}
void index_mode(Wave& wave, const MicroOp& op) {
  set_m0_bits(wave, 0xf000, (op.instruction->words[0] & 0xf) << 12);
}
void index_index(Wave& wave, const MicroOp& op) {
  set_m0_bits(wave, 0xff, wave.scalar32(op.source[0]));
}
void set_vskip(Wave& wave, const MicroOp& op) {
  const bool on = (wave.scalar32(op.source[0]) >> (wave.scalar32(op.source[1]) & 31) & 1) != 0;
  assign_mode(wave, on ? wave.mode.bits() | mode_vskip : wave.mode.bits() & ~mode_vskip);
}

// --- hardware registers

using Field = isa::HardwareRegisterField;

uint32_t read_register(Wave& wave, unsigned id) {
  if (id == Field::mode) return wave.mode.bits();
  uint32_t value = id < wave.hwreg.size() ? wave.hwreg[id] : 0;
  if (id == Field::status)
    value |= wave.scc() | (wave.exec() == 0 ? 1U << 9 : 0) | (wave.vcc() == 0 ? 1U << 10 : 0);
  return value;
}
void write_register(Wave& wave, unsigned id, uint32_t value) {
  if (id == Field::mode)
    assign_mode(wave, value);
  else if (id != Field::status && id < wave.hwreg.size())
    wave.hwreg[id] = value; // STATUS needs privilege
}
void get_register(Wave& wave, const MicroOp& op) {
  const Field f = Field::of(*op.instruction);
  wave.scalars[op.result.index] = read_register(wave, f.id) >> f.offset & f.mask();
}
void set_field(Wave& wave, const MicroOp& op, uint32_t value) {
  const Field f = Field::of(*op.instruction);
  const uint32_t before = read_register(wave, f.id), mask = f.mask() << f.offset;
  write_register(wave, f.id, (before & ~mask) | (value << f.offset & mask));
}
void set_register(Wave& wave, const MicroOp& op) {
  set_field(wave, op, wave.scalar32(op.source[0]));
}
void set_register_literal(Wave& wave, const MicroOp& op) {
  set_field(wave, op, op.instruction->words[1]);
}

constexpr OpcodeRow rows[] = {
    {"s_branch", branch_if<[](Wave&) { return true; }>},
    {"s_cbranch_scc0", branch_if<[](Wave& w) { return w.scc() == 0; }>},
    {"s_cbranch_scc1", branch_if<[](Wave& w) { return w.scc() != 0; }>},
    {"s_cbranch_vccz", branch_if<[](Wave& w) { return w.vcc() == 0; }>},
    {"s_cbranch_vccnz", branch_if<[](Wave& w) { return w.vcc() != 0; }>},
    {"s_cbranch_execz", branch_if<[](Wave& w) { return w.exec() == 0; }>},
    {"s_cbranch_execnz", branch_if<[](Wave& w) { return w.exec() != 0; }>},
    // The debugger's conditions are off.
    {"s_cbranch_cdbgsys", ignore},
    {"s_cbranch_cdbguser", ignore},
    {"s_cbranch_cdbgsys_or_user", ignore},
    {"s_cbranch_cdbgsys_and_user", ignore},
    {"s_setpc_b64", set_pc},
    {"s_rfe_b64", set_pc},
    {"s_rfe_restore_b64", set_pc},
    {"s_getpc_b64", get_pc},
    {"s_swappc_b64", swap_pc},
    {"s_call_b64", call},
    {"s_cbranch_i_fork", fork_direct},
    {"s_cbranch_g_fork", fork_indirect},
    {"s_cbranch_join", join},

    {"s_endpgm", end_program},
    {"s_endpgm_saved", end_program},
    {"s_endpgm_ordered_ps_done", end_program},
    {"s_barrier", barrier},
    {"s_sleep", sleep},
    {"s_wakeup", ignore},
    {"s_nop", ignore},
    {"s_waitcnt", ignore}, // results are there at once; that waits are missing is the sanitizer's business
    {"s_setprio", ignore},
    {"s_icache_inv", ignore},
    {"s_incperflevel", ignore},
    {"s_decperflevel", ignore},
    {"s_ttracedata", ignore},
    {"s_sendmsg", ignore},
    {"s_sendmsghalt", send_message_and_halt},
    {"s_sethalt", set_halt},
    {"s_setkill", set_kill},
    {"s_trap", trap},

    {"s_set_gpr_idx_on", index_on},
    {"s_set_gpr_idx_off", index_off},
    {"s_set_gpr_idx_mode", index_mode},
    {"s_set_gpr_idx_idx", index_index},
    {"s_setvskip", set_vskip},
    {"s_getreg_b32", get_register},
    {"s_setreg_b32", set_register},
    {"s_setreg_imm32_b32", set_register_literal},
};

} // namespace

OpcodeRows scalar_control_rows() {
  return rows;
}

} // namespace asmevo::emulator
