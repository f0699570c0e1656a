#include "search/rules/masked_code.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::RegRange;
using isa::RegUnit;
using program::Block;
using program::Index;

constexpr RegRange exec{isa::unit::exec, 2};
constexpr RegRange scc{isa::unit::scc, 1};
// What is done with a stretch takes the square of its length.
constexpr Index most_entries = 300, least_entries = 6;

// --- how EXEC changes

enum class Change : uint8_t { None, Save, Narrow, Restore, Other };

// Save: s_and_saveexec_b64 s[2:3], c. Narrow: s_and_b64 exec, exec, c. Restore: s_or_b64 exec, exec, s[2:3].
Change change_of(const Instruction& i) {
  if (!i.writes(exec)) return Change::None;
  if (i.is("s_and_saveexec_b64")) return Change::Save;
  const bool in_place = i.operands.size() == 3 && i.operands[0].reg == exec &&
                        (i.operands[1].reg == exec) != (i.operands[2].reg == exec);
  if (in_place && i.is("s_and_b64")) return Change::Narrow;
  if (in_place && i.is("s_or_b64")) return Change::Restore;
  return Change::Other;
}

// The operand that is not EXEC: a condition, or the saved mask.
const isa::Operand& other_operand(const Instruction& i) {
  return i.operands[i.is("s_and_saveexec_b64") || i.operands[1].reg == exec ? i.operands.size() - 1 : 1];
}

// The masks that were saved and are not given back yet, innermost last. A Narrow saves none.
class Nesting {
 public:
  /// False: it gives back what was not taken here, or is something else.
  bool advance(const Instruction& i) {
    switch (change_of(i)) {
    case Change::None: forget(i); return true;
    case Change::Save:
      forget(i);
      saved_.emplace_back(i.operands[0].reg);
      return true;
    case Change::Narrow: saved_.emplace_back(std::nullopt); return true;
    case Change::Restore: {
      const auto at = std::find(saved_.rbegin(), saved_.rend(), std::optional(other_operand(i).reg));
      if (at == saved_.rend()) return false;
      saved_.erase(at.base() - 1, saved_.end());
      return true;
    }
    case Change::Other: break;
    }
    return false;
  }

 private:
  // What is overwritten nobody gives back.
  void forget(const Instruction& i) {
    for (auto& m : saved_)
      if (m && i.writes(*m)) m.reset();
  }
  std::vector<std::optional<RegRange>> saved_;
};

// --- where stretches are

struct Place {
  Index begin = 0, end = 0;
};

class Finder {
 public:
  Finder(const RuleContext& context, const StraightCode& code) : context_(context), code_(code) {}

  std::vector<Place> run() {
    const program::Cfg& cfg = context_.code.cfg();
    if (cfg.unknown_edges()) return {};
    for (uint32_t b = 0; b < cfg.blocks().size();) {
      const uint32_t first = b++;
      while (b < cfg.blocks().size() && goes_on(first, b)) ++b;
      if (cfg.blocks()[first].reachable) cut(cfg.blocks()[first].begin, cfg.blocks()[b - 1].end);
    }
    return std::move(places_);
  }

 private:
  const Instruction& at(Index i) const { return context_.code.instruction(i); }
  static bool is_execz(const Instruction& i) { return i.is("s_cbranch_execz"); }

  // Block b is only come to from the blocks `first` to b - 1, and by falling through or s_cbranch_execz.
  bool goes_on(uint32_t first, uint32_t b) const {
    const auto& blocks = context_.code.cfg().blocks();
    const Block& last = blocks[b - 1];
    if (last.begin == last.end || (at(last.end - 1).ends_block() && !is_execz(at(last.end - 1))))
      return false;
    return std::ranges::all_of(blocks[b].predecessors, [&](uint32_t p) {
      const Block& from = blocks[p];
      return p >= first && p < b && (p == b - 1 || is_execz(at(from.end - 1)));
    });
  }

  // Stretches between what cannot be in one.
  void cut(Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      while (i < end && context_.code.liveness().before(i).overlaps(scc))
        ++i; // SCC from before is left outside
      const Index first = i;
      Nesting nesting;
      for (; i < end && i - first < most_entries; ++i) {
        if (i > first && is_come_to_from_outside(i, first)) break;
        const bool can_go = is_execz(at(i)) && needs_no_branch(i, end);
        if ((code_.is_border(i) && !can_go) || !nesting.advance(at(i)) || gives_scc(i)) break;
      }
      add(first, i);
      if (i > first && i < end && !code_.is_border(i) && !at(i).writes(exec)) --i; // a stretch begins there
    }
  }

  // s_or_b64, which goes, leaves in SCC whether there are lanes, and somebody wants to know.
  bool gives_scc(Index i) const {
    return change_of(at(i)) == Change::Restore && context_.code.liveness().after(i).overlaps(scc);
  }

  // By a branch that stays, or is not in the stretch that begins at `first`: the stretch must end here, since
  // a label in its middle would be lost.
  bool is_come_to_from_outside(Index i, Index first) const {
    const auto& blocks = context_.code.cfg().blocks();
    const uint32_t b = context_.code.cfg().block_of(i);
    if (blocks[b].begin != i) return false;
    return std::ranges::any_of(blocks[b].predecessors, [&](uint32_t p) {
      const Index last = blocks[p].end - 1;
      const bool branches = at(last).branch && context_.code.program().branch_target(last) == i;
      return branches && last < first; // from `first` on, one that stays has ended the stretch
    });
  }

  // Whether a wave without lanes may as well go on behind the branch. In the end it comes to the target, or
  // to another branch to it, which stays or of which the same is true; until then no lane comes on, and what
  // scalars were written nobody reads.
  bool needs_no_branch(Index branch, Index end) const {
    const Index target = context_.code.program().branch_target(branch);
    if (target == program::no_index) return false;
    const isa::RegSet live = context_.code.liveness().before(target);
    Nesting nesting;
    Index farthest = branch; // that branches under way lead to
    for (Index i = branch + 1; i < end; ++i) {
      if (i == target) return farthest <= i;
      const Instruction& inst = at(i);
      if (is_execz(inst)) {
        const Index other = context_.code.program().branch_target(i);
        if (other == target) return farthest <= i;
        if (other == program::no_index || other <= i || other >= end) return false;
        farthest = std::max(farthest, other);
        continue;
      }
      if (code_.is_border(i) || !does_nothing_without_lanes(inst) || !nesting.advance(inst)) return false;
      for (const RegRange& d : inst.defs)
        if (!isa::is_vector(d.first) && d.first != isa::unit::exec && live.overlaps(d)) return false;
    }
    return false;
  }

  void add(Index begin, Index end) {
    if (end - begin < least_entries) return;
    for (Index i = begin; i < end; ++i)
      if (at(i).writes(exec)) return places_.push_back({begin, end});
  }

  const RuleContext& context_;
  const StraightCode& code_;
  std::vector<Place> places_;
};

// --- masks made explicit

class Maker {
 public:
  Maker(const RuleContext& context, StraightCode& code, const Place& p)
      : code_(code), old_(code.stretch(p.begin, p.end)) {
    const program::Liveness& liveness = context.code.liveness();
    m_.stretch.begin = p.begin, m_.stretch.end = p.end;
    m_.live_before = liveness.lanes_before(p.begin).on;
    const program::LiveSets behind = liveness.lanes_after(p.end - 1);
    m_.live_on = behind.on, m_.live_any = behind.any();
    taken_ = liveness.before(p.begin) | m_.live_any | code.in_use(old_, old_.steps);
  }

  std::optional<MaskedStretch> run() {
    if (!add_set(0)) return std::nullopt;
    if (!put(fmt::format("s_mov_b64 {}, exec", mask(0)), 0)) return std::nullopt;
    for (size_t n = 0; n < old_.steps.size(); ++n)
      if (!step(n)) return std::nullopt;
    m_.at_end = now_;
    return std::move(m_);
  }

 private:
  std::string mask(uint32_t set) const { return isa::name(m_.sets[set].mask); }

  bool add_set(uint32_t outer) {
    for (RegUnit u = isa::unit::scalar0; u + 1U < isa::unit::scalar0 + sgprs_for_free; u += 2) {
      const RegRange pair{u, 2};
      if (taken_.overlaps(pair)) continue;
      taken_.insert(pair);
      m_.sets.push_back({outer, pair});
      saved_in_.emplace_back();
      return m_.sets.size() <= MaskedStretch::most_sets;
    }
    return false;
  }

  bool put(const std::string& text, uint32_t lanes) {
    const Instruction* const i = code_.instruction(text);
    m_.stretch.steps.push_back({i, text, false});
    m_.lanes.push_back(lanes);
    return i != nullptr;
  }

  bool step(size_t n) {
    const Step& s = old_.steps[n];
    const Change change = change_of(*s.instruction);
    if (change == Change::Restore) return give_back(other_operand(*s.instruction).reg);
    if (change == Change::Save || change == Change::Narrow) return narrow(n, change == Change::Save);
    using enum IssueClass;
    const bool scalar = s.instruction->issue == Salu || s.instruction->issue == Smem;
    m_.stretch.steps.push_back(s);
    m_.lanes.push_back(scalar && !s.instruction->reads(exec) ? MaskedStretch::any : now_);
    return true;
  }

  bool narrow(size_t n, bool saves) {
    const Instruction& i = *old_.steps[n].instruction;
    const isa::Operand& condition = other_operand(i);
    if (condition.kind != isa::Operand::Kind::Register || condition.reg.overlaps(exec) || !add_set(now_))
      return false;
    const auto set = static_cast<uint32_t>(m_.sets.size() - 1);
    const std::string outer = mask(now_);
    if (!put(fmt::format("s_and_b64 {}, {}, {}", mask(set), outer, isa::name(condition.reg)),
             MaskedStretch::any))
      return false;
    now_ = set;
    if (!saves) return true;
    saved_in_[set] = i.operands[0].reg;
    return !is_read(n) ||
           put(fmt::format("s_mov_b64 {}, {}", isa::name(i.operands[0].reg), outer), MaskedStretch::any);
  }

  bool give_back(const RegRange& saved) {
    for (uint32_t set = now_; set != 0; set = m_.sets[set].outer)
      if (saved_in_[set] == saved) {
        now_ = m_.sets[set].outer;
        return true;
      }
    return false;
  }

  // Of the mask that step n saves: by others than who gives it back.
  bool is_read(size_t n) const {
    const RegRange saved = old_.steps[n].instruction->operands[0].reg;
    isa::RegSet left;
    left.insert(saved);
    for (size_t k = n + 1; k < old_.steps.size() && !left.empty(); ++k) {
      const Instruction& i = *old_.steps[k].instruction;
      if (change_of(i) != Change::Restore)
        for (const RegRange& u : i.uses)
          if (left.overlaps(u)) return true;
      for (const RegRange& d : i.defs) left.erase(d);
    }
    return !(left & m_.live_any).empty();
  }

  StraightCode& code_;
  Stretch old_;
  MaskedStretch m_;
  std::vector<std::optional<RegRange>> saved_in_; // by set: where the program saves the outer one
  uint32_t now_ = 0;
  isa::RegSet taken_;
};

} // namespace

bool does_nothing_without_lanes(const Instruction& i) {
  using enum isa::IssueClass;
  if (i.issue == Nop || i.issue == Waitcnt || i.issue == Salu) return true;
  if (!i.reads_exec || i.writes_all_lanes || i.cross_lane || i.vgpr_index_mode || i.side_effects)
    return false;
  return i.issue == Valu || i.issue == Transcendental || i.issue == Vmem || i.issue == Lds;
}

uint64_t MaskedStretch::within(uint32_t n) const {
  uint64_t bits = uint64_t{1} << n;
  for (size_t k = n + 1; k < sets.size(); ++k)
    if ((bits >> sets[k].outer & 1) != 0) bits |= uint64_t{1} << k;
  return bits;
}

std::vector<MaskedStretch> masked_stretches(const RuleContext& context, StraightCode& code) {
  std::vector<MaskedStretch> list;
  for (const Place& p : Finder(context, code).run())
    if (auto m = Maker(context, code, p).run()) list.push_back(*std::move(m));
  return list;
}

std::vector<Step> with_exec(StraightCode& code, const MaskedStretch& m, const std::vector<Step>& steps,
                            const std::vector<uint32_t>& lanes) {
  std::vector<Step> list;
  uint32_t now = 0;
  const auto change_to = [&](uint32_t set) {
    if (set == MaskedStretch::any || set == now) return;
    now = set;
    const std::string text = "s_mov_b64 exec, " + isa::name(m.sets[set].mask);
    list.push_back({code.instruction(text), text, false});
  };
  for (size_t n = 0; n < steps.size(); ++n) {
    change_to(lanes[n]);
    list.push_back(steps[n]);
  }
  change_to(m.at_end);
  return list;
}

} // namespace asmevo::search
