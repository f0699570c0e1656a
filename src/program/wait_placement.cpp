#include "program/wait_placement.h"

#include "program/flight_doubt.h"
#include "program/flight_step.h"
#include "program/wave_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::MemoryKind;

constexpr size_t index_of(FlightClass c) {
  return static_cast<size_t>(c);
}

// Bits of the operations that an s_waitcnt n proves complete.
constexpr uint64_t all_but(unsigned n) {
  return n >= 64 ? 0 : ~uint64_t{0} << n;
}
constexpr uint64_t completed(FlightClass c, unsigned n) {
  if (in_order(c)) return all_but(n);
  return n == 0 ? ~uint64_t{0} : 0;
}

} // namespace

// --- WaitFacts, WaitNeed

bool is_coherent(const Instruction& i) {
  const isa::MemoryAccess& m = i.memory;
  if (m.kind == MemoryKind::None) return false;
  const bool cache_control = !m.load && !m.store && !m.atomic;
  const bool lds = m.kind == MemoryKind::Lds;
  return cache_control || m.atomic || (!lds && (i.mods.sc0 || i.mods.sc1));
}

std::optional<WaitFacts> WaitFacts::of(const Program& program, const Function& function, const Cfg& cfg) {
  if (cfg.unknown_edges()) return std::nullopt;
  WaitFacts facts;
  for (Index i = function.begin; i < function.padding; ++i) {
    const Instruction& inst = program.instruction(i);
    if (inst.vgpr_index_mode || inst.sets_vskip || inst.is_data()) return std::nullopt;
    const auto c = flight_class(inst);
    if (!c) continue;
    facts.traffic[index_of(*c)] |= traffic_of(inst);
    if (c == FlightClass::Flat) facts.traffic[index_of(FlightClass::Scalar)] |= traffic_of(inst);
    facts.synchronises |= is_coherent(inst) && inst.memory.kind != MemoryKind::Lds;
    facts.loads_to_lds |= inst.memory.lds_dma;
    facts.counts_double |= most_it_counts(inst) > 1;
  }
  return facts;
}

WaitNeed both(const WaitNeed& a, const WaitNeed& b) {
  WaitNeed n;
  n.vmcnt = std::min(a.vmcnt, b.vmcnt);
  n.lgkmcnt = std::min(a.lgkmcnt, b.lgkmcnt);
  return n;
}

std::string text_of(const WaitNeed& n) {
  std::string text = "s_waitcnt";
  if (n.vmcnt != WaitNeed{}.vmcnt) text += fmt::format(" vmcnt({})", n.vmcnt);
  if (n.expcnt != WaitNeed{}.expcnt) text += fmt::format(" expcnt({})", n.expcnt);
  if (n.lgkmcnt != WaitNeed{}.lgkmcnt) text += fmt::format(" lgkmcnt({})", n.lgkmcnt);
  return text;
}

// --- WaitPlacer

WaitPlacer::Kind WaitPlacer::kind_of(const Instruction& i) {
  if (is_coherent(i)) return signals;
  return i.memory.store || i.memory.lds_dma ? writes : loads;
}

void WaitPlacer::need(WaitNeed& n, FlightClass c, uint64_t ages) {
  if (ages == 0) return;
  const auto left = static_cast<unsigned>(std::countr_zero(ages));
  unsigned& field = c == FlightClass::Vmem || c == FlightClass::Flat ? n.vmcnt : n.lgkmcnt;
  field = std::min(field, left);
}

// Where other waves, the host or a callee may rely on what has been waited for.
bool WaitPlacer::settles_everything(const Instruction& i) const {
  if (i.issue == IssueClass::Barrier || i.issue == IssueClass::Message || i.issue == IssueClass::Export)
    return true;
  if (i.call || i.indirect || i.memory.kind == MemoryKind::Gds || is_coherent(i)) return true;
  if (i.ends_program) return facts_->loads_to_lds; // a workgroup's LDS goes to the next one
  if (i.side_effects && i.memory.kind == MemoryKind::None) return true;
  return facts_->synchronises && i.memory.store && i.memory.kind != MemoryKind::Lds;
}

uint64_t WaitPlacer::owed_to(const Instruction& i, FlightClass c) const {
  const Ages& owed = owed_[index_of(c)];
  const uint64_t all = owed[loads] | owed[writes] | owed[signals];
  if (all == 0) return 0;
  if (settles_everything(i)) return all;
  if (i.memory.kind == MemoryKind::None) return 0;
  // Of one queue, accesses are done in order. Others overtake each other.
  if (in_order(c) && flight_class(i) == c) return owed[signals];
  const uint8_t traffic = facts_->traffic[index_of(c)];
  constexpr uint8_t load_traffic = global_load | lds_load, store_traffic = global_store | lds_store;
  uint64_t ages = owed[signals];
  if (may_clash(traffic_of(i), traffic & load_traffic)) ages |= owed[loads];
  if (may_clash(traffic_of(i), traffic & store_traffic)) ages |= owed[writes];
  return ages;
}

WaitNeed WaitPlacer::needed(const Instruction& i) const {
  WaitNeed n;
  for_each_in_flight(state_, i, false, [&](const isa::RegRange&, FlightClass c, isa::RegUnit u) {
    need(n, c, uint64_t{1} << state_.age(c, u));
  });
  for (const FlightClass c : flight_classes) need(n, c, owed_to(i, c));
  return n;
}

WaitNeed WaitPlacer::owed() const {
  WaitNeed n;
  for (const FlightClass c : flight_classes)
    for (const uint64_t ages : owed_[index_of(c)]) need(n, c, ages);
  return n;
}

void WaitPlacer::wait(const WaitNeed& n) {
  for (const FlightClass c : flight_classes) {
    state_.complete(c, left_in_flight(n, c));
    for (uint64_t& ages : in_flight_[index_of(c)]) ages &= ~completed(c, left_in_flight(n, c));
    for (uint64_t& ages : owed_[index_of(c)]) ages &= ~completed(c, left_in_flight(n, c));
  }
}

void WaitPlacer::forego(const WaitNeed& n) {
  for (const FlightClass c : flight_classes) {
    unsigned left = left_in_flight(n, c);
    if (c == FlightClass::Lds && facts_->counts_double && left != WaitNeed{}.lgkmcnt) left /= 2;
    if (left >= counter_capacity(c)) continue; // waits for nothing
    for (size_t k = 0; k < kinds; ++k)
      owed_[index_of(c)][k] |= in_flight_[index_of(c)][k] & completed(c, left);
  }
}

void WaitPlacer::issue_in(FlightClass c, const Instruction& i, bool owed) {
  Ages &flying = in_flight_[index_of(c)], &due = owed_[index_of(c)];
  if (in_order(c)) {
    const uint64_t counted = ~all_but(counter_capacity(c));
    for (Ages* ages : {&flying, &due})
      for (uint64_t& a : *ages) a = a << 1 & counted;
  }
  flying[kind_of(i)] |= 1;
  if (owed) due[kind_of(i)] |= 1;
}

void WaitPlacer::issue(Index at, const Instruction& i, bool owed) {
  if (i.call) {
    // It comes back with nothing in flight.
    state_.clear();
    in_flight_ = {}, owed_ = {};
  }
  program::issue(state_, at, i);
  const auto c = flight_class(i);
  if (!c) return;
  issue_in(*c, i, owed);
  if (c == FlightClass::Flat) issue_in(FlightClass::Scalar, i, owed);
}

bool WaitPlacer::merge(const WaitPlacer& o) {
  bool grew = state_.merge(o.state_);
  const auto add = [&grew](auto& mine, const auto& its) {
    for (size_t c = 0; c < mine.size(); ++c)
      for (size_t k = 0; k < kinds; ++k) {
        grew |= (its[c][k] & ~mine[c][k]) != 0;
        mine[c][k] |= its[c][k];
      }
  };
  add(in_flight_, o.in_flight_);
  add(owed_, o.owed_);
  return grew;
}

// --- place_waits

namespace {

class Planner {
 public:
  Planner(const Program& program, const Cfg& cfg, const WaitFacts& facts,
          const std::function<bool(Index)>& freed)
      : program_(program), cfg_(cfg), freed_(freed), entry_(cfg.blocks().size(), WaitPlacer(facts)),
        wave_(facts) {}

  WaitPlan run() {
    solve();
    planning_ = true;
    for (const uint32_t b : cfg_.order())
      if (!entry_.empty() && entry_[b].known()) walk(b);
    return std::move(plan_);
  }

  // Of the code as it is: what it does not wait for, it does not wait for.
  std::vector<WaitPlacer> entries() {
    places_ = false;
    solve();
    return std::move(entry_);
  }

 private:
  void solve() {
    if (entry_.empty()) return;
    std::vector<char> grown(entry_.size());
    entry_[0].set_known();
    grown[0] = 1;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!std::exchange(grown[b], 0)) continue;
        walk(b);
        for (const uint32_t next : cfg_.blocks()[b].successors)
          if (entry_[next].merge(wave_)) grown[next] = again = true;
      }
    }
  }

  void walk(uint32_t b) {
    wave_ = entry_[b];
    const Block& block = cfg_.blocks()[b];
    const bool settle = enters_loop(b);
    for (Index i = block.begin; i < block.end; ++i) {
      const Instruction& inst = program_.instruction(i);
      if (settle && i + 1 == block.end && inst.ends_block()) put(plan_.before, i, wave_.owed());
      step(i, inst);
      if (settle && i + 1 == block.end && !inst.ends_block()) put(plan_.after, i, wave_.owed());
    }
  }

  void step(Index i, const Instruction& inst) {
    if (inst.issue == IssueClass::Waitcnt) {
      const auto fields = isa::WaitcntFields::of(inst);
      return freed_(i) ? wave_.forego(fields) : wave_.wait(fields);
    }
    put(plan_.before, i, wave_.needed(inst));
    wave_.issue(i, inst);
  }

  void put(std::map<Index, WaitNeed>& where, Index i, const WaitNeed& n) {
    if (!places_ || waits_for_nothing(n)) return;
    wave_.wait(n);
    if (!planning_) return;
    const auto [at, is_new] = where.try_emplace(i, n);
    if (!is_new) at->second = both(at->second, n);
  }

  // Some way on leads into a loop from outside.
  bool enters_loop(uint32_t b) const {
    return std::ranges::any_of(cfg_.blocks()[b].successors, [&](uint32_t next) {
      const uint32_t loop = cfg_.blocks()[next].loop;
      return loop != no_index && !cfg_.in_loop(b, loop);
    });
  }

  const Program& program_;
  const Cfg& cfg_;
  const std::function<bool(Index)>& freed_;
  std::vector<WaitPlacer> entry_; // by block
  WaitPlacer wave_;
  WaitPlan plan_;
  bool places_ = true; // waits are put where they are needed
  bool planning_ = false;
};

} // namespace

WaitPlan place_waits(const Program& program, const Cfg& cfg, const WaitFacts& facts,
                     const std::function<bool(Index)>& freed) {
  return Planner(program, cfg, facts, freed).run();
}

std::vector<WaitPlacer> in_flight_at_blocks(const Program& program, const Cfg& cfg, const WaitFacts& facts) {
  const std::function<bool(Index)> none = [](Index) { return false; };
  return Planner(program, cfg, facts, none).entries();
}

bool can_be_freed(const Program& program, const Cfg& cfg, Index wait) {
  const uint32_t b = cfg.block_of(wait);
  return program.instruction(wait).issue == IssueClass::Waitcnt && b != no_index && cfg.blocks()[b].reachable;
}

} // namespace asmevo::program
