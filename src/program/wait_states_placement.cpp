#include "program/wait_states_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace asmevo::program {

using isa::HazardClass;
using isa::HazardTraits;
using isa::Instruction;

// --- HazardWindow

unsigned HazardWindow::missing(const isa::HazardRules& rules, const HazardTraits& second) const {
  unsigned most = 0;
  for (const Recent& first : recent_) {
    unsigned needed = across_dgemm(rules, first, second);
    for (const isa::Hazard& h : rules.between(*first.traits, second))
      if (h.rule != isa::HazardRule::MatrixSrcC || !written_since(first, h.object))
        needed = std::max(needed, h.wait_states);
    if (needed > first.since) most = std::max(most, needed - first.since);
  }
  return most;
}

// A matrix instruction after it has written all of the accumulator; so it is that one's result which comes in
// (hazard_check.cpp).
bool HazardWindow::written_since(const Recent& first, const isa::RegRange& accumulator) const {
  return std::ranges::any_of(recent_, [&](const Recent& r) {
    if (r.since >= first.since || r.traits->instruction->matrix == isa::MatrixKind::None) return false;
    const isa::Operand* const result = r.traits->instruction->find(isa::Role::Vdst);
    return result != nullptr && result->reg == accumulator;
  });
}

// isa::HazardRule::ValuDgemmMemory.
unsigned HazardWindow::across_dgemm(const isa::HazardRules& rules, const Recent& first,
                                    const HazardTraits& second) const {
  const unsigned needed = rules.table().valu_dgemm_memory;
  if (needed == 0 || (second.is & HazardClass::Memory) == 0 || first.since == 0) return 0;
  if ((first.traits->is & HazardClass::Valu) == 0 || (first.traits->is & HazardClass::Matrix) != 0) return 0;
  const bool between = std::ranges::any_of(recent_, [&](const Recent& r) {
    return r.since < first.since && r.traits->instruction->matrix == isa::MatrixKind::Dgemm;
  });
  const bool read = std::ranges::any_of(second.instruction->uses, [&](const isa::RegRange& u) {
    return isa::is_vector(u.first) && first.traits->instruction->writes(u);
  });
  return between && read ? needed : 0;
}

void HazardWindow::pass(unsigned wait_states) {
  std::erase_if(recent_, [&](Recent& r) { return (r.since += wait_states) >= r.traits->reach; });
}

void HazardWindow::issue(const HazardTraits& traits, unsigned wait_states) {
  pass(wait_states);
  if (traits.instruction->call) recent_.clear();
  if (traits.reach != 0) recent_.push_back({&traits, 0});
}

bool HazardWindow::merge(const HazardWindow& o) {
  bool grew = false;
  for (const Recent& r : o.recent_) {
    const auto same = [&](const Recent& mine) { return mine.traits == r.traits && mine.since <= r.since; };
    if (std::ranges::any_of(recent_, same)) continue;
    recent_.push_back(r);
    grew = true;
  }
  return grew;
}

std::string nops(unsigned wait_states) {
  constexpr unsigned most = 8; // of one s_nop that every assembler takes
  std::string text;
  for (; wait_states != 0; wait_states -= std::min(wait_states, most))
    text += fmt::format("s_nop {}\n", std::min(wait_states, most) - 1);
  return text;
}

// --- WaitStates

WaitStates::WaitStates(const Program& program, const Cfg& cfg)
    : program_(program), cfg_(cfg), rules_(program.target) {}

const HazardTraits& WaitStates::traits(const Instruction& i) {
  const auto [at, is_new] = traits_.try_emplace(&i);
  if (is_new) at->second = rules_.traits(i);
  return at->second;
}

void WaitStates::walk(const Change& change, const Block& block, HazardWindow& window,
                      std::map<Index, unsigned>* found) {
  for (Index i = block.begin; i < block.end; ++i) {
    const Instruction& inst = program_.instruction(i);
    if (change.before) window.pass(change.before(i));
    const unsigned made = change.made ? change.made(i) : isa::wait_states(inst);
    if (made != 0) {
      if (const unsigned missing = window.missing(rules_, traits(inst)); missing != 0) {
        window.pass(missing);
        if (found != nullptr) (*found)[i] = missing;
      }
      window.issue(traits(inst), made);
    }
    if (change.after) window.pass(change.after(i));
  }
}

void WaitStates::solve(const Change& change, std::vector<HazardWindow>& entry,
                       std::map<Index, unsigned>* found) {
  const std::vector<Block>& blocks = cfg_.blocks();
  entry.assign(blocks.size(), {});
  std::vector<char> grown(blocks.size(), 1);
  for (bool again = true; again;) {
    again = false;
    for (const uint32_t b : cfg_.order()) {
      if (!blocks[b].reachable || !std::exchange(grown[b], 0)) continue;
      HazardWindow window = entry[b];
      walk(change, blocks[b], window, nullptr);
      for (const uint32_t next : blocks[b].successors)
        if (entry[next].merge(window)) grown[next] = again = true;
    }
  }
  if (found == nullptr) return;
  for (const uint32_t b : cfg_.order()) {
    if (!blocks[b].reachable) continue;
    HazardWindow window = entry[b];
    walk(change, blocks[b], window, found);
  }
}

std::map<Index, unsigned> WaitStates::missing(const Change& change) {
  std::map<Index, unsigned> found;
  std::vector<HazardWindow> entry;
  solve(change, entry, &found);
  return found;
}

HazardWindow WaitStates::before(Index i) {
  if (entry_.empty()) solve({}, entry_, nullptr);
  const uint32_t b = cfg_.block_of(i);
  HazardWindow window = entry_[b];
  walk({}, {.begin = cfg_.blocks()[b].begin, .end = i, .successors = {}, .predecessors = {}}, window,
       nullptr);
  return window;
}

unsigned WaitStates::missing_behind(const HazardWindow& window, Index from) {
  return look_on(window, from, isa::max_hazard_wait_states);
}

unsigned WaitStates::look_on(HazardWindow window, Index from, unsigned states_left) {
  unsigned most = 0;
  const uint32_t b = cfg_.block_of(from);
  if (b == no_index) return 0;
  for (Index i = from; i < cfg_.blocks()[b].end; ++i) {
    if (window.empty() || states_left == 0) return most;
    const Instruction& inst = program_.instruction(i);
    most = std::max(most, window.missing(rules_, traits(inst)));
    const unsigned states = isa::wait_states(inst);
    window.pass(states); // what stands behind is as far from it as ever
    if (inst.call) return most;
    states_left -= std::min(states_left, states);
  }
  for (const uint32_t next : cfg_.blocks()[b].successors)
    most = std::max(most, look_on(window, cfg_.blocks()[next].begin, states_left));
  return most;
}

} // namespace asmevo::program
