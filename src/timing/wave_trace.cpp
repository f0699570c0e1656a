#include "timing/wave_trace.h"

#include "emulator/interpreter_loop.h"
#include "emulator/workgroup.h"
#include "timing/lds_conflicts.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace asmevo::timing {

using emulator::MemoryEvent;
using emulator::MicroOp;
using emulator::Wave;

namespace {

bool reads_clock(const isa::Instruction& i) {
  return i.is("s_memtime") || i.is("s_memrealtime");
}

// Reads what other workgroups may just have written: at a scope beyond the workgroup, or by an atomic.
bool sees_others(const isa::Instruction& i, const isa::Target& target) {
  if (i.memory.kind == isa::MemoryKind::Lds) return false;
  if (i.memory.atomic) return i.memory.returns;
  return i.memory.load && (target.gfx == isa::Gfx::gfx90a ? i.mods.sc0 : i.mods.sc1);
}

// A product of matrices, or an operation on floats: results in vector registers, nothing else.
bool may_be_left_out(const isa::Instruction& i, LeftOut what) {
  if (i.matrix != isa::MatrixKind::None) return true;
  if (what != LeftOut::FloatArithmetic || i.memory.kind != isa::MemoryKind::None) return false;
  const bool arithmetic = i.issue == isa::IssueClass::Valu || i.issue == isa::IssueClass::Transcendental;
  constexpr std::string_view floats[] = {"_f32", "_f16", "_bf16", "_f64"};
  return arithmetic && !i.side_effects && !i.vgpr_index_mode && !i.defs.empty() &&
         std::ranges::all_of(i.defs, [](const isa::RegRange& d) { return isa::is_vector(d.first); }) &&
         std::ranges::any_of(floats, [&](std::string_view f) { return i.base_mnemonic.contains(f); });
}

} // namespace

bool TraceRecorder::is_wanted(const MicroOp& op) {
  if (op.index >= wanted_.size()) wanted_.resize(op.index + 1);
  Wanted& known = wanted_[op.index];
  if (known == Wanted::NotAsked)
    known = may_be_left_out(*op.instruction, left_out_) ? Wanted::No : Wanted::Yes;
  return known == Wanted::Yes;
}

void TraceRecorder::workgroup_started(emulator::Workgroup& group) {
  now_.index = group.index();
  last_place_.clear();
  now_.waves.assign(group.launch().waves_per_group, {});
}

void TraceRecorder::workgroup_ended(emulator::Workgroup&) {
  done_.push_back(std::exchange(now_, {}));
}

uint64_t TraceRecorder::run(Wave& wave, emulator::Code& code, uint64_t budget) {
  return emulator::run_loop(wave, code, budget, *this);
}

void TraceRecorder::before(Wave& wave, const MicroOp& op) {
  WaveTrace& trace = now_.waves[wave.number];
  if (++trace.executed > most_steps_) return;
  trace.steps.push_back({op.index, static_cast<uint32_t>(trace.accesses.size())});
  const auto [known, is_new] = instructions_.try_emplace(op.index, op.instruction);
  if (is_new) depends_on_time_ |= reads_clock(*op.instruction);
}

void TraceRecorder::memory(Wave& wave, const MicroOp& op, const MemoryEvent& e) {
  WaveTrace& trace = now_.waves[wave.number];
  if (e.lanes != 0 && sees_others(*op.instruction, wave.dispatch->target)) [[unlikely]] {
    const uint64_t place = e.addresses[std::countr_zero(e.lanes)];
    const auto [last, is_new] = last_place_.try_emplace({wave.number, op.index}, place);
    depends_on_time_ |= !is_new && last->second == place;
    last->second = place;
  }
  if (trace.executed > most_steps_) return;
  TracedAccess access{.space = e.space, .load = e.load, .store = e.store, .atomic = e.atomic};
  access.lanes = static_cast<uint32_t>(std::popcount(e.lanes));
  access.first_piece = static_cast<uint32_t>(trace.pieces.size());
  if (e.space == isa::MemoryKind::Lds) {
    access.cycles = static_cast<uint16_t>(lds_cycles(e.addresses, e.lanes, e.bytes, lds_banks_, e.atomic));
  } else {
    const bool scalar = e.space == isa::MemoryKind::Scalar;
    pieces_.clear();
    coalesce(e.addresses, scalar ? 1 : e.lanes, e.bytes, pieces_);
    for (const Piece& p : pieces_) trace.pieces.emplace_back(p);
    if (!scalar) access.cycles = static_cast<uint16_t>(address_cycles(e.addresses, e.lanes, e.bytes));
  }
  access.pieces = static_cast<uint32_t>(trace.pieces.size()) - access.first_piece;
  trace.accesses.push_back(access);
}

void TraceRecorder::after(Wave& wave, const MicroOp&) {
  WaveTrace& trace = now_.waves[wave.number];
  if (trace.executed <= most_steps_)
    trace.steps.back().accesses_end = static_cast<uint32_t>(trace.accesses.size());
}

} // namespace asmevo::timing
