#include "program/wave_state.h"

#include <algorithm>

namespace asmevo::program {

namespace {

namespace unit = isa::unit;
using isa::MemoryKind;
using isa::RegRange;

constexpr uint8_t all_operands = 0xf;

isa::RegSet everything() {
  isa::RegSet set;
  set.insert(RegRange{0, unit::count});
  return set;
}

// The operand list of s_set_gpr_idx_on and _mode: their only immediate.
uint8_t index_immediate(const isa::Instruction& i) {
  for (const isa::Operand& o : i.operands)
    if (o.kind != isa::Operand::Kind::Register) return static_cast<uint8_t>(o.value & all_operands);
  return all_operands;
}

// s_setreg of the MODE register: simm16 = id | offset << 6 | (size - 1) << 11. MODE has GPR_IDX_EN in bit 27
// and VSKIP in bit 28 (CDNA3 ISA, "Mode register").
void set_mode_register(WaveState& s, const isa::Instruction& i) {
  constexpr unsigned mode_id = 1, index_bit = 27, skip_bit = 28;
  const uint32_t simm = i.words[0] & 0xffff, first = simm >> 6 & 31, size = (simm >> 11 & 31) + 1;
  if ((simm & 63) != mode_id) return;
  const bool immediate = i.is("s_setreg_imm32_b32");
  const auto may_set = [&](unsigned bit, bool old) {
    if (bit < first || bit >= first + size) return old;
    return !immediate || (i.words[1] >> (bit - first) & 1) != 0;
  };
  s.may_skip = may_set(skip_bit, s.may_skip);
  const bool was_on = s.may_index;
  s.may_index = may_set(index_bit, s.may_index);
  if (s.may_index != was_on) s.index_operands = s.may_index ? all_operands : 0;
}

// VSKIP = src0[src1]; hand-written code turns it off by s_setvskip 0, 0.
bool may_turn_skip_on(const isa::Instruction& i) {
  const isa::Operand *word = i.find(isa::Role::Src0), *bit = i.find(isa::Role::Src1);
  if (word == nullptr || word->kind == isa::Operand::Kind::Register) return true;
  if (bit == nullptr || bit->kind == isa::Operand::Kind::Register) return word->value != 0;
  return (word->value >> (bit->value & 31) & 1) != 0;
}

void advance_modes(WaveState& s, const isa::Instruction& i) {
  if (i.sets_vskip) {
    s.may_skip = may_turn_skip_on(i);
  } else if (i.is("s_set_gpr_idx_on")) {
    s.may_index = true;
    s.index_operands = index_immediate(i);
  } else if (i.is("s_set_gpr_idx_off")) {
    s.may_index = false;
    s.index_operands = 0;
  } else if (i.is("s_set_gpr_idx_mode")) {
    if (s.may_index) s.index_operands = index_immediate(i);
  } else if (i.base_mnemonic.starts_with("s_setreg")) {
    set_mode_register(s, i);
  } else if (s.may_index && !i.is("s_set_gpr_idx_idx") && i.writes({unit::m0, 1})) {
    s.index_operands =
        all_operands; // M0 holds the operand bits beside the index; s_set_gpr_idx_idx keeps them
  }
}

// Registers a result may go to, where that is more than the instruction names.
void add_results(isa::RegSet& set, const WaveState& before, const isa::Instruction& i) {
  for (const RegRange& d : i.defs) set.insert(d);
  if ((before.indexed_operands(i) & 8) != 0) {
    for (const RegRange& d : i.defs)
      if (isa::is_vector(d.first)) set.insert(isa::is_vgpr(d.first) ? isa::all_vgprs : isa::all_agprs);
  }
  if (i.base_mnemonic.starts_with("s_movreld")) set.insert(isa::all_sgprs);
}

void advance_pending(WaveState& s, const isa::Instruction& i) {
  const bool raised = (i.counters.vmcnt | i.counters.lgkmcnt | i.counters.expcnt) != 0;
  const bool waits = i.issue == isa::IssueClass::Waitcnt;
  for (uint8_t c = 0; c < counter_count; ++c) {
    WaveState::Pending& p = s.pending[c];
    if (raises(i, Counter{c}) != 0) {
      for (const RegRange& d : i.defs) p.registers.insert(d);
      p.traffic |= traffic_of(i);
    } else if (!raised && !s.may_skip) {
      for (const RegRange& d : i.defs) p.registers.erase(d); // written in order now
    }
    if (waits && wait_of(i, Counter{c}) == 0U) p = {};
  }
}

} // namespace

uint8_t traffic_of(const isa::Instruction& i) {
  const isa::MemoryAccess& m = i.memory;
  if (m.kind == MemoryKind::None) return no_traffic;
  const bool lds = m.kind == MemoryKind::Lds || m.kind == MemoryKind::Gds;
  if (!m.load && !m.store && !m.atomic) return lds ? lds_load | lds_store : global_load | global_store;
  uint8_t kinds = 0;
  if (m.load || m.atomic) kinds |= lds ? lds_load : global_load;
  if (m.store || m.atomic) kinds |= lds ? lds_store : global_store;
  if (m.kind == MemoryKind::Flat) kinds |= static_cast<uint8_t>(kinds << 2);
  if (m.lds_dma) kinds |= lds_store;
  return kinds;
}

bool may_clash(uint8_t a, uint8_t b) {
  const auto clash = [&](uint8_t load, uint8_t store) {
    const uint8_t both = load | store;
    return ((a & store) != 0 && (b & both) != 0) || ((b & store) != 0 && (a & both) != 0);
  };
  return clash(global_load, global_store) || clash(lds_load, lds_store);
}

unsigned raises(const isa::Instruction& i, Counter c) {
  return c == vmcnt ? i.counters.vmcnt : c == lgkmcnt ? i.counters.lgkmcnt : i.counters.expcnt;
}

std::optional<unsigned> wait_of(const isa::Instruction& i, Counter c) {
  if (i.issue != isa::IssueClass::Waitcnt) return std::nullopt;
  const auto fields = isa::WaitcntFields::of(i);
  const isa::WaitcntFields none;
  const unsigned count = c == vmcnt ? fields.vmcnt : c == lgkmcnt ? fields.lgkmcnt : fields.expcnt;
  const unsigned nothing = c == vmcnt ? none.vmcnt : c == lgkmcnt ? none.lgkmcnt : none.expcnt;
  return count == nothing ? std::nullopt : std::optional(count);
}

uint8_t WaveState::indexed_operands(const isa::Instruction& i) const {
  if (i.base_mnemonic.starts_with("v_movrel")) return all_operands;
  if (!may_index) return 0;
  using enum isa::IssueClass;
  return i.issue == Valu || i.issue == Transcendental || i.issue == Mfma ? index_operands : 0;
}

void WaveState::advance(const isa::Instruction& i) {
  add_results(written, *this, i);
  advance_pending(*this, i);
  if (i.sets_vskip || i.vgpr_index_mode || may_index || i.family == isa::Family::Sopk)
    advance_modes(*this, i);
  if (i.is_data() || i.call || i.indirect) {
    const WaveState modes = *this;
    *this = unknown();
    if (!i.is_data())
      may_skip = modes.may_skip, may_index = modes.may_index, index_operands = modes.index_operands;
  }
}

bool WaveState::merge(const WaveState& o) {
  const WaveState old = *this;
  may_skip = may_skip || o.may_skip;
  may_index = may_index || o.may_index;
  index_operands |= o.index_operands;
  written |= o.written;
  bool grew = may_skip != old.may_skip || may_index != old.may_index ||
              index_operands != old.index_operands || written != old.written;
  for (size_t c = 0; c < pending.size(); ++c) {
    pending[c].registers |= o.pending[c].registers;
    pending[c].traffic |= o.pending[c].traffic;
    grew = grew || pending[c] != old.pending[c];
  }
  return grew;
}

WaveState WaveState::unknown() {
  WaveState s;
  s.may_skip = s.may_index = true;
  s.index_operands = all_operands;
  s.written = everything();
  for (Pending& p : s.pending) p = {everything(), all_traffic};
  return s;
}

namespace {

WaveState start_of(const Function& function) {
  WaveState s = WaveState::unknown();
  s.may_skip = s.may_index = false;
  s.index_operands = 0;
  if (!function.kernel) return s;
  s.written.erase(isa::all_vgprs);
  s.written.erase(isa::all_agprs);
  s.written.insert(RegRange{unit::vgpr0, 3});
  s.pending = {};
  return s;
}

// Where jumps of unknown target exist, a block without known way in may be reached in any state the function
// can make.
bool changes_modes(const Program& program, const Function& function) {
  for (Index i = function.begin; i < function.end; ++i) {
    const isa::Instruction& inst = program.instruction(i);
    if (inst.sets_vskip || inst.vgpr_index_mode || inst.base_mnemonic.starts_with("s_setreg")) return true;
  }
  return false;
}

WaveState hidden_entry(const Program& program, const Function& function) {
  WaveState s = WaveState::unknown();
  if (!changes_modes(program, function)) s.may_skip = s.may_index = false, s.index_operands = 0;
  return s;
}

} // namespace

WaveStates WaveStates::compute(const Program& program, const Function& function, const Cfg& cfg) {
  WaveStates result;
  result.program_ = &program;
  result.cfg_ = &cfg;
  const std::vector<Block>& blocks = cfg.blocks();
  result.blocks_.resize(blocks.size());
  if (blocks.empty()) return result;

  std::vector<bool> dirty(blocks.size(), true);
  result.blocks_[0] = start_of(function);
  if (cfg.unknown_edges()) {
    const WaveState hidden = hidden_entry(program, function);
    for (uint32_t b = 1; b < blocks.size(); ++b)
      if (!blocks[b].reachable) result.blocks_[b] = hidden;
  }
  for (bool again = true; again;) {
    again = false;
    for (const uint32_t b : cfg.order()) {
      if (!dirty[b]) continue;
      dirty[b] = false;
      WaveState s = result.blocks_[b];
      for (Index i = blocks[b].begin; i < blocks[b].end; ++i) s.advance(program.instruction(i));
      for (const uint32_t to : blocks[b].successors)
        if (result.blocks_[to].merge(s)) dirty[to] = true, again = true;
    }
  }
  return result;
}

WaveState WaveStates::before(Index i) const {
  const uint32_t block = cfg_->block_of(i);
  WaveState s = blocks_[block];
  for (Index k = cfg_->blocks()[block].begin; k < i; ++k) s.advance(program_->instruction(k));
  return s;
}

} // namespace asmevo::program
