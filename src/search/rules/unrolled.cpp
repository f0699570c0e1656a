// Loops whose number of turns is written into the code, written out turn by turn.
//
// Pattern. A counter in an SGPR that starts at a constant, goes up by one, and is compared with one:
//
//     s_mov_b32 s4, 0                         ...                    turn 0, s4 is 0
//   L:                                        s_addk_i32 s4, 0x400
//     ...                                     ...                    turn 1, s4 is 0x400
//     s_addk_i32 s4, 0x400              =>    s_addk_i32 s4, 0x400
//     s_cmpk_eq_i32 s4, 0x800                 ...
//     s_cbranch_scc0 L
//
// Condition. Which way each of the loop's exits goes is known in each turn from scalars alone
// (scalar_path.h), until one leaves it for good; no other loop in it; not too long when written out.
//
// Why it pays. By itself hardly: the branches are cheap. But a turn ends with a wait for what it has loaded,
// and the loads of the next one stand behind it. Written out they can all be sent for at once
// (batched_loads.cpp), and what a turn computes from the counter is a constant. So the others' rules are
// tried on top of it.
//
// On the way, branches around code for some lanes are simplified. Compilers sometimes lay out the way without
// lanes apart from the way with lanes, with copies of what follows on both. Where the two do the same but for
// instructions that do nothing without lanes, everybody can go the way with lanes.
#include "program/widest_exec.h"
#include "search/rules/masked_code.h"
#include "search/rules/rule_list.h"
#include "search/scalar_path.h"

#include <algorithm>
#include <map>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::RegRange;
using program::Index;
using program::no_index;

constexpr size_t most_turns = 32;
constexpr size_t most_instructions = 3000; // of the loop written out: the instruction cache has 64 KiB
constexpr RegRange exec{isa::unit::exec, 2};

// Two ways that part at a branch on EXEC, and what they have in common.
class Ways {
 public:
  explicit Ways(const profile::KernelCode& code) : code_(code) {}

  /// Whether who has no lanes may go the way with lanes, which begins at `with`, instead of the one from
  /// `without` on.
  bool with_lanes_is_enough(Index with, Index without) const {
    if (!skip_to(with, without)) return false;
    for (unsigned n = 0; n < longest; ++n) {
      if (with == without) return true;
      const Instruction &a = code_.instruction(with), &b = code_.instruction(without);
      if (a.is("s_branch")) {
        with = target(with);
        if (with == no_index) return false;
        continue;
      }
      if (b.is("s_branch")) {
        without = target(without);
        if (without == no_index) return false;
        continue;
      }
      if (a.branch && b.branch && opposite(a, b))
        return target(with) == without + 1 && target(without) == with + 1;
      if (a.words != b.words && !(a.branch && b.branch && a.base_mnemonic == b.base_mnemonic)) {
        if (!skip_to(with, without)) return false;
        continue;
      }
      if (a.branch && target(with) != target(without)) return false;
      if (a.ends_block() && !a.branch) return false;
      ++with, ++without;
    }
    return false;
  }

 private:
  static constexpr unsigned longest = 200, longest_masked = 64;

  Index target(Index i) const { return code_.program().branch_target(i); }
  static bool opposite(const Instruction& a, const Instruction& b) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> pairs = {
        {{"s_cbranch_execz", "s_cbranch_execnz"},
         {"s_cbranch_scc0", "s_cbranch_scc1"},
         {"s_cbranch_vccz", "s_cbranch_vccnz"}}};
    return std::ranges::any_of(pairs, [&](const auto& p) {
      return (a.is(p.first) && b.is(p.second)) || (a.is(p.second) && b.is(p.first));
    });
  }

  // Past what does nothing without lanes, to what stands at `same`. The scalars that it writes nobody reads.
  bool skip_to(Index& at, Index same) const {
    const Instruction& wanted = code_.instruction(same);
    const isa::RegSet live = code_.liveness().before(same);
    for (unsigned n = 0; n < longest_masked && at < code_.code_end(); ++n, ++at) {
      const Instruction& i = code_.instruction(at);
      if (i.words == wanted.words) return true;
      if (!does_nothing_without_lanes(i) || i.writes(exec)) return false;
      for (const RegRange& d : i.defs)
        if (!isa::is_vector(d.first) && live.overlaps(d)) return false;
    }
    return false;
  }

  const profile::KernelCode& code_;
};

class Unroller {
 public:
  Unroller(const RuleContext& context, const std::vector<bool>& widest, uint32_t loop)
      : context_(context), code_(context.code), cfg_(context.code.cfg()), widest_(widest), loop_(loop),
        header_(cfg_.loops()[loop].header), blocks_(cfg_.blocks_in(loop)) {}

  std::optional<Proposal> run() {
    if (!is_one_piece()) return std::nullopt;
    auto state = at_entry();
    if (!state) return std::nullopt;
    unsigned turns = 0;
    while (state) {
      if (++turns > most_turns || !turn(*state)) return std::nullopt;
      state = next_;
    }
    if (turns < 2) return std::nullopt;
    text_ += end_label() + ":\n";
    Proposal p;
    p.changes.push_back(replace(context_, begin_, end_ - 1, text_));
    p.copies = std::move(copies_);
    p.rationale = fmt::format("{} to {}: {} turns written out", code_.id(begin_), code_.id(end_ - 1), turns);
    p.promise = context_.time_of(begin_, end_) * 0.1;
    return p;
  }

 private:
  const program::Block& block(uint32_t b) const { return cfg_.blocks()[b]; }

  // No inner loop, no gap, no call; entries [begin_, end_).
  bool is_one_piece() {
    for (const program::Loop& l : cfg_.loops())
      if (l.parent == loop_) return false;
    begin_ = block(blocks_.front()).begin, end_ = block(blocks_.back()).end;
    Index at = begin_;
    for (const uint32_t b : blocks_) {
      if (block(b).begin != at) return false;
      at = block(b).end;
      for (Index i = block(b).begin; i < block(b).end; ++i) {
        const Instruction& instruction = code_.instruction(i);
        const bool refers = code_.program().entries[i].reference != no_index;
        if (instruction.call || instruction.indirect || instruction.is_data() ||
            (refers && !instruction.branch))
          return false;
      }
    }
    return end_ <= code_.code_end();
  }

  bool widest(Index i) const { return widest_[i - code_.function().begin]; }

  // What scalars hold when control comes from outside: followed along the straight way to it.
  std::optional<ScalarPath> at_entry() const {
    std::optional<ScalarPath> all;
    for (const uint32_t p : block(header_).predecessors) {
      if (cfg_.in_loop(p, loop_)) continue;
      ScalarPath path;
      std::vector<uint32_t> way = {p};
      while (way.size() < 8 && block(way.back()).predecessors.size() == 1) {
        const uint32_t before = block(way.back()).predecessors[0];
        if (std::ranges::find(way, before) != way.end()) break;
        way.push_back(before);
      }
      for (auto b = way.rbegin(); b != way.rend(); ++b)
        for (Index i = block(*b).begin; i < block(*b).end; ++i) path.step(code_.instruction(i), widest(i));
      if (all)
        all->merge(path);
      else
        all = path;
    }
    return all;
  }

  // --- one turn

  struct Exit {
    bool goes_on = true;             // to the next entry
    Index target = no_index;         // and/or to this one
    std::optional<std::string> text; // of the branch, with its target left open; none: there is none
  };

  // Which blocks this turn comes to, and with what; then their text. False: too much, or not known.
  bool turn(const ScalarPath& from) {
    std::map<uint32_t, ScalarPath> states = {{header_, from}};
    std::map<uint32_t, Exit> exits;
    next_.reset();
    for (const uint32_t b : cfg_.order()) {
      if (!cfg_.in_loop(b, loop_) || !states.contains(b)) continue;
      ScalarPath state = states.at(b);
      const Index last = block(b).end - 1;
      for (Index i = block(b).begin; i < block(b).end; ++i)
        if (!code_.instruction(i).branch) state.step(code_.instruction(i), widest(i));
      const Exit e = exit_of(last, state);
      if (e.goes_on && !reach(states, state, last + 1)) return false;
      if (e.target != no_index && !reach(states, state, e.target)) return false;
      exits[b] = e;
    }
    write(exits);
    ++turn_;
    return copies_.size() <= most_instructions && text_.size() <= program::Edit::max_text;
  }

  // How control leaves the block, once it is known where it cannot go.
  Exit exit_of(Index last, const ScalarPath& state) const {
    const Instruction& i = code_.instruction(last);
    Exit e;
    if (i.ends_block() && !i.branch) {
      e.goes_on = false, e.text = program::print(code_.program(), last, context_.codec);
      return e;
    }
    if (!i.branch) return e;
    const Index target = code_.program().branch_target(last);
    auto taken = state.taken(i, widest(last));
    const bool z = i.is("s_cbranch_execz"), nz = i.is("s_cbranch_execnz");
    if (!taken && (z || nz)) {
      const Index with = z ? last + 1 : target, without = z ? target : last + 1;
      // The usual branch around a few instructions is left for others to judge.
      const bool usual = z && target > last && simple_skip(last, target);
      if (!usual && Ways(code_).with_lanes_is_enough(with, without)) taken = nz;
    }
    e.goes_on = !taken.value_or(false);
    if (taken.value_or(true)) e.target = target;
    if (e.target != no_index) e.text = std::string(i.base_mnemonic);
    if (taken == true) e.text = "s_branch";
    return e;
  }

  // Nothing but falling through between the branch and its target.
  bool simple_skip(Index branch, Index target) const {
    for (Index i = branch + 1; i < target; ++i)
      if (code_.instruction(i).ends_block()) return false;
    return true;
  }

  bool reach(std::map<uint32_t, ScalarPath>& states, const ScalarPath& state, Index to) {
    if (to < begin_ || to >= end_) return true; // out of it
    const uint32_t b = cfg_.block_of(to);
    if (b == header_) {
      if (next_)
        next_->merge(state);
      else
        next_ = state;
      return true;
    }
    const auto [found, is_new] = states.try_emplace(b, state);
    if (!is_new) found->second.merge(state);
    return true;
  }

  // --- text

  std::string label(unsigned turn, uint32_t b) const {
    return fmt::format("Lt_{}_{}_{}", plain(begin_), turn, plain(block(b).begin));
  }
  std::string end_label() const { return fmt::format("Lt_{}_end", plain(begin_)); }
  // An id as part of a name.
  std::string plain(Index i) const {
    std::string id = code_.id(i);
    std::ranges::replace(id, '.', '_');
    return id;
  }

  // Where a branch of this turn to an entry goes now.
  std::string destination(Index to) const {
    if (to == end_) return end_label();
    if (to >= begin_ && to < end_) {
      const uint32_t b = cfg_.block_of(to);
      return label(b == header_ ? turn_ + 1 : turn_, b);
    }
    for (const program::Label& l : code_.program().labels)
      if (l.at == to) return l.name;
    return "";
  }

  void line(std::string_view text, Index copied) {
    text_ += fmt::format("{}\n", text);
    copies_.push_back(copied);
  }

  // The blocks that are reached, the header first, in the order of their addresses.
  void write(const std::map<uint32_t, Exit>& exits) {
    std::vector<uint32_t> order;
    for (const uint32_t b : blocks_)
      if (b >= header_ && exits.contains(b)) order.push_back(b);
    for (const uint32_t b : blocks_)
      if (b < header_ && exits.contains(b)) order.push_back(b);
    for (size_t n = 0; n < order.size(); ++n) {
      const uint32_t b = order[n];
      text_ += label(turn_, b) + ":\n";
      const Exit& e = exits.at(b);
      const Index last = block(b).end - 1;
      for (Index i = block(b).begin; i <= last; ++i)
        if (!code_.instruction(i).branch &&
            (i != last || e.goes_on || e.text == std::nullopt || !code_.instruction(i).ends_block()))
          line(program::print(code_.program(), i, context_.codec), i);
      const bool ends = code_.instruction(last).ends_block() && !code_.instruction(last).branch;
      if (ends) {
        line(*e.text, last);
        continue;
      }
      // What comes next in the text: the next block of this turn, or the header of the next one.
      const std::string next = n + 1 < order.size() ? label(turn_, order[n + 1])
                               : next_              ? label(turn_ + 1, header_)
                                                    : end_label();
      if (e.target != no_index && (e.goes_on || destination(e.target) != next))
        line(fmt::format("{} {}", *e.text, destination(e.target)), last);
      if (e.goes_on && destination(last + 1) != next)
        line(fmt::format("s_branch {}", destination(last + 1)), no_index);
    }
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  const program::Cfg& cfg_;
  const std::vector<bool>& widest_;
  uint32_t loop_, header_;
  std::vector<uint32_t> blocks_;
  Index begin_ = 0, end_ = 0;
  unsigned turn_ = 0;
  std::optional<ScalarPath> next_; // at the header, after the turn; none: it never comes there
  std::string text_;
  std::vector<Index> copies_;
};

} // namespace

std::vector<Proposal> propose_unrolled(const RuleContext& context) {
  const program::Cfg& cfg = context.code.cfg();
  if (cfg.unknown_edges() || cfg.irreducible()) return {};
  const auto waves = program::WaveStates::compute(context.code.program(), context.code.function(), cfg);
  const auto widest = program::find_widest_exec(context.code.program(), context.code.function(), cfg, waves);
  std::vector<bool> holds = widest.holds;
  holds.resize(context.code.function().end - context.code.function().begin);
  std::vector<Proposal> list;
  Proposal all;
  for (uint32_t loop = 0; loop < cfg.loops().size(); ++loop)
    if (auto p = Unroller(context, holds, loop).run()) {
      all.changes.push_back(p->changes.front());
      std::ranges::copy(p->copies, std::back_inserter(all.copies));
      all.promise += p->promise;
      list.push_back(*std::move(p));
    }
  size_t text = 0;
  for (const program::Change& c : all.changes) text += c.text.size();
  if (list.size() > 1 && text <= program::Edit::max_text) {
    all.rationale = fmt::format("{} loops written out turn by turn", list.size());
    list.insert(list.begin(), std::move(all));
  }
  return list;
}

} // namespace asmevo::search
