#include "program/pointer_roots.h"

#include "program/widest_exec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::MemoryKind;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;
using isa::Role;

// Of a register: it may not hold any more what it held when the kernel started.
constexpr uint64_t written_bit = uint64_t{1} << 62;
constexpr unsigned root_bits = 60;

bool goes_to_memory(const Instruction& i) {
  const MemoryKind k = i.memory.kind;
  return k == MemoryKind::Scalar || k == MemoryKind::Buffer || k == MemoryKind::Global ||
         k == MemoryKind::Flat;
}

// The carry of an addition, and conditions, are no part of a pointer.
bool is_flag(const Instruction& i, const RegRange& r) {
  if (r.first >= isa::unit::exec && r.first <= isa::unit::scc) return true;
  const std::string_view m = i.base_mnemonic;
  const bool takes_mask = m.starts_with("v_addc") || m.starts_with("v_subb") || m.starts_with("v_cndmask");
  if (!takes_mask) return false;
  const Operand* mask = i.find(Role::Src2);
  return r.first == isa::unit::vcc || (mask != nullptr && mask->reg == r && mask->reg.count == 2);
}

// The register with the upper half of the pointer.
std::optional<RegUnit> upper_half(const Instruction& i) {
  const Operand* base = nullptr;
  switch (i.memory.kind) {
  case MemoryKind::Scalar: base = i.find(Role::Sbase); break;
  case MemoryKind::Buffer: base = i.find(Role::Srsrc); break;
  default:
    base = i.find(Role::Saddr);
    if (base == nullptr || base->kind != Operand::Kind::Register) base = i.find(Role::Vaddr);
  }
  if (base == nullptr || base->kind != Operand::Kind::Register || base->reg.count < 2) return std::nullopt;
  return static_cast<RegUnit>(base->reg.first + 1);
}

// Where in the argument segment a scalar load of constant offset reads.
std::optional<int64_t> constant_offset(const Instruction& i) {
  const Operand* more = i.find(Role::Soffset);
  if (more != nullptr && more->kind == Operand::Kind::Register) return std::nullopt;
  return i.mods.offset + (more != nullptr ? more->value : 0);
}

} // namespace

class RootAnalysis {
 public:
  RootAnalysis(const Program& program, const Function& function, const Cfg& cfg)
      : program_(program), function_(function), cfg_(cfg) {}

  PointerRoots run() {
    result_.begin_ = function_.begin;
    result_.roots_.assign(function_.end - function_.begin, PointerRoots::unknown);
    if (cfg_.blocks().empty() || moves_by_index()) return std::move(result_);
    widest_ =
        find_widest_exec(program_, function_, cfg_, WaveStates::compute(program_, function_, cfg_)).holds;
    entry_.resize(cfg_.blocks().size());
    entry_[0] = at_start();
    std::vector<char> grown(cfg_.blocks().size());
    grown[0] = 1;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!std::exchange(grown[b], 0)) continue;
        walk(b);
        for (const uint32_t next : cfg_.blocks()[b].successors)
          if (merge(next)) grown[next] = 1, again = true;
      }
    }
    return std::move(result_);
  }

 private:
  bool moves_by_index() const {
    for (Index i = function_.begin; i < function_.end; ++i)
      if (program_.instruction(i).vgpr_index_mode) return true;
    return false;
  }

  // Arguments may be in scalar registers from the start; then code 256 bytes long stands in front of the
  // entry.
  bool has_arguments_in_registers() const {
    return std::ranges::any_of(program_.aligned, [&](const AlignedPoint& p) {
      return p.anchor != no_index && p.at >= function_.begin && p.at <= function_.end;
    });
  }

  std::vector<uint64_t> at_start() const {
    std::vector<uint64_t> state(isa::unit::count, function_.kernel ? 0 : PointerRoots::unknown | written_bit);
    if (function_.kernel && has_arguments_in_registers())
      for (RegUnit u = isa::unit::scalar0; u < isa::unit::count; ++u) state[u] = PointerRoots::unknown;
    return state;
  }

  bool merge(uint32_t into) {
    if (entry_[into].empty()) {
      entry_[into] = state_;
      return true;
    }
    bool changed = false;
    for (size_t u = 0; u < state_.size(); ++u) {
      changed |= (state_[u] & ~entry_[into][u]) != 0;
      entry_[into][u] |= state_[u];
    }
    return changed;
  }

  void walk(uint32_t b) {
    state_ = entry_[b];
    for (Index at = cfg_.blocks()[b].begin; at < cfg_.blocks()[b].end; ++at) {
      const Instruction& i = program_.instruction(at);
      if (goes_to_memory(i)) result_.roots_[at - function_.begin] = base_of(i);
      step(at, i);
    }
  }

  uint64_t base_of(const Instruction& i) const {
    const std::optional<RegUnit> upper = upper_half(i);
    const uint64_t roots = upper ? state_[*upper] & ~written_bit : 0;
    return roots == 0 ? PointerRoots::unknown : roots;
  }

  bool from_arguments(const Instruction& i) const {
    const Operand* base = i.find(Role::Sbase);
    if (i.memory.kind != MemoryKind::Scalar || !i.memory.load || base == nullptr) return false;
    for (RegUnit u = base->reg.first; u < base->reg.first + base->reg.count; ++u)
      if ((state_[u] & written_bit) != 0) return false;
    return true;
  }

  void step(Index at, const Instruction& i) {
    if (i.call) {
      std::ranges::fill(state_, PointerRoots::unknown | written_bit);
      return;
    }
    if (i.memory.returns || i.is("s_getpc_b64")) return load(at, i);
    uint64_t all = 0;
    for (const RegRange& r : i.uses)
      if (!is_flag(i, r))
        for (RegUnit u = r.first; u < r.first + r.count; ++u) all |= state_[u];
    if (moves_by_halves(i)) return move_halves(at, i);
    for (const RegRange& d : i.defs)
      for (RegUnit u = d.first; u < d.first + d.count; ++u) set(at, u, all);
  }

  // Of several dwords only odd ones of the argument segment may be the upper half of a pointer.
  void load(Index at, const Instruction& i) {
    const std::optional<int64_t> offset = from_arguments(i) ? constant_offset(i) : std::nullopt;
    for (const RegRange& d : i.defs)
      for (RegUnit k = 0; k < d.count; ++k) {
        uint64_t roots = PointerRoots::unknown;
        if (offset && *offset >= 0) {
          const uint64_t dword = static_cast<uint64_t>(*offset) / 4 + k;
          roots = dword % 2 == 0 ? 0 : uint64_t{1} << dword / 2 % root_bits;
        }
        set(at, static_cast<RegUnit>(d.first + k), roots);
      }
  }

  static bool moves_by_halves(const Instruction& i) {
    return (i.is("s_mov_b64") || i.is("v_mov_b64")) && !i.defs.empty();
  }

  void move_halves(Index at, const Instruction& i) {
    const Operand* source = i.find(Role::Src0);
    const bool known = source != nullptr && source->kind == Operand::Kind::Register && source->reg.count == 2;
    const std::array<uint64_t, 2> now = {known ? state_[source->reg.first] : 0,
                                         known ? state_[source->reg.first + 1U] : 0};
    const RegUnit to = i.defs.begin()->first;
    for (unsigned k = 0; k < 2; ++k) set(at, static_cast<RegUnit>(to + k), now[k]);
  }

  // A vector register keeps the old value in lanes that are off.
  void set(Index at, RegUnit u, uint64_t roots) {
    const bool whole = !isa::is_vector(u) || (!widest_.empty() && widest_[at - function_.begin]);
    state_[u] = roots | written_bit | (whole ? 0 : state_[u]);
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  std::vector<bool> widest_;
  std::vector<std::vector<uint64_t>> entry_; // by block
  std::vector<uint64_t> state_;
  PointerRoots result_;
};

PointerRoots PointerRoots::compute(const Program& program, const Function& function, const Cfg& cfg) {
  return RootAnalysis(program, function, cfg).run();
}

} // namespace asmevo::program
