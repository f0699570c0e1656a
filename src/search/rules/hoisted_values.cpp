// Values that are the same in each turn of a loop, made once and kept in registers of their own.
//
// Pattern. The registers in which a turn works are used over and over, so an instruction whose operands do
// not change writes a register that others write, too, and cannot simply stand in front of the loop
// (hoisted.cpp). Its value can, under another name. Of a chain only the end needs a name; what leads to it is
// done in front:
//
//   L:                                              v_mul_hi_u32  v2, v0, s24
//     v_mul_hi_u32  v2, v0, s24                     v_lshrrev_b32 v90, 6, v2
//     v_lshrrev_b32 v2, 6, v2                     L:
//     v_add_u32     v2, s14, v2          =>         v_add_u32     v2, s14, v90
//     ...                                           ...
//     v_add_u32     v2, 0x100, v0                   (the same of v[0] + 0x100, in v91)
//     v_mul_hi_u32  v2, v2, s24
//
// Condition. Plain arithmetic; the registers of the chain hold nothing that is wanted where the loop is
// entered; in front of the loop all lanes are on that ever are (program/widest_exec.h); there are registers
// that nothing in the loop uses and that cost no wave its place. Where instructions run for some lanes,
// nobody wants what the register held in the others.
//
// Why it pays. Where a loop fetches a tile element by element, most of what it does is to find out where the
// elements are, which does not change from turn to turn; compilers recompute it when they are short of
// registers, or when the loop was written out too late for them to see it. On CDNA two waves of a SIMD have
// 256 registers each, and kernels that are held to two waves by LDS seldom use them.
#include "program/widest_exec.h"
#include "search/rules/loop_entry.h"
#include "search/rules/masked_code.h"
#include "search/rules/renaming.h"
#include "search/rules/rule_list.h"
#include "search/rules/value_webs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;
using program::Index;
using program::no_index;

constexpr RegRange scc{isa::unit::scc, 1};

// What a register holds where it is read: what an entry of the same straight code wrote, or what it held
// before.
struct Held {
  Index writer = no_index; // no_index: from before
  RegUnit unit = 0;
  friend auto operator<=>(const Held&, const Held&) = default;
};

class ValueHoister {
 public:
  ValueHoister(const RuleContext& context, StraightCode& straight, const std::vector<bool>& widest,
               uint32_t loop)
      : context_(context), code_(context.code), cfg_(context.code.cfg()), straight_(straight),
        widest_(widest), blocks_(cfg_.blocks_in(loop)),
        header_(cfg_.blocks()[cfg_.loops()[loop].header].begin), loop_(loop) {}

  std::optional<Proposal> run() {
    entry_ = entry_of(code_, loop_);
    if (!entry_ || !widest_at(header_) || !is_widest_in_front() || !look_at_loop()) return std::nullopt;
    for (const uint32_t b : blocks_)
      if (!follows_only_one(b)) find_same(chain_from(b));
    choose();
    while (!names_.empty() && !names_fit()) choose();
    return names_.empty() ? std::nullopt : write();
  }

 private:
  bool widest_at(Index i) const { return widest_[i - code_.function().begin]; }
  bool is_widest_in_front() const {
    return widest_at(entry_->last) && !code_.instruction(entry_->last).writes({isa::unit::exec, 2});
  }

  // False: something in the loop that nobody can look through.
  bool look_at_loop() {
    for (const uint32_t b : blocks_)
      for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) {
        const Instruction& instruction = code_.instruction(i);
        if (instruction.call || instruction.indirect || instruction.is_data() ||
            instruction.vgpr_index_mode || instruction.writes({isa::unit::mode, 1}))
          return false;
        for (const RegRange& d : instruction.defs) written_.insert(d), used_.insert(d);
        for (const RegRange& u : instruction.uses) used_.insert(u);
      }
    used_ |= code_.liveness().before(header_) | entry_->live_around | entry_->in_flight;
    return true;
  }

  // --- what is the same

  // Control comes to it from one block only, which goes nowhere else.
  bool follows_only_one(uint32_t b) const {
    const auto& before = cfg_.blocks()[b].predecessors;
    return before.size() == 1 && before[0] != b && cfg_.blocks()[before[0]].successors.size() == 1 &&
           cfg_.in_loop(before[0], loop_) && cfg_.blocks()[b].begin != header_;
  }
  std::vector<uint32_t> chain_from(uint32_t b) const {
    std::vector<uint32_t> chain = {b};
    while (cfg_.blocks()[chain.back()].successors.size() == 1) {
      const uint32_t next = cfg_.blocks()[chain.back()].successors[0];
      if (!cfg_.in_loop(next, loop_) || !follows_only_one(next)) break;
      chain.push_back(next);
    }
    return chain;
  }

  // Entries of blocks that run one after the other which give the same in each turn, as far as their own
  // operands say.
  void find_same(const std::vector<uint32_t>& chain) {
    std::map<RegUnit, Index> now;
    isa::RegSet live_behind;
    for (const uint32_t b : chain) {
      const program::Block& block = cfg_.blocks()[b];
      const std::vector<isa::RegSet> live = code_.liveness().before_each(b);
      for (Index i = block.begin; i < block.end; ++i) find_same(i, live[i - block.begin + 1], now);
      live_behind = live.back();
    }
    // What is wanted behind them is wanted under its name.
    for (const auto& [r, writer] : now)
      if (live_behind.contains(r)) wanted_behind_.insert(writer);
  }

  void find_same(Index i, const isa::RegSet& live_after, std::map<RegUnit, Index>& now) {
    const Instruction& instruction = code_.instruction(i);
    order_.push_back(i);
    std::map<RegUnit, Held>& held = held_[i];
    for (const RegRange& u : instruction.uses)
      for (RegUnit r = u.first; r < u.first + u.count; ++r) {
        const auto writer = now.find(r);
        held[r] = {writer == now.end() ? no_index : writer->second, r};
      }
    if (may_stand_in_front(i, live_after) &&
        std::ranges::all_of(held, [&](const auto& h) { return is_same(instruction, h.second); }))
      same_.insert(i);
    // Where only some of the register is written, or for some lanes, the rest of what it held lives on.
    const bool narrow = !widest_at(i) && instruction.reads_exec;
    const isa::RegSet off = narrow ? code_.liveness().lanes_after(i).off : isa::RegSet();
    for (const RegRange& d : instruction.defs)
      for (RegUnit r = d.first; r < d.first + d.count; ++r) {
        const auto before = now.find(r);
        if (before != now.end() && (instruction.partial_def || (isa::is_vector(r) && off.contains(r))))
          lives_on_[i].push_back(before->second);
        now[r] = i;
      }
  }

  bool is_same(const Instruction& by, const Held& h) const {
    // In which lanes it runs may_stand_in_front looks at; what machine state it reads the loop does not
    // change.
    const bool lanes = h.unit == isa::unit::exec || h.unit == isa::unit::exec + 1;
    if (lanes) return by.issue != isa::IssueClass::Salu;
    if (h.unit == isa::unit::mode) return true;
    if (h.writer != no_index) return same_.contains(h.writer);
    return h.unit < isa::unit::mode && !written_.contains(h.unit) && !entry_->in_flight.contains(h.unit);
  }

  bool may_stand_in_front(Index i, const isa::RegSet& live_after) const {
    const Instruction& instruction = code_.instruction(i);
    if (!is_plain_arithmetic(instruction) || instruction.partial_def || instruction.operands.empty() ||
        code_.program().entries[i].reference != no_index || !instruction.operands[0].is_def)
      return false;
    const RegRange result = instruction.operands[0].reg;
    const bool scalar = instruction.issue == isa::IssueClass::Salu;
    if (scalar && instruction.reads({isa::unit::exec, 2})) return false;
    // What a comparison or a carry says of lanes that are off would change.
    if (!widest_at(i) && !scalar &&
        (!isa::is_vgpr(result.first) || code_.liveness().lanes_after(i).off.overlaps(result)))
      return false;
    const isa::RegSet in_front = code_.liveness().before(header_);
    for (const RegRange& d : instruction.defs) {
      if (d.overlaps(result)) continue;
      if (live_after.overlaps(d)) return false; // a second result that somebody reads
    }
    for (const RegRange& d : instruction.defs)
      if (in_front.overlaps(d) || entry_->live_around.overlaps(d) || entry_->in_flight.overlaps(d))
        return false;
    return isa::is_vgpr(result.first) || isa::is_sgpr(result.first) || result.first == isa::unit::vcc;
  }

  // --- what is kept
  //
  // An instruction stays in the loop where somebody who stays reads its result under its old name. Every
  // value that is kept under a name of its own lets some go; where there are not registers for all, those go
  // without a name that let fewest instructions go.

  using Group = std::vector<Held>; // what an operand reads, by register
  using Groups = std::set<Group>;

  // Of an operand all of whose registers hold what is the same; else nothing.
  std::optional<Group> group_of(Index i, size_t n) const {
    const Instruction& instruction = code_.instruction(i);
    const Operand& o = instruction.operands[n];
    if (o.kind != Operand::Kind::Register || !o.is_use || o.is_def || o.reg.count == 0 ||
        instruction.cross_lane || instruction.writes_all_lanes || not_taken_.contains({i, n}))
      return std::nullopt;
    Group g;
    bool any = false;
    for (RegUnit r = o.reg.first; r < o.reg.first + o.reg.count; ++r) {
      const auto held = held_.at(i).find(r);
      if (held == held_.at(i).end() || !is_same(instruction, held->second)) return std::nullopt;
      any |= held->second.writer != no_index;
      g.push_back(held->second);
    }
    return any ? std::optional(std::move(g)) : std::nullopt;
  }

  // Which of those that are the same stay in the loop where these groups have names. `read`: the groups that
  // would be read under a name, those of what stays included.
  std::set<Index> staying(const Groups& named, Groups* read = nullptr) const {
    std::set<Index> stay;
    std::vector<Index> open;
    const auto keep = [&](Index i) {
      if (i != no_index && same_.contains(i) && stay.insert(i).second) open.push_back(i);
    };
    const auto look = [&](Index i) {
      const Instruction& instruction = code_.instruction(i);
      std::set<RegUnit> by_name;
      for (size_t n = 0; n < instruction.operands.size(); ++n) {
        const auto g = group_of(i, n);
        if (!g) continue;
        if (read != nullptr) read->insert(*g);
        if (!named.contains(*g)) continue;
        const RegRange r = instruction.operands[n].reg;
        for (RegUnit u = r.first; u < r.first + r.count; ++u) by_name.insert(u);
      }
      for (const auto& [r, h] : held_.at(i))
        if (!by_name.contains(r)) keep(h.writer);
      if (const auto rest = lives_on_.find(i); rest != lives_on_.end())
        for (const Index writer : rest->second) keep(writer);
    };
    for (const auto& [i, held] : held_)
      if (!same_.contains(i)) look(i);
    for (const Index i : wanted_behind_) keep(i);
    while (!open.empty()) {
      const Index i = open.back();
      open.pop_back();
      look(i);
    }
    return stay;
  }

  // The groups that get names: all, less those that do not fit in the registers there are.
  void choose() {
    Groups named;
    for (Groups more; staying(named, &more), more.size() > named.size();)
      named = std::move(more), more.clear();
    for (names_.clear(); !named.empty() && !give_registers(named); names_.clear()) {
      const size_t now = staying(named).size();
      std::vector<std::pair<double, Group>> worth;
      for (const Group& g : named) {
        if (no_room_for_ != kind_of(g)) continue;
        Groups without = named;
        without.erase(g);
        worth.emplace_back(static_cast<double>(staying(without).size() - now) / static_cast<double>(g.size()),
                           g);
      }
      // Several at once: each look takes its time.
      std::ranges::sort(worth);
      for (size_t n = 0; n < std::max<size_t>(1, worth.size() / 8); ++n) named.erase(worth[n].second);
    }
    stay_ = staying(named);
  }

  static bool kind_of(const Group& g) { return isa::is_vgpr(g.front().unit); }

  bool give_registers(const Groups& named) {
    isa::RegSet taken = used_;
    for (const Group& g : named) {
      const auto r = free_registers(g, taken);
      if (!r) {
        no_room_for_ = kind_of(g);
        return false;
      }
      taken.insert(*r);
      names_.emplace(g, *r);
    }
    return true;
  }

  // What stays, with the names that it reads now, by entry. False: the assembler does not take one of them.
  bool names_fit() {
    renamed_.clear();
    for (const auto& [i, held] : held_) {
      if (same_.contains(i) && !stay_.contains(i)) continue;
      const Instruction& instruction = code_.instruction(i);
      std::map<const Operand*, RegRange> now;
      for (size_t n = 0; n < instruction.operands.size(); ++n)
        if (const auto g = group_of(i, n); g && names_.contains(*g))
          now[&instruction.operands[n]] = names_.at(*g);
      if (now.empty()) continue;
      const auto renamed =
          with_registers(straight_, {&instruction, context_.codec.print(instruction), false},
                         [&](const Operand& o) { return now.contains(&o) ? now.at(&o) : o.reg; });
      if (!renamed) {
        for (size_t n = 0; n < instruction.operands.size(); ++n) not_taken_.insert({i, n});
        return false;
      }
      renamed_[i] = renamed->text;
    }
    return true;
  }

  std::optional<RegRange> free_registers(const std::vector<Held>& held, const isa::RegSet& taken) const {
    const auto count = static_cast<uint16_t>(held.size());
    const bool vector = isa::is_vgpr(held.front().unit);
    const RegUnit begin = vector ? isa::unit::vgpr0 : isa::unit::scalar0;
    const RegUnit end = begin + (vector ? registers_for_free(code_.resources()) : sgprs_for_free);
    const RegUnit step = count > 1 ? (vector ? 2 : std::min<RegUnit>(count, 4)) : 1;
    for (RegUnit u = begin; u + count <= end; u += step)
      if (const RegRange r{u, count}; !taken.overlaps(r)) return r;
    return std::nullopt;
  }

  // --- text

  std::optional<Proposal> write() {
    Rewrite rewrite(context_);
    double time = 0;
    const std::string text = text_in_front();
    put_in_front(context_, rewrite, *entry_, text);
    size_t gone = 0;
    for (const Index i : same_) {
      if (stay_.contains(i)) continue;
      rewrite.remove(i);
      ++gone;
      time += context_.time_of(i);
    }
    if (gone == 0) return std::nullopt;
    for (const auto& [i, line] : renamed_) rewrite.put(i, line);
    Proposal p;
    p.changes = rewrite.changes();
    if (!add_wait_states(context_, p.changes)) return std::nullopt;
    p.promise = std::max(time, 1e-6);
    p.rationale =
        fmt::format("the loop at {}: {} instructions give the same in each turn; {} values kept, made in "
                    "front of it",
                    code_.id(header_), gone, names_.size());
    return p;
  }

  std::string text_in_front() const {
    std::string text;
    const auto copy = [&](const Held& h) {
      for (const auto& [held, registers] : names_)
        for (size_t n = 0; n < held.size(); ++n)
          if (held[n] == h)
            text += fmt::format("{} {}, {}\n", isa::is_vgpr(registers.first) ? "v_mov_b32_e32" : "s_mov_b32",
                                isa::name(static_cast<RegUnit>(registers.first + n)), isa::name(h.unit));
    };
    // What leads to the values that are kept, and what else an operand reads with them.
    std::set<Held> before;
    std::set<Index> in_front;
    std::vector<Index> open;
    for (const auto& [held, registers] : names_)
      for (const Held& h : held)
        if (h.writer == no_index)
          before.insert(h);
        else
          open.push_back(h.writer);
    while (!open.empty()) {
      const Index i = open.back();
      open.pop_back();
      if (!in_front.insert(i).second) continue;
      for (const auto& [r, h] : held_.at(i))
        if (same_.contains(h.writer)) open.push_back(h.writer);
    }
    for (const Held& h : before) copy(h);
    for (const Index i : order_) {
      if (!in_front.contains(i)) continue;
      const Instruction& instruction = code_.instruction(i);
      text += context_.codec.print(instruction) + "\n";
      if (instruction.issue != isa::IssueClass::Salu) {
        // Once for the loop: whatever a result is waited for.
        const bool scalar = !isa::is_vector(instruction.operands[0].reg.first);
        if (scalar || instruction.issue == isa::IssueClass::Transcendental) text += "s_nop 4\n";
      }
      const RegRange r = instruction.operands[0].reg;
      for (RegUnit u = r.first; u < r.first + r.count; ++u) copy({i, u});
    }
    return text;
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  const program::Cfg& cfg_;
  StraightCode& straight_;
  const std::vector<bool>& widest_;
  std::vector<uint32_t> blocks_;
  Index header_;
  uint32_t loop_;
  std::optional<LoopEntry> entry_;
  isa::RegSet written_, used_;
  std::map<Index, std::map<RegUnit, Held>> held_; // by entry: what it reads
  std::map<Index, std::vector<Index>> lives_on_;  // by entry: who wrote what it overwrites in part
  std::vector<Index> order_;                      // as the loop runs them
  std::set<Index> same_;                          // entries that give the same in each turn
  std::set<Index> wanted_behind_; // of all: somebody reads the result under its name elsewhere
  std::set<Index> stay_;          // of same_
  std::map<Group, RegRange> names_;
  std::set<std::pair<Index, size_t>> not_taken_; // operands that cannot have another name
  bool no_room_for_ = false;                     // vector registers, or scalar ones
  std::map<Index, std::string> renamed_;         // what stays and reads something by its new name
};

} // namespace

std::vector<Proposal> propose_hoisted_values(const RuleContext& context) {
  const program::Cfg& cfg = context.code.cfg();
  const auto straight = StraightCode::of(context);
  if (stretches_of(context.code).empty() || cfg.unknown_edges() || straight == nullptr) return {};
  const auto waves = program::WaveStates::compute(context.code.program(), context.code.function(), cfg);
  std::vector<bool> widest =
      program::find_widest_exec(context.code.program(), context.code.function(), cfg, waves).holds;
  widest.resize(context.code.function().end - context.code.function().begin);
  std::vector<Proposal> list;
  for (uint32_t loop = 0; loop < cfg.loops().size(); ++loop)
    if (auto p = ValueHoister(context, *straight, widest, loop).run()) list.push_back(*std::move(p));
  return list;
}

} // namespace asmevo::search
