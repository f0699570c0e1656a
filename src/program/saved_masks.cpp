#include "program/saved_masks.h"

#include "program/exec_change.h"

#include <algorithm>
#include <optional>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::Role;

constexpr RegRange exec{isa::unit::exec, 2};

bool is_pair(const Operand* o) {
  return o != nullptr && o->kind == Operand::Kind::Register && o->reg.count == 2;
}

// A pair of registers that holds EXEC as it was at entry `at`, of which EXEC is a part.
struct Saved {
  RegRange pair;
  Index at = 0;
  friend bool operator==(const Saved&, const Saved&) = default;
};

// Those that are known at one place, outer before inner. Nothing is known of a place that was not come to.
struct State {
  bool reached = false;
  std::vector<Saved> saved;

  bool meet(const State& o) {
    if (!reached) {
      *this = o;
      return true;
    }
    return std::erase_if(saved,
                         [&](const Saved& s) { return std::ranges::find(o.saved, s) == o.saved.end(); }) != 0;
  }
};

// The pair whose mask the instruction puts into EXEC, if EXEC is part of that.
std::optional<RegRange> gives_back(const Instruction& i) {
  const Operand *d = i.find(Role::Sdst), *a = i.find(Role::Src0), *b = i.find(Role::Src1);
  if (!is_pair(d) || d->reg != exec || !is_pair(a)) return std::nullopt;
  if (i.is("s_mov_b64")) return a->reg;
  if (!i.is("s_or_b64") || !is_pair(b)) return std::nullopt;
  if (a->reg == exec) return b->reg;
  return b->reg == exec ? std::optional(a->reg) : std::nullopt;
}

// The pair that holds the old EXEC behind the instruction, of which the new one is a part.
std::optional<RegRange> saves(const Instruction& i) {
  const Operand *d = i.find(Role::Sdst), *a = i.find(Role::Src0);
  if (!is_pair(d) || d->reg == exec) return std::nullopt;
  const bool copies = i.is("s_mov_b64") && is_pair(a) && a->reg == exec;
  return copies || i.is("s_and_saveexec_b64") ? std::optional(d->reg) : std::nullopt;
}

class Follower {
 public:
  Follower(const Program& program, const Function& function, const Cfg& cfg)
      : program_(program), function_(function), cfg_(cfg), found_(function.end - function.begin, no_index) {}

  std::vector<Index> run() {
    const std::vector<Block>& blocks = cfg_.blocks();
    if (blocks.empty() || cfg_.unknown_edges()) return std::move(found_);
    in_.resize(blocks.size());
    in_[0].reached = true;
    std::vector<bool> dirty(blocks.size(), true);
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!dirty[b] || !in_[b].reached) continue;
        dirty[b] = false;
        const State out = walk(b, false);
        for (const uint32_t s : blocks[b].successors)
          if (in_[s].meet(out)) dirty[s] = again = true;
      }
    }
    for (uint32_t b = 0; b < blocks.size(); ++b)
      if (in_[b].reached) walk(b, true);
    return std::move(found_);
  }

 private:
  State walk(uint32_t b, bool note) {
    State s = in_[b];
    for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) {
      const Index saved = step(s, i);
      if (note) found_[i - function_.begin] = saved;
    }
    return s;
  }

  // What it gives back.
  Index step(State& state, Index at) const {
    const Instruction& i = program_.instruction(at);
    std::vector<Saved>& saved = state.saved;
    Index given_back = no_index;
    if (i.call || i.indirect || i.is_data()) saved.clear();
    if (const auto pair = gives_back(i)) {
      const auto of = std::ranges::find(saved, *pair, &Saved::pair);
      if (of != saved.end()) {
        given_back = of->at;
        saved.erase(of + 1, saved.end());
        return given_back;
      }
    }
    const ExecChange change = exec_change(i);
    if (change != ExecChange::None && change != ExecChange::Narrow && change != ExecChange::Clear)
      saved.clear();
    std::erase_if(saved, [&](const Saved& s) { return i.writes(s.pair); });
    if (const auto pair = saves(i)) saved.push_back({*pair, at});
    return no_index;
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  std::vector<State> in_; // by block
  std::vector<Index> found_;
};

} // namespace

std::vector<Index> saved_masks(const Program& program, const Function& function, const Cfg& cfg) {
  return Follower(program, function, cfg).run();
}

} // namespace asmevo::program
