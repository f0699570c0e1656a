#include "program/widest_exec.h"

#include <bitset>

namespace asmevo::program {

namespace {

namespace unit = isa::unit;
using isa::Operand;
using isa::Role;
using Mask = WidestExec::Mask;

// A 64-bit scalar pair against W.
struct Fact {
  bool equal = false;  // is W
  bool within = false; // is a subset of W
};

constexpr size_t pairs = 128; // by the first register's scalar operand code

// Must-facts of all pairs at one place.
struct Facts {
  std::bitset<pairs> equal, within;

  Fact of(isa::RegUnit first) const { return {equal[first - unit::scalar0], within[first - unit::scalar0]}; }
  void set(isa::RegUnit first, Fact f) {
    equal[first - unit::scalar0] = f.equal;
    within[first - unit::scalar0] = f.within;
  }
  // A write of one register ends what is known of both pairs it is in.
  void forget(isa::RegUnit u) {
    if (u < unit::scalar0 || u >= unit::scalar0 + pairs) return;
    set(u, {});
    if (u > unit::scalar0) set(static_cast<isa::RegUnit>(u - 1), {});
  }
  bool meet(const Facts& o) {
    const Facts old = *this;
    equal &= o.equal;
    within &= o.within;
    return equal != old.equal || within != old.within;
  }
};

class Follower {
 public:
  Follower(const Program& program, const Function& function, const Cfg& cfg, const WaveStates& waves,
           Mask mask)
      : program_(program), function_(function), cfg_(cfg), waves_(waves), all_lanes_(mask == Mask::AllLanes) {
  }

  // False where EXEC may hold lanes outside W, so that W is not the widest mask.
  bool run() {
    const std::vector<Block>& blocks = cfg_.blocks();
    Facts top;
    top.equal.set();
    top.within.set();
    in_.assign(blocks.size(), top);
    in_[0] = at_start();
    std::vector<bool> dirty(blocks.size(), true);
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!dirty[b] || !blocks[b].reachable) continue;
        dirty[b] = false;
        const Facts out = walk(b, nullptr);
        for (const uint32_t s : blocks[b].successors)
          if (in_[s].meet(out)) dirty[s] = again = true;
      }
    }
    for (uint32_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].reachable) walk(b, &holds_);
    return within_;
  }
  std::vector<bool> take() { return std::move(holds_); }

 private:
  Facts at_start() {
    Facts f;
    if (all_lanes_)
      f.within.set();
    else
      f.set(unit::exec, {true, true});
    holds_.assign(function_.end - function_.begin, false);
    return f;
  }

  Facts walk(uint32_t b, std::vector<bool>* holds) {
    Facts f = in_[b];
    const Block& block = cfg_.blocks()[b];
    WaveState wave = waves_.at_block(b);
    for (Index i = block.begin; i < block.end; ++i) {
      const isa::Instruction& inst = program_.instruction(i);
      if (holds != nullptr) {
        (*holds)[i - function_.begin] = f.of(unit::exec).equal;
        within_ = within_ && f.of(unit::exec).within;
      }
      step(f, inst, wave.may_skip);
      if (inst.sets_vskip || inst.family == isa::Family::Sopk) wave.advance(inst);
    }
    if (holds != nullptr) within_ = within_ && f.of(unit::exec).within;
    return f;
  }

  void step(Facts& f, const isa::Instruction& i, bool may_skip) const {
    bool scalar = false;
    for (const isa::RegRange& d : i.defs)
      scalar = scalar || (d.first >= unit::scalar0 && d.first < unit::scalar0 + pairs);
    if (!scalar) return;
    const Facts before = f;
    for (const isa::RegRange& d : i.defs)
      for (uint16_t k = 0; k < d.count; ++k) f.forget(static_cast<isa::RegUnit>(d.first + k));
    results(f, before, i, may_skip);
    if (all_lanes_) f.within.set();
  }

  void results(Facts& f, const Facts& before, const isa::Instruction& i, bool may_skip) const {
    const std::string_view m = i.base_mnemonic;
    if (m.starts_with("v_cmp")) return compare(f, before, i, may_skip);
    const Operand* d = i.find(Role::Sdst);
    if (d == nullptr || d->reg.count != 2 || !m.ends_with("_b64")) return;
    const std::string_view op = m.substr(0, m.size() - 4);
    const Fact a = source(before, i.find(Role::Src0)), lanes = before.of(unit::exec);
    if (op.ends_with("_saveexec")) {
      f.set(d->reg.first, lanes);
      f.set(unit::exec, combine(op.substr(0, op.size() - 9), a, lanes));
    } else if (op.ends_with("_wrexec")) {
      const Fact result = combine(op.substr(0, op.size() - 7), a, lanes);
      f.set(d->reg.first, result);
      f.set(unit::exec, result);
    } else if (op == "s_mov") {
      f.set(d->reg.first, a);
    } else {
      f.set(d->reg.first, combine(op, a, source(before, i.find(Role::Src1))));
    }
  }

  // A comparison gives 0 for lanes that are off.
  void compare(Facts& f, const Facts& before, const isa::Instruction& i, bool may_skip) const {
    const Fact result{false, before.of(unit::exec).within};
    for (const isa::RegRange& d : i.defs)
      if (d.count == 2 && !isa::is_vector(d.first) && (!may_skip || d.first == unit::exec))
        f.set(d.first, result);
  }

  Fact source(const Facts& f, const Operand* o) const {
    if (o == nullptr) return {};
    if (o->kind == Operand::Kind::Register)
      return o->reg.count == 2 && o->reg.first >= unit::scalar0 && o->reg.first < unit::scalar0 + pairs
                 ? f.of(o->reg.first)
                 : Fact{};
    return {all_lanes_ && o->value == -1, o->value == 0 || all_lanes_};
  }

  Fact combine(std::string_view op, Fact a, Fact b) const {
    if (op == "s_and") return {a.equal && b.equal, a.within || b.within};
    if (op == "s_or") return {(a.equal && b.within) || (b.equal && a.within), a.within && b.within};
    if (op == "s_andn2") return {false, a.within};
    if (op == "s_andn1") return {false, b.within};
    if (op == "s_xor") return {false, a.within && b.within};
    if (op == "s_cselect") return {a.equal && b.equal, a.within && b.within};
    return {};
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  const WaveStates& waves_;
  bool all_lanes_, within_ = true;
  std::vector<Facts> in_;
  std::vector<bool> holds_;
};

bool followable(const Program& program, const Function& function, const Cfg& cfg) {
  if (cfg.unknown_edges() || cfg.blocks().empty()) return false;
  for (Index i = function.begin; i < function.end; ++i)
    if (program.instruction(i).call) return false; // the callee's mask is not known
  return true;
}

} // namespace

WidestExec find_widest_exec(const Program& program, const Function& function, const Cfg& cfg,
                            const WaveStates& waves) {
  if (!followable(program, function, cfg)) return {};
  for (const Mask mask : {Mask::Initial, Mask::AllLanes}) {
    Follower follower(program, function, cfg, waves, mask);
    if (follower.run()) return {mask, follower.take()};
  }
  return {};
}

} // namespace asmevo::program
