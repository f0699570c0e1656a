#include "timing/scoreboard.h"

#include <algorithm>

namespace asmevo::timing {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::MemoryKind;
using P = Parameter;

constexpr double turn = 4; // a wave issues once in so many cycles

bool counts_in_vmcnt(const Instruction& i) {
  return i.counters.vmcnt != 0;
}
bool is_scalar_memory(const Instruction& i) {
  return i.memory.kind == MemoryKind::Scalar;
}

const isa::RegRange* accumulator(const Instruction& i) {
  if (i.matrix == isa::MatrixKind::None) return nullptr;
  const bool sparse = i.base_mnemonic.starts_with("v_smfmac"); // adds to its result; Src2 is an index
  const isa::Operand* const o = i.find(sparse ? isa::Role::Vdst : isa::Role::Src2);
  return o != nullptr && o->kind == isa::Operand::Kind::Register ? &o->reg : nullptr;
}

} // namespace

void Scoreboard::Queue::add(double at, bool in_order) {
  constexpr size_t most = 64; // what a counter counts, and the one that would not fit
  done.push_back(in_order && !done.empty() ? std::max(at, done.back()) : at);
  if (done.size() > most) done.pop_front();
}

double Scoreboard::Queue::left(size_t n, bool in_order) const {
  if (done.size() <= n) return 0;
  if (in_order) return done[done.size() - 1 - n];
  return *std::ranges::max_element(done); // only 0 proves anything: all of them
}

Scoreboard::Scoreboard(const isa::Target& target, const Machine& machine)
    : target_(target), machine_(machine) {}

double Scoreboard::operands_ready(const Instruction& i) const {
  double at = 0;
  const isa::RegRange* const added_to = accumulator(i);
  for (const isa::RegRange& range : i.uses) {
    const bool exact = added_to != nullptr && range == *added_to && result_of_[range.first] == range;
    for (isa::RegUnit u = range.first; u < range.first + range.count; ++u)
      at = std::max(at, exact ? accumulated_[u] : ready_[u]);
  }
  // Nor may it overwrite what a matrix instruction is still computing.
  for (const isa::RegRange& range : i.defs)
    if (isa::is_vector(range.first) && i.matrix == isa::MatrixKind::None)
      for (isa::RegUnit u = range.first; u < range.first + range.count; ++u) at = std::max(at, ready_[u]);
  return at;
}

double Scoreboard::unit_free(const Instruction& i, const InstructionCost& cost) const {
  const double free = free_[static_cast<size_t>(cost.pipe)];
  if (cost.pipe != Pipe::Valu) return free;
  const bool late = is_packed_f32(i) || i.base_mnemonic.starts_with("v_dot");
  return std::max(free, late ? packed_after_matrix_ : valu_after_matrix_);
}

double Scoreboard::waited(const Instruction& i) const {
  if (i.issue != IssueClass::Waitcnt) return 0;
  const auto fields = isa::WaitcntFields::decode(static_cast<uint16_t>(i.words[0] & 0xffff));
  return std::max({vector_.left(fields.vmcnt, true), lds_.left(fields.lgkmcnt, true),
                   fields.lgkmcnt == 0 ? scalar_.left(0, false) : 0});
}

void Scoreboard::write_results(const Instruction& i, const InstructionCost& cost, double at) {
  if (i.memory.kind != MemoryKind::None) return; // that is what s_waitcnt is for
  const bool matrix = i.matrix != isa::MatrixKind::None;
  for (const isa::RegRange& range : i.defs)
    for (isa::RegUnit u = range.first; u < range.first + range.count; ++u) {
      ready_[u] = at + cost.latency;
      accumulated_[u] = at + (matrix ? cost.to_accumulator : cost.latency);
      result_of_[u] = matrix && u == range.first ? range : isa::RegRange{};
    }
  if (!matrix) return;
  valu_after_matrix_ = at + cost.to_valu;
  packed_after_matrix_ = at + cost.to_packed_valu;
}

double Scoreboard::latency_of(const Instruction& i) const {
  if (is_scalar_memory(i)) return machine_[P::scalar_latency];
  return counts_in_vmcnt(i) ? machine_[P::l1_latency] : machine_[P::lds_latency];
}

void Scoreboard::start_memory(const Instruction& i, const InstructionCost& cost, const Memory& memory,
                              double at) {
  if (i.counters.vmcnt == 0 && i.counters.lgkmcnt == 0) return;
  double data = 0;
  if (cost.pipe == Pipe::Lds) {
    const double rate = i.memory.load ? machine_[P::lds_read_rate] : machine_[P::lds_write_rate];
    const double plain = 64.0 * std::max<unsigned>(4, i.memory.bytes) / rate;
    data = memory.lds_cycles < 0 ? plain : std::max(plain, memory.lds_cycles);
    free_[static_cast<size_t>(Pipe::Lds)] = std::max(free_[static_cast<size_t>(Pipe::Lds)], at + data);
    data -= 64.0 * 4 / machine_[P::lds_read_rate]; // the latency is that of a dword without conflict
  }
  const double done = at + std::max(0.0, data) + (memory.latency < 0 ? latency_of(i) : memory.latency);
  end_ = std::max(end_, done);
  if (is_scalar_memory(i)) return scalar_.add(done, false);
  if (counts_in_vmcnt(i)) vector_.add(done, true);
  if (i.counters.lgkmcnt != 0) (counts_in_vmcnt(i) ? scalar_ : lds_).add(done, !counts_in_vmcnt(i));
}

Issue Scoreboard::issue(const Instruction& i, const Memory& memory) {
  const InstructionCost cost = instruction_cost(i, target_, machine_);
  Issue issue{now_, 0, Stall::None};
  const auto not_before = [&](double at, Stall reason) {
    if (at > issue.at) issue.at = at, issue.reason = reason;
  };
  not_before(unit_free(i, cost), Stall::ArbiterNotWin);
  not_before(operands_ready(i), Stall::AluDependency);
  not_before(waited(i), Stall::Waitcnt);
  issue.stalled = issue.at - now_;
  if (cost.pipe != Pipe::Internal) free_[static_cast<size_t>(cost.pipe)] = issue.at + cost.issue;
  start_memory(i, cost, memory, issue.at);
  write_results(i, cost, issue.at);
  now_ = issue.at + (cost.pipe == Pipe::Internal ? cost.issue : turn);
  end_ = std::max({end_, now_, issue.at + cost.latency});
  return issue;
}

double Scoreboard::end() const {
  return end_;
}

} // namespace asmevo::timing
