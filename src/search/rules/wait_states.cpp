// No more s_nops than hazards ask for, and work in place of those that are left.
//
// Some results the hardware does not wait for: what uses them too early gets the old value. Wait states must
// lie between (isa/hazards.h), and compilers fill them with s_nop, in which a wave does nothing; during a
// matrix instruction for up to 18 slots of four cycles. Any instruction is a wait state as well:
//
//     v_add_co_u32 v2, vcc, s4, v2           v_add_co_u32 v2, vcc, s4, v2
//     s_nop 1                                v_lshlrev_b32 v8, 2, v6
//     v_addc_co_u32 v3, vcc, v3, v7, vcc     s_nop 0
//     v_lshlrev_b32 v8, 2, v6                v_addc_co_u32 v3, vcc, v3, v7, vcc
//
// Pattern: an s_nop that makes more wait states than any path through it needs; or an instruction near one
// that can go to its place. Condition: hazards are counted along all paths, rules that shipped kernels break
// included; what moves passes nothing that it depends on (straight_code.h).
#include "search/rules/rule_list.h"
#include "search/rules/straight_code.h"

#include <algorithm>
#include <utility>

namespace asmevo::search {

namespace {

using isa::Instruction;
using program::Dependence;
using program::Index;

constexpr size_t least_steps = 3, most_stretches = 24;
// How far an instruction is fetched from, and how many s_nops of a stretch are tried to be filled: each try
// writes the stretch anew.
constexpr size_t farthest = 12, most_filled = 16;

bool is_nop(const Instruction& i) {
  return i.issue == isa::IssueClass::Nop;
}

// --- shrinking

// All s_nops of the kernel for what is needed.
class Shrinking {
 public:
  explicit Shrinking(const RuleContext& context)
      : context_(context), states_(context.code.program(), context.code.cfg()) {}

  std::optional<Proposal> run() {
    program::WaitStates::Change without;
    without.made = [&](Index i) {
      const Instruction& inst = context_.code.instruction(i);
      return is_nop(inst) ? 0 : isa::wait_states(inst);
    };
    needed_ = states_.missing(without);
    Proposal p;
    int fewer = 0;
    for (const Index nop : nops()) {
      const unsigned has = isa::wait_states(context_.code.instruction(nop));
      const unsigned needs = take_needed_behind(nop);
      if (has == needs) continue;
      p.changes.push_back(replace(context_, nop, nop, program::nops(needs)));
      fewer += static_cast<int>(has) - static_cast<int>(needs);
      p.promise += context_.time_of(nop);
    }
    for (const auto& [i, states] : needed_) {
      p.changes.push_back(insert_before(context_, i, program::nops(states)));
      fewer -= static_cast<int>(states);
    }
    if (fewer <= 0) return std::nullopt;
    p.rationale = fmt::format("{} wait states fewer in s_nops that no hazard needs", fewer);
    return p;
  }

 private:
  std::vector<Index> nops() const {
    std::vector<Index> list;
    const program::Cfg& cfg = context_.code.cfg();
    for (const program::Block& b : cfg.blocks())
      for (Index i = b.begin; i < b.end && b.reachable; ++i)
        if (is_nop(context_.code.instruction(i))) list.push_back(i);
    return list;
  }

  // What the instruction behind the s_nop needs, in the same block; waits stay between.
  unsigned take_needed_behind(Index nop) {
    const program::Cfg& cfg = context_.code.cfg();
    for (Index i = nop + 1; i < cfg.blocks()[cfg.block_of(nop)].end; ++i) {
      if (is_nop(context_.code.instruction(i))) return 0; // the last of several has it
      const auto found = needed_.find(i);
      if (found != needed_.end()) {
        const unsigned states = found->second;
        needed_.erase(found);
        return states;
      }
      if (context_.code.instruction(i).issue != isa::IssueClass::Waitcnt) return 0;
    }
    return 0;
  }

  const RuleContext& context_;
  program::WaitStates states_;
  std::map<Index, unsigned> needed_;
};

// --- filling

class Filling {
 public:
  Filling(const RuleContext& context, StraightCode& code, const Stretch& s)
      : context_(context), code_(code), stretch_(s), steps_(s.steps), edges_(code.dependences(s, steps_)) {}

  std::optional<Proposal> run() {
    const StraightCode::Written old = code_.old(stretch_);
    StraightCode::Written now = code_.write(stretch_, steps_);
    for (size_t n = 0; n < most_filled; ++n) {
      const auto better = fill_one(idle(now));
      if (!better) break;
      now = *better;
    }
    if (idle(now) >= idle(old)) return std::nullopt;
    const double before = cycles(old), after = cycles(now);
    if (after >= before) return std::nullopt;
    Proposal p;
    p.changes.push_back(replace(context_, stretch_.begin, stretch_.end - 1, now.text));
    p.rationale =
        fmt::format("{} to {}: {} wait states without work, not {}", context_.code.id(stretch_.begin),
                    context_.code.id(stretch_.end - 1), idle(now), idle(old));
    p.promise = context_.time_of(stretch_.begin, stretch_.end) * (1 - after / before);
    return p;
  }

 private:
  static unsigned idle(const StraightCode::Written& w) {
    unsigned states = 0;
    for (const Instruction* i : w.instructions)
      if (is_nop(*i)) states += isa::wait_states(*i);
    return states;
  }
  double cycles(const StraightCode::Written& w) const {
    return cycles_alone(context_, w.instructions, context_.machine[timing::Parameter::l1_latency]);
  }

  // Steps in front of which there is an s_nop now.
  std::vector<size_t> places(const StraightCode::Written& w) const {
    std::vector<size_t> list;
    size_t step = 0;
    bool nop = false;
    for (const Instruction* i : w.instructions) {
      if (i->issue == isa::IssueClass::Waitcnt) continue;
      if (is_nop(*i)) {
        nop = true;
        continue;
      }
      if (std::exchange(nop, false)) list.push_back(step);
      ++step;
    }
    return list;
  }

  std::optional<StraightCode::Written> fill_one(unsigned idle_now) {
    for (const size_t k : places(code_.write(stretch_, steps_)))
      for (size_t distance = 1; distance <= farthest; ++distance) {
        if (k + distance < steps_.size())
          if (auto w = try_move(k + distance, k, idle_now)) return w;
        if (distance <= k && distance > 1)
          if (auto w = try_move(k - distance, k - 1, idle_now)) return w;
      }
    return std::nullopt;
  }

  // Step `from` to where step `to` is; the steps between move by one.
  std::optional<StraightCode::Written> try_move(size_t from, size_t to, unsigned idle_now) {
    for (const Dependence& d : edges_) {
      if (to < from && d.to == from && d.from >= to && d.from < from) return std::nullopt;
      if (to > from && d.from == from && d.to <= to) return std::nullopt;
    }
    std::vector<Step> steps = steps_;
    const auto begin = steps.begin();
    const auto at = [&](size_t n) { return begin + static_cast<ptrdiff_t>(n); };
    if (to < from)
      std::rotate(at(to), at(from), at(from + 1));
    else
      std::rotate(at(from), at(from + 1), at(to + 1));
    StraightCode::Written w = code_.write(stretch_, steps);
    if (idle(w) >= idle_now) return std::nullopt;
    steps_ = std::move(steps);
    edges_ = code_.dependences(stretch_, steps_);
    return w;
  }

  const RuleContext& context_;
  StraightCode& code_;
  const Stretch& stretch_;
  std::vector<Step> steps_;
  std::vector<Dependence> edges_;
};

bool has_nop(const RuleContext& context, const Stretch& s) {
  for (Index i = s.begin; i < s.end; ++i)
    if (is_nop(context.code.instruction(i))) return true;
  return false;
}

} // namespace

std::vector<Proposal> propose_wait_states(const RuleContext& context) {
  std::vector<Proposal> proposals;
  const auto code = StraightCode::of(context);
  if (code == nullptr) return proposals;
  if (auto p = Shrinking(context).run()) proposals.push_back(*std::move(p));
  for (const Stretch& s : code->hottest(least_steps, most_stretches))
    if (has_nop(context, s))
      if (auto p = Filling(context, *code, s).run()) proposals.push_back(*std::move(p));
  return proposals;
}

} // namespace asmevo::search
