// Waits for no more than is needed, no earlier than it is needed.
//
// A load only sends for its data. The wave goes on, and an s_waitcnt in front of the first use makes it stand
// until the data are there. vmcnt and lgkmcnt count what is still on its way, and s_waitcnt vmcnt(n) waits
// until at most n are: since loads return in the order in which they were sent, these are the n youngest.
//
//     global_load_dword v1, ...                  global_load_dword v1, ...
//     global_load_dword v2, ...                  global_load_dword v2, ...
//     s_waitcnt vmcnt(0) lgkmcnt(0)              v_add_f32 v7, v7, v8
//     v_add_f32 v7, v7, v8                       s_waitcnt vmcnt(1)
//     v_mul_f32 v1, v1, v9                       v_mul_f32 v1, v1, v9
//     v_mul_f32 v2, v2, v9                       s_waitcnt vmcnt(0)
//                                                v_mul_f32 v2, v2, v9
//
// On the left the wave stands until the later load is back before it does work that neither load has to do
// with. A load from L2 takes some 300 cycles and one from HBM 900, in which other waves can fill the SIMD
// only where there are enough of them; of the wave's own instructions each hides four cycles.
//
// Pattern: an s_waitcnt that waits for more than the first instruction behind it needs; that stands in front
// of instructions which need nothing of it; or that nothing needs.
// Condition: none beyond what place_waits (program/wait_placement.h) keeps: every use behind its load, on all
// paths, and in front of barriers, atomics and loops all that was complete there before.
//
// What it costs: a wait is an instruction of its own. Where several uses follow each other closely, one wait
// for all of them may be better than one each. Both are proposed for the kernel as a whole.
#include "program/wait_placement.h"
#include "program/wait_states_placement.h"
#include "search/rules/rule_list.h"

#include <algorithm>
#include <set>

namespace asmevo::search {

namespace {

using program::Index;
using program::WaitNeed;
using program::WaitPlan;

// Waits closer than so many instructions become one, in the second proposal for the whole kernel: about what
// a wait costs by itself.
constexpr Index close = 6;
// Waits proposed one by one, those first at which most time is lost: each takes a pass over the function.
constexpr size_t most_places = 48;
// Of the time spent at waits this much may go, of a single one and of all; what is known is only that they
// are where waves stand.
constexpr double may_win = 0.5;

WaitNeed fields_of(const isa::Instruction& wait) {
  return isa::WaitcntFields::of(wait);
}

WaitNeed stronger(const WaitNeed& a, const WaitNeed& b) {
  WaitNeed n = program::both(a, b);
  n.expcnt = std::min(a.expcnt, b.expcnt);
  return n;
}

bool nothing(const WaitNeed& n) {
  return program::waits_for_nothing(n) && n.expcnt == WaitNeed{}.expcnt;
}

// --- from a plan to changes

// Writes a plan down, so that each entry is touched by one change at most. Waits that stay what they were are
// not among them; where a wait that goes has kept two instructions far enough from each other, an s_nop does.
class Writer {
 public:
  Writer(const RuleContext& context, program::WaitStates& states,
         const std::map<Index, unsigned>& short_before)
      : context_(context), states_(states), short_before_(short_before) {}

  std::vector<program::Change> changes(const WaitPlan& plan, const std::set<Index>& freed) {
    for (const Index w : freed) waits_[w].expcnt = fields_of(instruction(w)).expcnt;
    for (const auto& [i, need] : plan.before) put_before(i, need);
    for (const auto& [i, need] : plan.after) put_after(i, need);
    std::erase_if(
        waits_, [&](const auto& w) { return w.second.encode() == fields_of(instruction(w.first)).encode(); });
    keep_distances();
    for (const auto& [w, need] : waits_) rewrite(w, need);
    for (const auto& [i, text] : inserted_text()) changes_.push_back(insert_before(context_, i, text));
    for (const auto& [i, need] : behind_)
      changes_.push_back(
          replace(context_, i, i, text_of(context_, i, i + 1) + program::text_of(need) + "\n"));
    return std::move(changes_);
  }

 private:
  const isa::Instruction& instruction(Index i) const { return context_.code.instruction(i); }
  bool is_wait(Index i) const { return instruction(i).issue == isa::IssueClass::Waitcnt; }
  bool begins_block(Index i) const {
    const program::Cfg& cfg = context_.code.cfg();
    return cfg.blocks()[cfg.block_of(i)].begin == i;
  }
  static void add(std::map<Index, WaitNeed>& to, Index i, const WaitNeed& need) {
    const auto [at, is_new] = to.try_emplace(i, need);
    if (!is_new) at->second = stronger(at->second, need);
  }

  // A wait that stands there already takes it over.
  void put_before(Index i, const WaitNeed& need) {
    if (!begins_block(i) && is_wait(i - 1))
      into_wait(i - 1, need);
    else
      add(inserted_, i, need);
  }

  // At the end of a block; in front of its last instruction is as good unless the wait is for that.
  void put_after(Index i, const WaitNeed& need) {
    const isa::WaitCounters& raised = instruction(i).counters;
    if (is_wait(i))
      into_wait(i, need);
    else if (raised.vmcnt + raised.lgkmcnt == 0)
      put_before(i, need);
    else
      add(behind_, i, need);
  }

  void into_wait(Index w, const WaitNeed& need) {
    const auto [at, is_new] = waits_.try_emplace(w, fields_of(instruction(w)));
    at->second = stronger(at->second, need);
  }

  void keep_distances() {
    program::WaitStates::Change change;
    change.made = [&](Index i) {
      const auto w = waits_.find(i);
      return w != waits_.end() && nothing(w->second) ? 0 : isa::wait_states(instruction(i));
    };
    change.before = [&](Index i) { return inserted_.contains(i) ? 1U : 0U; };
    change.after = [&](Index i) { return behind_.contains(i) ? 1U : 0U; };
    for (const auto& [i, missing] : states_.missing(change)) {
      const auto was = short_before_.find(i);
      const unsigned known = was == short_before_.end() ? 0 : was->second;
      if (missing > known) nops_[i] = missing; // all of it: what follows is counted from there
    }
  }

  void rewrite(Index w, const WaitNeed& need) {
    std::string text = nothing(need) ? "" : program::text_of(need) + "\n";
    if (const auto next = nops_.find(w + 1); next != nops_.end() && !begins_block(w + 1)) {
      text += program::nops(next->second);
      nops_.erase(next);
    }
    changes_.push_back(replace(context_, w, w, text));
  }

  std::map<Index, std::string> inserted_text() const {
    std::map<Index, std::string> texts;
    for (const auto& [i, need] : inserted_) texts[i] = program::text_of(need) + "\n";
    for (const auto& [i, states] : nops_) texts[i] += program::nops(states);
    return texts;
  }

  const RuleContext& context_;
  program::WaitStates& states_;
  const std::map<Index, unsigned>& short_before_; // what the kernel itself is short of
  std::map<Index, WaitNeed> waits_, inserted_, behind_;
  std::map<Index, unsigned> nops_;
  std::vector<program::Change> changes_;
};

// --- which waits

std::vector<Index> waits_of(const RuleContext& context) {
  std::vector<Index> waits;
  const program::Function& f = context.code.function();
  for (Index i = f.begin; i < f.padding; ++i)
    if (program::can_be_freed(context.code.program(), context.code.cfg(), i)) waits.push_back(i);
  return waits;
}

bool raises_between(const RuleContext& context, Index from, Index to) {
  for (Index i = from; i < to; ++i) {
    const isa::WaitCounters& raised = context.code.instruction(i).counters;
    if (raised.vmcnt + raised.lgkmcnt != 0) return true;
  }
  return false;
}

// A wait that follows another one closely, with nothing sent in between, is done by that.
void join_close_waits(const RuleContext& context, WaitPlan& plan) {
  const program::Cfg& cfg = context.code.cfg();
  for (auto at = plan.before.begin(); at != plan.before.end();) {
    const auto next = std::next(at);
    if (next == plan.before.end()) return;
    const bool joined = next->first - at->first <= close &&
                        cfg.block_of(at->first) == cfg.block_of(next->first) &&
                        !raises_between(context, at->first, next->first);
    if (!joined) {
      at = next;
      continue;
    }
    at->second = program::both(at->second, next->second);
    plan.before.erase(next);
  }
}

class Waits {
 public:
  Waits(const RuleContext& context, const program::WaitFacts& facts)
      : context_(context), facts_(facts), states_(context.code.program(), context.code.cfg()),
        short_before_(states_.missing()), all_(waits_of(context)) {}

  std::vector<Proposal> run() {
    const std::set<Index> every(all_.begin(), all_.end());
    WaitPlan plan = plan_without(every);
    propose(plan, every, "every wait for what its first use needs, in front of it");
    join_close_waits(context_, plan);
    propose(plan, every, "the same, with one wait for uses that are close");
    std::ranges::stable_sort(all_, std::greater{}, [&](Index w) { return context_.time_of(w); });
    if (all_.size() > most_places) all_.resize(most_places);
    for (const Index w : all_)
      propose(plan_without({w}), {w},
              fmt::format("{} at {}: no more than is needed, where it is needed", text_of(context_, w, w + 1),
                          context_.code.id(w)));
    return std::move(proposals_);
  }

 private:
  WaitPlan plan_without(const std::set<Index>& freed) const {
    return program::place_waits(context_.code.program(), context_.code.cfg(), facts_,
                                [&](Index i) { return freed.contains(i); });
  }

  void propose(const WaitPlan& plan, const std::set<Index>& freed, std::string rationale) {
    Proposal p;
    p.changes = Writer(context_, states_, short_before_).changes(plan, freed);
    if (p.changes.empty()) return;
    std::erase(rationale, '\n');
    p.rationale = std::move(rationale);
    for (const Index w : freed) p.promise += may_win * context_.time_of(w);
    const auto same = [&](const Proposal& o) { return texts(o) == texts(p); };
    if (std::ranges::none_of(proposals_, same)) proposals_.push_back(std::move(p));
  }

  static std::vector<
      std::tuple<std::optional<program::InstrId>, std::optional<program::InstrId>, std::string>>
  texts(const Proposal& p) {
    std::vector<std::tuple<std::optional<program::InstrId>, std::optional<program::InstrId>, std::string>>
        list;
    for (const program::Change& c : p.changes) list.emplace_back(c.first, c.before, c.text);
    return list;
  }

  const RuleContext& context_;
  const program::WaitFacts& facts_;
  program::WaitStates states_;
  std::map<Index, unsigned> short_before_;
  std::vector<Index> all_;
  std::vector<Proposal> proposals_;
};

} // namespace

std::vector<Proposal> propose_waits(const RuleContext& context) {
  const auto facts =
      program::WaitFacts::of(context.code.program(), context.code.function(), context.code.cfg());
  if (!facts) return {};
  return Waits(context, *facts).run();
}

} // namespace asmevo::search
