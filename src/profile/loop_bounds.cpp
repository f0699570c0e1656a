#include "profile/loop_bounds.h"

#include "timing/scoreboard.h"

#include <numeric>

namespace asmevo::profile {

namespace {

using isa::Instruction;
using program::Block;
using program::Index;
using program::Loop;
using program::no_index;
using P = timing::Parameter;

constexpr double turn = 4;       // cycles: a wave issues once in so many
constexpr size_t settled = 24;   // turns after which a loop repeats itself
constexpr size_t measured = 24;  // turns to take the mean of, then
constexpr size_t longest = 8192; // instructions of a body; longer ones get no chain

// Results that wait for one another, over many turns.
class Chains {
 public:
  Chains(const KernelCode& code, const std::vector<Index>& body, const timing::Machine& machine)
      : code_(code), body_(body), m_(machine) {
    for (const Index i : body)
      costs_.push_back(timing::instruction_cost(code.instruction(i), code.program().target, machine));
    ready_.fill({0, no_step});
    accumulated_.fill(0);
  }

  void run(LoopBound& bound) {
    double first = 0, middle = 0;
    for (size_t n = 0; n < settled + measured; ++n) {
      for (size_t k = 0; k < body_.size(); ++k) issue(k);
      if (n == 0) first = last_;
      if (n + 1 == settled) middle = last_;
    }
    bound.chain = first;
    bound.carried = (last_ - middle) / double{measured};
    if (bound.carried > 0) bound.critical = cycle();
  }

 private:
  static constexpr uint32_t no_step = UINT32_MAX;
  struct Ready {
    double at = 0;
    uint32_t by = no_step; // step that computes it
  };

  double latency(const Instruction& i, const timing::InstructionCost& cost) const {
    if (i.memory.kind == isa::MemoryKind::None) return std::max(turn, cost.latency);
    if (i.memory.kind == isa::MemoryKind::Scalar) return m_[P::scalar_latency];
    return i.counters.vmcnt != 0 ? m_[P::l1_latency] : m_[P::lds_latency];
  }

  void issue(size_t k) {
    const Instruction& i = code_.instruction(body_[k]);
    const isa::Operand* const added = i.matrix != isa::MatrixKind::None ? i.find(isa::Role::Src2) : nullptr;
    const isa::RegRange none, &sum = added != nullptr ? added->reg : none;
    Ready start;
    for (const isa::RegRange& r : i.uses)
      for (isa::RegUnit u = r.first; u < r.first + r.count; ++u) {
        const double at = r == sum && result_of_[u] == sum ? accumulated_[u] : ready_[u].at;
        if (at > start.at) start = {at, ready_[u].by};
      }
    const auto step = static_cast<uint32_t>(before_.size());
    before_.push_back(start.by);
    const double done = start.at + latency(i, costs_[k]);
    for (const isa::RegRange& r : i.defs)
      for (isa::RegUnit u = r.first; u < r.first + r.count; ++u) {
        ready_[u] = {done, step};
        accumulated_[u] = i.matrix != isa::MatrixKind::None ? start.at + costs_[k].to_accumulator : done;
        result_of_[u] = i.matrix != isa::MatrixKind::None ? r : isa::RegRange{};
      }
    if (done > last_) last_ = done, last_step_ = step;
  }

  // The chain from the last result back until it meets an instruction for the second time.
  std::vector<Index> cycle() const {
    std::vector<size_t> seen;
    for (uint32_t s = last_step_; s != no_step; s = before_[s]) {
      const size_t k = s % body_.size();
      const auto found = std::ranges::find(seen, k);
      if (found != seen.end()) {
        std::vector<Index> list;
        for (auto at = found; at != seen.end(); ++at) list.push_back(body_[*at]);
        std::ranges::sort(list);
        return list;
      }
      seen.push_back(k);
    }
    return {};
  }

  const KernelCode& code_;
  const std::vector<Index>& body_;
  const timing::Machine& m_;
  std::vector<timing::InstructionCost> costs_;
  std::array<Ready, isa::unit::count> ready_;
  std::array<double, isa::unit::count> accumulated_;
  std::array<isa::RegRange, isa::unit::count> result_of_{};
  std::vector<uint32_t> before_; // by step: the one it waited for
  double last_ = 0;
  uint32_t last_step_ = no_step;
};

// One turn: from the header along the heavier successors, until it comes back.
std::vector<Index> body_of(const CodePath& path, uint32_t number) {
  const program::Cfg& cfg = path.code().cfg();
  const Loop& loop = cfg.loops()[number];
  std::vector<Index> body;
  std::vector<bool> visited(cfg.blocks().size(), false);
  for (uint32_t b = loop.header; b != no_index && !visited[b];) {
    visited[b] = true;
    const Block& block = cfg.blocks()[b];
    for (Index i = block.begin; i < block.end; ++i) body.push_back(i);
    uint32_t next = no_index;
    for (const uint32_t s : block.successors) {
      if (!cfg.in_loop(s, number) || visited[s]) continue;
      if (next == no_index || path.weight(b, s) > path.weight(b, next)) next = s;
    }
    // The way back, where it is taken more often.
    if (std::ranges::find(loop.latches, b) != loop.latches.end() && next != no_index &&
        path.weight(next) < path.weight(loop.header) / 2)
      next = no_index;
    b = next;
  }
  return body;
}

void issue_bounds(LoopBound& bound, const CodePath& path, const timing::Machine& machine) {
  std::array<double, timing::pipe_count> pipes{};
  for (const Index i : bound.body) {
    const Instruction& instruction = path.code().instruction(i);
    const auto cost = timing::instruction_cost(instruction, path.code().program().target, machine);
    bound.issue += instruction.issue == isa::IssueClass::Nop ? std::max(turn, cost.issue) : turn;
    if (cost.pipe != timing::Pipe::Internal)
      pipes[static_cast<size_t>(cost.pipe)] += std::max(turn, cost.issue);
  }
  const auto most = std::ranges::max_element(pipes);
  bound.busiest = static_cast<timing::Pipe>(most - pipes.begin());
  bound.pipe = *most;
}

double alone(const LoopBound& bound, const CodePath& path, const timing::Machine& machine) {
  timing::Scoreboard board(path.code().program().target, machine);
  double middle = 0;
  for (size_t n = 0; n < settled + measured; ++n) {
    for (const Index i : bound.body) board.issue(path.code().instruction(i));
    if (n + 1 == settled) middle = board.now();
  }
  return (board.now() - middle) / double{measured};
}

void add_measured(LoopBound& bound, const CodePath& path) {
  if (!path.profile().counts_runs()) return;
  double time = 0;
  for (const Index i : bound.body)
    if (const InstructionTime* const t = path.time(i)) {
      time += t->total();
      bound.turns = i == bound.body.front() ? t->issues : bound.turns;
    }
  if (bound.turns > 0) bound.measured = time / bound.turns;
}

} // namespace

std::vector<LoopBound> loop_bounds(const CodePath& path, const timing::Machine& machine) {
  const program::Cfg& cfg = path.code().cfg();
  std::vector<LoopBound> bounds;
  for (uint32_t l = 0; l < cfg.loops().size(); ++l) {
    const bool innermost = std::ranges::none_of(cfg.loops(), [l](const Loop& o) { return o.parent == l; });
    if (!innermost) continue;
    LoopBound bound;
    bound.first = cfg.blocks()[cfg.loops()[l].header].begin, bound.depth = cfg.loops()[l].depth;
    bound.body = body_of(path, l);
    if (bound.body.size() > longest) continue;
    issue_bounds(bound, path, machine);
    Chains(path.code(), bound.body, machine).run(bound);
    bound.alone = alone(bound, path, machine);
    add_measured(bound, path);
    bounds.push_back(std::move(bound));
  }
  std::ranges::sort(bounds, {}, &LoopBound::first);
  return bounds;
}

} // namespace asmevo::profile
