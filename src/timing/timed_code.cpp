#include "timing/timed_code.h"

#include <algorithm>

namespace asmevo::timing {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::MemoryKind;

bool invalidates_l1(const Instruction& i) {
  return i.is("buffer_inv") || i.is("buffer_wbinvl1") || i.is("buffer_wbinvl1_vol");
}

TimedOp::Kind kind_of(const Instruction& i) {
  switch (i.issue) {
  case IssueClass::Waitcnt: return TimedOp::Kind::Waitcnt;
  case IssueClass::Nop: return TimedOp::Kind::Nop;
  case IssueClass::Barrier: return TimedOp::Kind::Barrier;
  case IssueClass::EndProgram: return TimedOp::Kind::EndProgram;
  case IssueClass::Branch: return TimedOp::Kind::Branch;
  default: break;
  }
  if (i.is("s_sleep")) return TimedOp::Kind::Sleep;
  if (i.is("s_setprio")) return TimedOp::Kind::SetPriority;
  if (i.branch || i.indirect) return TimedOp::Kind::Branch;
  if (invalidates_l1(i)) return TimedOp::Kind::Invalidate;
  // ds_bpermute and its like touch no memory, but come back through the same queue.
  const bool counts = i.counters.vmcnt != 0 || i.counters.lgkmcnt != 0;
  return i.memory.kind == MemoryKind::None && !counts ? TimedOp::Kind::Plain : TimedOp::Kind::Memory;
}

unsigned immediate(const Instruction& i) {
  return i.words[0] & 0xffff;
}

// FLAT counts with vector memory and with LDS, and an LDS wait cannot tell when it is done.
void set_counters(TimedOp& op, const Instruction& i) {
  op.counts_vector = i.counters.vmcnt != 0;
  const bool other = i.counters.lgkmcnt != 0;
  op.counts_scalar = other && (i.memory.kind == MemoryKind::Scalar || op.counts_vector);
  op.counts_lds = other && !op.counts_scalar;
}

// sc1: the scope is the device or the system, where other first caches are as good as none (gfx940; LLVM
// AMDGPUUsage, memory model). gfx90a's glc does the same; slc and nt: used once.
void set_hints(TimedOp& op, const Instruction& i, const isa::Target& target) {
  const bool gfx90a = target.gfx == isa::Gfx::gfx90a;
  op.past_l1 = op.load && !op.atomic && (gfx90a ? i.mods.sc0 : i.mods.sc1);
  op.streaming = i.mods.nt;
}

} // namespace

TimedOp timed_op(const Instruction& i, uint64_t address, const isa::Target& target, const Machine& machine) {
  const InstructionCost cost = instruction_cost(i, target, machine);
  TimedOp op{.kind = kind_of(i),
             .pipe = cost.pipe,
             .issue = cost.issue,
             .latency = cost.latency,
             .to_accumulator = cost.to_accumulator,
             .to_valu = cost.to_valu,
             .to_packed_valu = cost.to_packed_valu};
  op.matrix = i.matrix != isa::MatrixKind::None;
  op.packed = is_packed_f32(i) || i.base_mnemonic.starts_with("v_dot");
  set_counters(op, i);
  op.load = i.memory.load, op.store = i.memory.store, op.atomic = i.memory.atomic;
  op.returns = i.memory.returns, op.lds_dma = i.memory.lds_dma;
  op.bytes = i.memory.bytes;
  op.dwords = i.dwords;
  op.instruction = &i;
  op.address = address;
  op.code_line = address / static_cast<uint64_t>(machine[Parameter::icache_line]);
  set_hints(op, i, target);
  if (op.kind == TimedOp::Kind::Waitcnt) {
    const auto fields = isa::WaitcntFields::of(i);
    op.most_vector = static_cast<uint8_t>(fields.vmcnt), op.most_lds = static_cast<uint8_t>(fields.lgkmcnt);
  }
  if (op.kind == TimedOp::Kind::Nop) op.extra = cost.issue - turn;
  if (op.kind == TimedOp::Kind::Sleep) op.extra = 64.0 * (immediate(i) & 0x7f);
  if (op.kind == TimedOp::Kind::SetPriority) op.priority = immediate(i) & 3;
  return op;
}

TimedCode::TimedCode(const std::map<uint32_t, const Instruction*>& instructions, uint64_t address,
                     const isa::Target& target, const Machine& machine) {
  if (instructions.empty()) return;
  first_ = instructions.begin()->first;
  ids_.assign(instructions.rbegin()->first - first_ + 1, 0);
  for (const auto& [index, i] : instructions) {
    ids_[index - first_] = static_cast<uint32_t>(ops_.size());
    ops_.push_back(timed_op(*i, address + uint64_t{index} * 4, target, machine));
    has_matrix_ |= ops_.back().matrix;
  }
}

} // namespace asmevo::timing
