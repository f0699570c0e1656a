#include "timing/wave_trace.h"

#include "emulator/interpreter_loop.h"
#include "emulator/workgroup.h"
#include "timing/lds_conflicts.h"

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

} // namespace

void TraceRecorder::workgroup_started(emulator::Workgroup& group) {
  now_.index = group.index();
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
  trace.steps.push_back({op.index, static_cast<uint32_t>(trace.accesses.size())});
  const auto [known, is_new] = instructions_.try_emplace(op.index, op.instruction);
  if (is_new) depends_on_time_ |= reads_clock(*op.instruction);
}

void TraceRecorder::memory(Wave& wave, const MicroOp&, const MemoryEvent& e) {
  WaveTrace& trace = now_.waves[wave.number];
  TracedAccess access{.space = e.space, .load = e.load, .store = e.store, .atomic = e.atomic};
  access.lanes = static_cast<uint32_t>(std::popcount(e.lanes));
  access.first_piece = static_cast<uint32_t>(trace.pieces.size());
  if (e.space == isa::MemoryKind::Lds)
    access.lds_cycles = static_cast<uint16_t>(lds_cycles(e.addresses, e.lanes, e.bytes, lds_banks_));
  else if (e.space == isa::MemoryKind::Scalar)
    coalesce(e.addresses, 1, e.bytes, trace.pieces);
  else
    coalesce(e.addresses, e.lanes, e.bytes, trace.pieces);
  access.pieces = static_cast<uint32_t>(trace.pieces.size()) - access.first_piece;
  trace.accesses.push_back(access);
}

void TraceRecorder::after(Wave& wave, const MicroOp&) {
  WaveTrace& trace = now_.waves[wave.number];
  trace.steps.back().accesses_end = static_cast<uint32_t>(trace.accesses.size());
}

} // namespace asmevo::timing
