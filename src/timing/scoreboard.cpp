#include "timing/scoreboard.h"

namespace asmevo::timing {

namespace {

using isa::Instruction;
using P = Parameter;

} // namespace

Scoreboard::Scoreboard(const isa::Target& target, const Machine& machine)
    : target_(target), machine_(machine) {
  dependences_.reset(true);
}

double Scoreboard::unit_free(const TimedOp& op) const {
  if (op.pipe == Pipe::Internal) return 0;
  const double free = free_[port_of(op.pipe)];
  if (op.pipe == Pipe::Matrix) return std::max(free, vector_port_);
  if (op.pipe != Pipe::Valu) return free;
  return std::max(free, op.packed ? packed_after_matrix_ : valu_after_matrix_);
}

double Scoreboard::latency_of(const TimedOp& op) const {
  if (op.pipe == Pipe::Smem) return machine_[P::scalar_latency];
  return op.counts_vector ? machine_[P::l1_latency] : machine_[P::lds_latency];
}

void Scoreboard::start_memory(const TimedOp& op, const Memory& memory, double at) {
  if (!op.counts_vector && !op.counts_lds && !op.counts_scalar) return;
  double data = 0;
  if (op.pipe == Pipe::Lds) {
    const double rate = op.load ? machine_[P::lds_read_rate] : machine_[P::lds_write_rate];
    const double plain = 64.0 * std::max<unsigned>(4, op.bytes) / rate;
    data = memory.lds_cycles < 0 ? plain : std::max(plain, memory.lds_cycles);
    double& free = free_[port_of(Pipe::Lds)];
    free = std::max(free, at + data);
    data -= 64.0 * 4 / machine_[P::lds_read_rate]; // the latency is that of a dword without conflict
  }
  const double done = at + std::max(0.0, data) + (memory.latency < 0 ? latency_of(op) : memory.latency);
  end_ = std::max(end_, done);
  if (op.counts_vector) dependences_.vector.add(done);
  if (op.counts_lds) dependences_.lds.add(done);
  if (op.counts_scalar) dependences_.scalar = std::max(dependences_.scalar, done);
}

Issue Scoreboard::issue(const Instruction& i, const Memory& memory) {
  const TimedOp op = timed_op(i, 0, target_, machine_);
  WaveDependences::Ready ready = dependences_.ready(op, now_);
  ready.not_before(unit_free(op), Stall::ArbiterWinExStall);
  const Issue issue{ready.at, ready.at - now_, ready.reason};
  if (op.pipe != Pipe::Internal) free_[port_of(op.pipe)] = issue.at + std::max(op.issue, turn);
  if (op.pipe == Pipe::Valu || op.pipe == Pipe::Matrix) vector_port_ = issue.at + turn;
  if (op.matrix)
    valu_after_matrix_ = issue.at + op.to_valu, packed_after_matrix_ = issue.at + op.to_packed_valu;
  start_memory(op, memory, issue.at);
  last_ = op;
  dependences_.issued(last_, issue.at);
  now_ = issue.at + (op.kind == TimedOp::Kind::Waitcnt ? op.issue : turn) + op.extra;
  end_ = std::max({end_, now_, issue.at + op.latency});
  return issue;
}

double Scoreboard::end() const {
  return end_;
}

} // namespace asmevo::timing
