// Another order for a block's instructions, in which more of what takes long runs beside other work.
//
// A wave issues its instructions in order. One whose operand is not there yet holds up all behind it, even
// those that have nothing to do with it: a load is only free while there is other work between it and its
// first use.
//
//     global_load_dword v1, ...        global_load_dword v1, ...
//     s_waitcnt vmcnt(0)               global_load_dword v2, ...
//     v_mul_f32 v5, v5, v1             v_exp_f32 v6, v6
//     global_load_dword v2, ...        s_waitcnt vmcnt(1)
//     v_exp_f32 v6, v6                 v_mul_f32 v5, v5, v1
//     s_waitcnt vmcnt(0)               s_waitcnt vmcnt(0)
//     v_mul_f32 v5, v5, v2             v_mul_f32 v5, v5, v2
//
// On the left the wave stands for two loads one after the other, on the right for both at once. The same
// holds for LDS (some 50 cycles or more), for matrix instructions (16 to 64 cycles, during which vector
// instructions that do not need the result can issue beside them) and for transcendental functions (16).
//
// Pattern: a stretch of a block (straight_code.h) whose instructions can change places.
// Condition: what depends on each other keeps its order (program/dependences.h); waits and wait states are
// placed anew. Where an earlier use of a register keeps a load of the next value behind it, the load gets a
// register that is free throughout the stretch, if there is one below what is allocated: more registers would
// be fewer waves.
//
// How: list scheduling. Of the instructions whose predecessors have issued, the next is one that would not
// stand, and of those the one from which the longest chain of latencies leads to the end. What a load takes
// is not known: it depends on the cache that answers, and other waves hide part of it. So there are several
// orders, for several latencies; and for each also a cautious one, which takes the old order and only fills
// what the wave would stand with what comes next.
#include "search/rules/renaming.h"
#include "search/rules/rule_list.h"
#include "search/rules/straight_code.h"
#include "timing/instruction_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::RegRange;
using isa::RegUnit;
using program::DependenceKind;
using program::Index;
using timing::Pipe;

constexpr size_t least_steps = 4, most_stretches = 16;
constexpr double turn = 4; // cycles between two instructions of a wave
// Cycles that are won count only from this share on: the order itself is a guess.
constexpr double least_gain = 0.005;
// Of a value whose load has been sent for before the stretch, about so much of the latency is left.
constexpr double left_of_earlier_load = 0.5;

struct Style {
  std::string_view name;
  double latency = 0;    // of vector memory
  bool cautious = false; // the old order, but for what stands
  bool cluster = false;  // loads one after the other: rows of the same line come from one access
  bool rename = false;
};

// --- what there is to schedule

struct Edge {
  Index to = 0;
  double latency = turn;
};

struct Node {
  timing::InstructionCost cost;
  std::vector<Edge> edges;
  unsigned waits_for = 0; // predecessors that have not issued
  double ready = 0, height = 0;
};

bool is_load(const Instruction& i) {
  return i.memory.returns && i.counters.vmcnt + i.counters.lgkmcnt != 0;
}

double result_after(const RuleContext& context, const Instruction& i, double own, const Style& style) {
  using P = timing::Parameter;
  if (i.counters.vmcnt != 0) return style.latency;
  if (i.counters.lgkmcnt == 0) return own;
  return context.machine[i.issue == isa::IssueClass::Smem ? P::scalar_latency : P::lds_latency];
}

bool adds_to(const Instruction& i, const Instruction& producer) {
  const isa::Operand *in = i.find(isa::Role::Src2), *out = producer.find(isa::Role::Vdst);
  return i.matrix != isa::MatrixKind::None && in != nullptr && out != nullptr &&
         in->kind == isa::Operand::Kind::Register && in->reg == out->reg;
}

class Graph {
 public:
  Graph(const RuleContext& context, const StraightCode& code, const Stretch& stretch,
        const std::vector<Step>& steps, const Style& style)
      : context_(context), steps_(steps), style_(style), nodes(steps.size()) {
    for (size_t n = 0; n < steps.size(); ++n)
      nodes[n].cost =
          timing::instruction_cost(*steps[n].instruction, context.code.program().target, context.machine);
    for (const program::Dependence& d : code.dependences(stretch, steps)) {
      nodes[d.from].edges.push_back({d.to, latency(d)});
      ++nodes[d.to].waits_for;
    }
    find_heights();
    find_earlier_loads(code.flight_at(stretch));
  }

 private:
  double latency(const program::Dependence& d) const {
    const Instruction &from = *steps_[d.from].instruction, &to = *steps_[d.to].instruction;
    const timing::InstructionCost& cost = nodes[d.from].cost;
    if (d.kind != DependenceKind::Raw && d.kind != DependenceKind::Waw) return turn;
    if (d.kind == DependenceKind::Raw && from.matrix != isa::MatrixKind::None && adds_to(to, from))
      return cost.to_accumulator;
    return std::max(turn, result_after(context_, from, cost.latency, style_));
  }

  // What a stretch leaves in flight is used behind it, soon as it may be.
  void find_heights() {
    for (size_t n = nodes.size(); n-- > 0;) {
      const Instruction& i = *steps_[n].instruction;
      Node& node = nodes[n];
      node.height = is_load(i) && !steps_[n].complete ? result_after(context_, i, 0, style_) : turn;
      for (const Edge& e : node.edges) node.height = std::max(node.height, e.latency + nodes[e.to].height);
    }
  }

  void find_earlier_loads(const program::FlightState& flight) {
    for (size_t n = 0; n < nodes.size(); ++n)
      for (const RegRange& use : steps_[n].instruction->uses)
        for (RegUnit u = use.first; u < use.first + use.count; ++u)
          if (flight.in_flight(program::FlightClass::Vmem, u))
            nodes[n].ready = std::max(nodes[n].ready, left_of_earlier_load * style_.latency);
  }

  const RuleContext& context_;
  const std::vector<Step>& steps_;
  const Style& style_;

 public:
  std::vector<Node> nodes; // by step
};

// --- the order

class Scheduler {
 public:
  Scheduler(std::vector<Node> nodes, const Style& style, const std::vector<Step>& steps)
      : nodes_(std::move(nodes)), style_(style), steps_(steps) {}

  std::vector<Index> run() {
    for (Index n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].waits_for == 0) free_.push_back(n);
    std::vector<Index> order;
    while (!free_.empty()) {
      const size_t pick = best();
      const Index n = free_[pick];
      free_.erase(free_.begin() + static_cast<ptrdiff_t>(pick));
      issue(n);
      order.push_back(n);
    }
    return order;
  }

 private:
  double start(Index n) const {
    const Pipe pipe = nodes_[n].cost.pipe;
    const double unit = pipe == Pipe::Valu ? std::max(busy_[port_of(pipe)], vector_after_matrix_)
                                           : busy_[timing::port_of(pipe)];
    return std::max({now_, nodes_[n].ready, pipe == Pipe::Internal ? 0 : unit});
  }

  bool better(Index a, Index b) const {
    const double at = start(a), bt = start(b);
    if (at != bt) return at < bt;
    if (style_.cluster && after_load_ && a_load(a) != a_load(b)) return a_load(a);
    if (!style_.cautious && nodes_[a].height != nodes_[b].height) return nodes_[a].height > nodes_[b].height;
    return a < b;
  }
  bool a_load(Index n) const { return is_load(*steps_[n].instruction) && nodes_[n].cost.pipe == last_pipe_; }

  size_t best() const {
    size_t pick = 0;
    for (size_t k = 1; k < free_.size(); ++k)
      if (better(free_[k], free_[pick])) pick = k;
    return pick;
  }

  void issue(Index n) {
    const Node& node = nodes_[n];
    const double at = start(n);
    now_ = at + turn;
    if (node.cost.pipe != Pipe::Internal)
      busy_[timing::port_of(node.cost.pipe)] = at + std::max(turn, node.cost.issue);
    if (node.cost.pipe == Pipe::Matrix) vector_after_matrix_ = at + node.cost.to_valu;
    after_load_ = is_load(*steps_[n].instruction);
    last_pipe_ = node.cost.pipe;
    for (const Edge& e : node.edges) {
      Node& next = nodes_[e.to];
      next.ready = std::max(next.ready, at + e.latency);
      if (--next.waits_for == 0) free_.push_back(e.to);
    }
  }

  static size_t port_of(Pipe p) { return timing::port_of(p); }

  std::vector<Node> nodes_;
  const Style& style_;
  const std::vector<Step>& steps_;
  std::vector<Index> free_;
  std::array<double, timing::pipe_count> busy_{};
  double now_ = 0, vector_after_matrix_ = 0;
  bool after_load_ = false;
  Pipe last_pipe_ = Pipe::Internal;
};

// --- the rule

class Schedules {
 public:
  Schedules(const RuleContext& context, StraightCode& code) : context_(context), code_(code) {
    using P = timing::Parameter;
    const double near = context.machine[P::l1_latency], l2 = context.machine[P::l2_latency],
                 far = context.machine[P::hbm_latency];
    styles_ = {
        {"loads answered by L2", l2, false, false, false},
        {"loads answered by HBM, in clusters", far, false, true, false},
        {"loads answered by L1", near, false, false, false},
        {"cautiously, loads answered by L2", l2, true, false, false},
        {"cautiously, loads answered by HBM", far, true, false, false},
        {"loads in registers of their own, answered by L2", l2, false, false, true},
        {"loads in registers of their own, answered by HBM, in clusters", far, false, true, true},
        {"cautiously, loads in registers of their own", l2, true, false, true},
    };
  }

  std::vector<Proposal> run() {
    everywhere_.resize(styles_.size());
    for (const Stretch& s : code_.hottest(least_steps, most_stretches)) propose(s);
    for (size_t n = 0; n < styles_.size(); ++n) {
      Proposal& p = everywhere_[n];
      if (p.changes.size() < 2) continue;
      p.rationale = fmt::format("{} stretches in another order ({})", p.changes.size(), styles_[n].name);
      proposals_.push_back(std::move(p));
    }
    return std::move(proposals_);
  }

 private:
  void propose(const Stretch& s) {
    const StraightCode::Written old = code_.old(s);
    std::set<std::string> known = {old.text};
    for (size_t n = 0; n < styles_.size(); ++n) {
      const Style& style = styles_[n];
      const StraightCode::Written written = code_.write(s, ordered(s, style));
      const double before = cycles_alone(context_, old.instructions, style.latency);
      const double after = cycles_alone(context_, written.instructions, style.latency);
      if (after > before * (1 - least_gain)) continue;
      const double promise = context_.time_of(s.begin, s.end) * (1 - after / before);
      program::Change change = replace(context_, s.begin, s.end - 1, written.text);
      add_everywhere(everywhere_[n], change, promise);
      if (!known.insert(written.text).second) continue;
      Proposal p;
      p.changes.push_back(std::move(change));
      p.rationale = fmt::format(
          "{} to {}, {} instructions, in another order ({}): {:.0f} cycles of a wave alone, not {:.0f}",
          context_.code.id(s.begin), context_.code.id(s.end - 1), s.steps.size(), style.name, after, before);
      p.promise = promise;
      proposals_.push_back(std::move(p));
    }
  }

  // As long as it is an edit that may be.
  static void add_everywhere(Proposal& all, const program::Change& change, double promise) {
    size_t text = change.text.size();
    for (const program::Change& c : all.changes) text += c.text.size();
    if (text > program::Edit::max_text) return;
    all.changes.push_back(change);
    all.promise += promise;
  }

  std::vector<Step> ordered(const Stretch& s, const Style& style) const {
    const std::vector<Step> old = style.rename ? renamed(s) : s.steps;
    Graph graph(context_, code_, s, old, style);
    std::vector<Step> steps;
    for (const Index n : Scheduler(std::move(graph.nodes), style, old).run()) steps.push_back(old[n]);
    return steps;
  }

  // Loads whose register something in front of them still needs.
  std::vector<Step> renamed(const Stretch& s) const {
    Renaming names(context_, code_, s);
    std::vector<Step> steps = s.steps;
    for (size_t n = 0; n < steps.size(); ++n) {
      const auto result = vector_result(*steps[n].instruction);
      if (!result || !is_load(*steps[n].instruction)) continue;
      const bool held_up =
          std::any_of(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(n), [&](const Step& e) {
            return e.instruction->reads(*result) || e.instruction->writes(*result);
          });
      if (held_up) names.rename(steps, n);
    }
    return steps;
  }

  const RuleContext& context_;
  StraightCode& code_;
  std::vector<Style> styles_;
  std::vector<Proposal> proposals_;
  std::vector<Proposal> everywhere_; // by style: all stretches that gain by it
};

} // namespace

std::vector<Proposal> propose_schedules(const RuleContext& context) {
  const auto code = StraightCode::of(context);
  if (code == nullptr) return {};
  return Schedules(context, *code).run();
}

} // namespace asmevo::search
