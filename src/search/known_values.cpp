#include "search/known_values.h"

#include "codeobject/kernel_descriptor.h"
#include "program/exec_change.h"
#include "program/widest_exec.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using program::Index;
using State = KnownValues::State;

namespace {

// A block is looked at this often before bounds that still change are given up: a counter goes up for ever.
constexpr unsigned most_visits = 3;
constexpr uint32_t most = ~uint32_t{0};

Bounds exactly(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value)};
}
Bounds up_to(uint64_t high) {
  return {0, static_cast<uint32_t>(std::min<uint64_t>(high, most))};
}
// Of a result with these exact bounds, before it is cut to 32 bits.
Bounds within(uint64_t low, uint64_t high) {
  return high > most ? Bounds{} : Bounds{static_cast<uint32_t>(low), static_cast<uint32_t>(high)};
}
Bounds hull(const Bounds& a, const Bounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.everywhere && b.everywhere};
}

Bounds add(const Bounds& a, const Bounds& b) {
  // Constants wrap as the hardware does; other sums must not.
  if (a.constant() && b.constant()) return exactly(a.low + b.low);
  return within(uint64_t{a.low} + b.low, uint64_t{a.high} + b.high);
}
Bounds multiply(const Bounds& a, const Bounds& b) {
  if (a.constant() && b.constant()) return exactly(uint64_t{a.low} * b.low);
  return within(uint64_t{a.low} * b.low, uint64_t{a.high} * b.high);
}
Bounds shift_left(const Bounds& a, const Bounds& by) {
  if (!by.constant()) return {};
  const unsigned n = by.low & 31;
  if (a.constant()) return exactly(a.low << n);
  return within(uint64_t{a.low} << n, uint64_t{a.high} << n);
}
Bounds shift_right(const Bounds& a, const Bounds& by) {
  if (!by.constant()) return up_to(a.high);
  return {a.low >> (by.low & 31), a.high >> (by.low & 31)};
}
Bounds bit_and(const Bounds& a, const Bounds& b) {
  if (a.constant() && b.constant()) return exactly(a.low & b.low);
  return up_to(std::min(a.high, b.high));
}
Bounds bit_or(const Bounds& a, const Bounds& b) {
  if (a.constant() && b.constant()) return exactly(a.low | b.low);
  // No bit above the highest that one of them may have.
  const uint32_t bits = a.high | b.high;
  return {std::max(a.low, b.low), bits == 0 ? 0 : most >> std::countl_zero(bits)};
}

// A unit of a 64-bit register or constant.
Bounds half(const State& state, const Operand& o, unsigned n) {
  if (o.kind == Operand::Kind::Register)
    return n < o.reg.count ? KnownValues::bounds(state, o.reg.first + n) : Bounds{};
  return exactly(static_cast<uint64_t>(o.value) >> (32 * n));
}

struct Sources {
  const Operand* at[3] = {};
};
Sources sources_of(const Instruction& i) {
  Sources s;
  for (const Operand& o : i.operands)
    if (o.is_use && !o.is_def && o.role >= isa::Role::Src0 && o.role <= isa::Role::Src2)
      s.at[static_cast<int>(o.role) - static_cast<int>(isa::Role::Src0)] = &o;
  return s;
}

bool is_one_of(const Instruction& i, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, i.base_mnemonic) != names.end();
}

// Of the result of an instruction with one 32-bit result.
Bounds result_of(const Instruction& i, const State& state) {
  const Sources s = sources_of(i);
  const auto in = [&](int n) { return s.at[n] == nullptr ? Bounds{} : KnownValues::bounds(state, *s.at[n]); };
  if (is_one_of(
          i, {"v_mov_b32", "s_mov_b32", "v_readfirstlane_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32"}))
    return in(0);
  if (i.is("s_movk_i32")) {
    const Operand* const value = i.find(isa::Role::Simm);
    return value == nullptr ? Bounds{}
                            : exactly(static_cast<uint64_t>(int64_t{static_cast<int16_t>(value->value)}));
  }
  if (is_one_of(i, {"v_not_b32", "s_not_b32"})) return {~in(0).high, ~in(0).low};
  if (is_one_of(i, {"v_add_u32", "s_add_u32", "s_add_i32"})) return add(in(0), in(1));
  if (is_one_of(i, {"v_mul_lo_u32", "s_mul_i32"})) return multiply(in(0), in(1));
  if (i.is("v_mul_u32_u24"))
    return multiply(bit_and(in(0), exactly(0xffffff)), bit_and(in(1), exactly(0xffffff)));
  if (i.is("v_lshlrev_b32")) return shift_left(in(1), in(0));
  if (i.is("s_lshl_b32")) return shift_left(in(0), in(1));
  if (i.is("v_lshrrev_b32")) return shift_right(in(1), in(0));
  if (i.is("s_lshr_b32")) return shift_right(in(0), in(1));
  if (is_one_of(i, {"v_and_b32", "s_and_b32"})) return bit_and(in(0), in(1));
  if (is_one_of(i, {"v_or_b32", "s_or_b32"})) return bit_or(in(0), in(1));
  if (i.is("v_lshl_add_u32")) return add(shift_left(in(0), in(1)), in(2));
  if (i.is("v_add_lshl_u32")) return shift_left(add(in(0), in(1)), in(2));
  if (i.is("v_lshl_or_b32")) return bit_or(shift_left(in(0), in(1)), in(2));
  if (i.is("v_and_or_b32")) return bit_or(bit_and(in(0), in(1)), in(2));
  if (i.is("v_or3_b32")) return bit_or(bit_or(in(0), in(1)), in(2));
  if (i.is("v_add3_u32")) return add(add(in(0), in(1)), in(2));
  if (is_one_of(i, {"v_min_u32", "s_min_u32"})) return up_to(std::min(in(0).high, in(1).high));
  if (is_one_of(i, {"v_max_u32", "s_max_u32"}))
    return {std::max(in(0).low, in(1).low), std::max(in(0).high, in(1).high)};
  if (is_one_of(i, {"v_cndmask_b32", "s_cselect_b32"})) return hull(in(0), in(1));
  if (i.is("v_bfe_u32") && in(2).constant()) return up_to((uint64_t{1} << (in(2).low & 31)) - 1);
  if (is_one_of(i, {"v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"})) return add(in(1), up_to(32));
  if (is_one_of(i, {"global_load_ubyte", "buffer_load_ubyte", "ds_read_u8"})) return up_to(0xff);
  if (is_one_of(i, {"global_load_ushort", "buffer_load_ushort", "ds_read_u16"})) return up_to(0xffff);
  return {};
}

// The same for moves of 64 bits.
bool moves_64_bits(const Instruction& i) {
  return is_one_of(i, {"v_mov_b64", "s_mov_b64"});
}

bool has_modifiers(const Instruction& i) {
  return i.extension == isa::Extension::Dpp || i.extension == isa::Extension::Sdwa || i.mods.clamp ||
         i.mods.omod != 0 || i.mods.neg != 0 || i.mods.abs != 0 || i.mods.op_sel != 0;
}

void put(State& state, RegUnit u, const Bounds& b) {
  if (b.anything())
    state.bounds.erase(u);
  else
    state.bounds[u] = b;
}

// Both at once; true where `into` changed.
bool merge_masks(State& into, const State& from) {
  bool changed = false;
  for (auto& [pair, holds] : into.masks) {
    const auto there = from.masks.find(pair);
    const isa::RegSet joined = there == from.masks.end() ? isa::RegSet() : holds & there->second;
    changed |= joined != holds;
    holds = joined;
  }
  return changed;
}

// True where `into` changed.
bool merge(State& into, const State& from, bool give_up) {
  bool changed = merge_masks(into, from);
  for (auto at = into.bounds.begin(); at != into.bounds.end();) {
    const Bounds joined = hull(at->second, KnownValues::bounds(from, at->first));
    if (joined == at->second) {
      ++at;
      continue;
    }
    changed = true;
    if (give_up || joined.anything()) {
      at = into.bounds.erase(at);
    } else {
      at->second = joined;
      ++at;
    }
  }
  return changed;
}

} // namespace

Bounds KnownValues::bounds(const State& state, RegUnit u) {
  const auto found = state.bounds.find(u);
  return found == state.bounds.end() ? Bounds{} : found->second;
}

Bounds KnownValues::bounds(const State& state, const Operand& o) {
  if (o.kind != Operand::Kind::Register) return exactly(static_cast<uint64_t>(o.value));
  return o.reg.count == 1 ? bounds(state, o.reg.first) : Bounds{};
}

KnownValues::KnownValues(const profile::KernelCode& code) : code_(code), blocks_(code.cfg().blocks().size()) {
  const program::Cfg& cfg = code.cfg();
  const auto waves = program::WaveStates::compute(code.program(), code.function(), cfg);
  widest_ = program::find_widest_exec(code.program(), code.function(), cfg, waves).holds;
  if (blocks_.empty() || cfg.unknown_edges()) {
    blocks_.assign(blocks_.size(), State());
    return;
  }
  std::vector<unsigned> visits(blocks_.size(), 0);
  std::deque<uint32_t> waiting = {0};
  blocks_[0] = at_start();
  while (!waiting.empty()) {
    const uint32_t b = waiting.front();
    waiting.pop_front();
    ++visits[b];
    State state = *blocks_[b];
    for (Index i = cfg.blocks()[b].begin; i < cfg.blocks()[b].end; ++i) step(state, i);
    for (const uint32_t next : cfg.blocks()[b].successors) {
      const bool first = !blocks_[next];
      if (first) blocks_[next] = state;
      if ((first || merge(*blocks_[next], state, visits[next] >= most_visits)) &&
          std::ranges::find(waiting, next) == waiting.end())
        waiting.push_back(next);
    }
  }
}

State KnownValues::at_start() const {
  State state;
  const codeobject::Kernel* const kernel = code_.resources().kernel;
  if (kernel == nullptr || !code_.function().kernel) return state;
  // v0 holds the work-item's number: x, or x, y and z of ten bits each.
  const uint64_t directions =
      codeobject::get(kernel->descriptor, code_.program().target, "enable_vgpr_workitem_id");
  state.bounds[0] = {0, directions == 0 ? 1023U : 0x3fffffffU, true};
  return state;
}

State KnownValues::before(Index i) const {
  const uint32_t block = code_.cfg().block_of(i);
  State state = blocks_[block].value_or(State());
  for (Index at = code_.cfg().blocks()[block].begin; at < i; ++at) step(state, at);
  return state;
}

namespace {

bool is_pair(const Operand* o, RegUnit first) {
  return o != nullptr && o->kind == Operand::Kind::Register && o->reg.first == first && o->reg.count == 2;
}

// Vector registers that have bounds in all lanes that are on.
isa::RegSet bounded_here(const State& state) {
  isa::RegSet set;
  for (const auto& [unit, b] : state.bounds)
    if (isa::is_vector(unit)) set.insert(unit);
  return set;
}

// Vector registers that have bounds in all lanes of a mask. None where it is no mask that was looked at.
isa::RegSet bounded_in(const State& state, const Operand* mask) {
  if (is_pair(mask, isa::unit::exec)) return bounded_here(state);
  if (mask == nullptr || mask->kind != Operand::Kind::Register) return {};
  const auto found = state.masks.find(mask->reg.first);
  return found == state.masks.end() ? isa::RegSet() : found->second;
}

void keep_only(State& state, const isa::RegSet& units) {
  std::erase_if(state.bounds, [&](const auto& fact) {
    return isa::is_vector(fact.first) && !fact.second.everywhere && !units.contains(fact.first);
  });
}

} // namespace

// What an instruction means for masks and EXEC. N is the mask it writes, to EXEC or elsewhere.
void KnownValues::step_masks(State& state, const Instruction& i) const {
  const Sources s = sources_of(i);
  const isa::RegSet here = bounded_here(state), a = bounded_in(state, s.at[0]),
                    b = bounded_in(state, s.at[1]);
  const bool saves = i.base_mnemonic.ends_with("_saveexec_b64");
  isa::RegSet of_result;
  if (i.is("s_mov_b64") || i.is("s_and_saveexec_b64") || i.is("s_andn2_saveexec_b64"))
    of_result = a; // N is within the source
  else if (i.is("s_or_saveexec_b64"))
    of_result = here & a;
  else if (i.is("s_and_b64"))
    of_result = a | b;
  else if (i.is("s_andn2_b64"))
    of_result = a;
  else if (i.is("s_or_b64") || i.is("s_xor_b64"))
    of_result = a & b;
  const program::ExecChange change = program::exec_change(i);
  for (const isa::RegRange& d : i.defs)
    for (RegUnit u = d.first; u < d.first + d.count; ++u) state.masks.erase(u), state.masks.erase(u - 1);
  if (!i.operands.empty() && i.operands[0].is_def && i.operands[0].reg.count == 2 &&
      !isa::is_vector(i.operands[0].reg.first) && i.operands[0].reg.first != isa::unit::exec)
    state.masks[i.operands[0].reg.first] = saves ? here : of_result;
  if (change == program::ExecChange::Narrow) return;
  if (change != program::ExecChange::None) keep_only(state, of_result);
}

void KnownValues::step(State& state, Index i) const {
  const Instruction& instruction = code_.instruction(i);
  if (instruction.call) {
    state = {};
    return;
  }
  std::vector<std::pair<RegUnit, Bounds>> results;
  if (!instruction.operands.empty() && instruction.operands[0].is_def && !has_modifiers(instruction) &&
      !instruction.partial_def) {
    const isa::RegRange to = instruction.operands[0].reg;
    const Operand* const source = instruction.find(isa::Role::Src0);
    if (to.count == 1) results.emplace_back(to.first, result_of(instruction, state));
    if (to.count == 2 && moves_64_bits(instruction) && source != nullptr)
      for (unsigned n = 0; n < 2; ++n) results.emplace_back(to.first + n, half(state, *source, n));
  }
  step_masks(state, instruction);
  for (const isa::RegRange& d : instruction.defs)
    for (RegUnit u = d.first; u < d.first + d.count; ++u) {
      state.bounds.erase(u);
      for (auto& [pair, holds] : state.masks) holds.erase(u);
    }
  const bool all = instruction.writes_all_lanes || (!widest_.empty() && widest_[i - code_.function().begin]);
  for (auto& [unit, b] : results) {
    b.everywhere = all || !isa::is_vector(unit);
    put(state, unit, b);
  }
}

} // namespace asmevo::search
