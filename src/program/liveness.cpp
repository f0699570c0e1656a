#include "program/liveness.h"

#include "program/exec_change.h"
#include "program/saved_masks.h"
#include "program/widest_exec.h"

#include <algorithm>

namespace asmevo::program {

namespace {

namespace unit = isa::unit;
using isa::RegRange;
using isa::RegSet;

RegSet set_of(RegRange range) {
  RegSet set;
  set.insert(range);
  return set;
}

const RegSet all_registers = set_of({0, unit::count});
const RegSet vector_registers = set_of({0, unit::scalar0});
const RegSet scalar_registers = all_registers - vector_registers;
const RegSet vgprs = set_of(isa::all_vgprs), agprs = set_of(isa::all_agprs), sgprs = set_of(isa::all_sgprs);

bool is_vector_instruction(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && !i.is_data();
}

// s_cbranch_i_fork and the like run code in between and come back.
bool goes_elsewhere(const isa::Instruction& i) {
  return i.call || i.indirect || i.is_data() || (i.branch && i.base_mnemonic.ends_with("_fork"));
}

// A DPP instruction names the old value of its result, but with all rows and banks enabled and 0 for lanes
// without source (bound_ctrl) nothing of it lives on. Multiply-add forms read it as a summand.
bool dpp_ignores_old(const isa::Instruction& i) {
  if (i.extension != isa::Extension::Dpp || i.mods.row_mask != 0xf || i.mods.bank_mask != 0xf ||
      !i.mods.bound_ctrl)
    return false;
  constexpr std::string_view accumulate[] = {"v_mac", "v_fmac", "v_pk_fmac", "v_dot"};
  return std::ranges::none_of(accumulate, [&](std::string_view p) { return i.base_mnemonic.starts_with(p); });
}

// s_cmov_b32 writes only if SCC; the MODE fields that s_setreg does not name stay; M0 keeps the bits that
// indexing instructions do not set.
bool keeps_part_of_scalars(const isa::Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return m.starts_with("s_cmov") || m.starts_with("s_setreg") || m.starts_with("s_set_gpr_idx") ||
         m.starts_with("s_movreld") || i.sets_vskip;
}

bool returns(const Program& program, const Block& b) {
  return b.leaves && !program.instruction(b.end - 1).ends_program;
}

// Lanes that are on before an EXEC write take the facts of what they are after it, and so do those that are
// off.
void move_lanes(LiveSets& s, ExecChange change) {
  const RegSet scalars = s.on & scalar_registers, on = s.on & vector_registers, off = s.off, both = on | off;
  switch (change) {
  case ExecChange::None: return;
  case ExecChange::Narrow: s = {both, off}; break;
  case ExecChange::Widen: s = {on, both}; break;
  case ExecChange::Fill: s = {on, on}; break;
  case ExecChange::Clear: s = {off, off}; break;
  case ExecChange::Invert: s = {off, on}; break;
  case ExecChange::Disjoint: s = {off, both}; break;
  case ExecChange::Cover: s = {both, on}; break;
  case ExecChange::Replace: s = {both, both}; break;
  }
  s.on |= scalars;
}

} // namespace

class LivenessSolver {
 public:
  LivenessSolver(const Program& program, const Function& function, const Cfg& cfg, StartLanes start)
      : program_(program), function_(function), cfg_(cfg), start_(start) {
    live_.program_ = &program;
    live_.cfg_ = &cfg;
    live_.begin_ = function.begin;
    live_.waves_ = WaveStates::compute(program, function, cfg);
    live_.saved_ = saved_masks(program, function, cfg);
  }

  Liveness solve() {
    describe_entries();
    find_widest();
    iterate();
    find_peak();
    return std::move(live_);
  }

 private:
  void describe_entries() {
    live_.transfers_.resize(function_.end - function_.begin);
    for (uint32_t b = 0; b < cfg_.blocks().size(); ++b) {
      WaveState wave = live_.waves_.at_block(b);
      for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) {
        const isa::Instruction& inst = program_.instruction(i);
        live_.transfers_[i - function_.begin] = describe(inst, wave);
        wave.advance(inst);
      }
    }
  }

  static Liveness::Transfer describe(const isa::Instruction& i, const WaveState& wave) {
    Liveness::Transfer t;
    if (goes_elsewhere(i)) {
      t.everything = true;
      return t;
    }
    t.exec_change = static_cast<uint8_t>(exec_change(i));
    const bool skipped = wave.may_skip && is_vector_instruction(i);
    const uint8_t indexed = wave.indexed_operands(i);
    t.ignores_old = dpp_ignores_old(i);
    const bool whole = (!i.partial_def || t.ignores_old) && !skipped && (indexed & 8) == 0;
    t.kills_off = whole && i.writes_all_lanes;
    t.kills_on = whole && (i.reads_exec || i.writes_all_lanes);
    t.kills_scalars = !skipped && !keeps_part_of_scalars(i);
    t.uses_off = !i.reads_exec || i.cross_lane;
    if ((indexed & 7) != 0)
      for (const RegRange& u : i.uses) {
        t.uses_all_vgprs = t.uses_all_vgprs || isa::is_vgpr(u.first);
        t.uses_all_agprs = t.uses_all_agprs || isa::is_agpr(u.first);
      }
    t.uses_all_sgprs = i.base_mnemonic.starts_with("s_movrels");
    return t;
  }

  void find_widest() {
    const WidestExec widest = find_widest_exec(program_, function_, cfg_, live_.waves_);
    if (widest.mask == WidestExec::Mask::Unknown) return;
    for (size_t k = 0; k < widest.holds.size(); ++k) live_.transfers_[k].widest = widest.holds[k];
    // No lane is off there at all.
    if (widest.mask == WidestExec::Mask::AllLanes || start_ == StartLanes::All) return;
    for (Index i = function_.begin; i < function_.end; ++i) {
      const Liveness::Transfer& t = live_.transfers_[i - function_.begin];
      if (!t.uses_off) continue;
      for (const RegRange& u : program_.instruction(i).uses) live_.never_on_.insert(u);
      if (t.uses_all_vgprs) live_.never_on_ |= vgprs;
      if (t.uses_all_agprs) live_.never_on_ |= agprs;
    }
    for (const Block& b : cfg_.blocks())
      if (returns(program_, b)) live_.never_on_ = vector_registers;
    live_.never_on_ &= vector_registers;
  }

  void iterate() {
    const std::vector<Block>& blocks = cfg_.blocks();
    live_.block_in_.resize(blocks.size());
    std::vector<bool> dirty(blocks.size(), true);
    // Parts that one way knows of and another does not may come and go; from some time on facts only grow.
    constexpr unsigned most_visits = 64;
    std::vector<unsigned> visits(blocks.size());
    for (bool again = true; again;) {
      again = false;
      for (auto b = cfg_.order().rbegin(); b != cfg_.order().rend(); ++b) {
        if (!dirty[*b]) continue;
        dirty[*b] = false;
        Liveness::Facts s = live_.at_end(*b);
        for (Index i = blocks[*b].end; i-- > blocks[*b].begin;) live_.step_back(s, i);
        Liveness::Facts& in = live_.block_in_[*b];
        if (++visits[*b] > most_visits) {
          in.forget_parts(0), s.forget_parts(0);
          s.join(in);
        }
        if (s == in) continue;
        in = std::move(s);
        for (const uint32_t p : blocks[*b].predecessors) dirty[p] = true, again = true;
      }
    }
  }

  void find_peak() {
    Liveness::Pressure& peak = live_.peak_;
    for (uint32_t b = 0; b < cfg_.blocks().size(); ++b) {
      if (!cfg_.blocks()[b].reachable) continue;
      for (const RegSet& live : live_.before_each(b)) {
        peak.vgprs = std::max(peak.vgprs, static_cast<unsigned>((live & vgprs).size()));
        peak.agprs = std::max(peak.agprs, static_cast<unsigned>((live & agprs).size()));
        peak.sgprs = std::max(peak.sgprs, static_cast<unsigned>((live & sgprs).size()));
      }
    }
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  StartLanes start_;
  Liveness live_;
};

Liveness Liveness::compute(const Program& program, const Function& function, const Cfg& cfg,
                           StartLanes start) {
  return LivenessSolver(program, function, cfg, start).solve();
}

LiveSets Liveness::Facts::lanes() const {
  LiveSets s{on, off};
  for (const Part& p : parts) s.off |= p.live;
  return s;
}

// Lanes of these parts are lanes of the one around them, or of none.
void Liveness::Facts::forget_parts(size_t from) {
  RegSet& around = from == 0 ? off : parts[from - 1].live;
  for (size_t n = from; n < parts.size(); ++n) around |= parts[n].live;
  parts.resize(std::min(from, parts.size()));
}

// Where one way knows of a part and the other does not, its lanes are among those of the part around it
// there.
void Liveness::Facts::join(Facts o) {
  size_t same = 0;
  while (same < std::min(parts.size(), o.parts.size()) && parts[same].at == o.parts[same].at) ++same;
  if (same < parts.size() && same < o.parts.size()) forget_parts(same), o.forget_parts(same);
  const auto fill_up = [](Facts& f, const Facts& like) {
    for (size_t n = f.parts.size(); n < like.parts.size(); ++n)
      f.parts.push_back({like.parts[n].at, f.parts.empty() ? f.off : f.parts.back().live});
  };
  fill_up(*this, o), fill_up(o, *this);
  on |= o.on, off |= o.off;
  for (size_t n = 0; n < parts.size(); ++n) parts[n].live |= o.parts[n].live;
}

void Liveness::change_lanes(Facts& s, Index at) const {
  const RegSet on = s.on & vector_registers;
  if (const Index saved = saved_[at - begin_]; saved != no_index) {
    // What was known of the same mask concerned lanes that are on.
    for (size_t n = 0; n < s.parts.size(); ++n)
      if (s.parts[n].at == saved) s.parts.resize(n);
    s.parts.push_back({saved, on});
    return;
  }
  for (size_t n = 0; n < s.parts.size(); ++n)
    if (s.parts[n].at == at) { // the mask is saved here: all of its lanes are on
      for (size_t k = n; k < s.parts.size(); ++k) s.on |= s.parts[k].live;
      s.parts.resize(n);
      return;
    }
  const auto change = static_cast<ExecChange>(transfers_[at - begin_].exec_change);
  if (change == ExecChange::None) return;
  if (change == ExecChange::Narrow && !s.parts.empty()) {
    s.on |= s.parts.back().live;
    return;
  }
  s.forget_parts(0);
  LiveSets lanes{s.on, s.off};
  move_lanes(lanes, change);
  s.on = lanes.on, s.off = lanes.off;
}

void Liveness::step_back(Facts& s, Index at) const {
  const isa::Instruction& i = program_->instruction(at);
  const Transfer& t = transfers_[at - begin_];
  if (t.everything) {
    s = {all_registers, vector_registers, {}};
    return;
  }
  change_lanes(s, at);
  const auto each_off = [&](auto f) {
    f(s.off);
    for (Part& p : s.parts) f(p.live);
  };
  for (const RegRange& d : i.defs) {
    if (!isa::is_vector(d.first)) {
      if (t.kills_scalars) s.on.erase(d);
      continue;
    }
    if (t.kills_on) s.on.erase(d);
    if (t.kills_off) each_off([&](RegSet& off) { off.erase(d); });
  }
  const auto use = [&](const RegRange& u) {
    s.on.insert(u);
    if (t.uses_off && isa::is_vector(u.first)) each_off([&](RegSet& off) { off.insert(u); });
  };
  if (t.ignores_old) {
    for (const isa::Operand& o : i.operands)
      if (o.kind == isa::Operand::Kind::Register && o.is_use && o.role != isa::Role::Old) use(o.reg);
    for (const RegRange& u : i.uses)
      if (!isa::is_vector(u.first)) use(u);
  } else {
    for (const RegRange& u : i.uses) use(u);
  }
  const auto use_all = [&](const RegSet& set) {
    s.on |= set;
    if (t.uses_off) each_off([&](RegSet& off) { off |= set; });
  };
  if (t.uses_all_vgprs) use_all(vgprs);
  if (t.uses_all_agprs) use_all(agprs);
  if (t.uses_all_sgprs) s.on |= sgprs;
  if (t.widest) each_off([&](RegSet& off) { off &= never_on_; });
}

Liveness::Facts Liveness::at_end(uint32_t block) const {
  const Block& b = cfg_->blocks()[block];
  Facts s;
  bool first = true;
  if (returns(*program_, b)) s = {all_registers, vector_registers, {}}, first = false;
  for (const uint32_t to : b.successors) {
    if (first)
      s = block_in_[to];
    else
      s.join(block_in_[to]);
    first = false;
  }
  return s;
}

RegSet Liveness::live_at_exit(uint32_t block) const {
  const Block& b = cfg_->blocks()[block];
  if (!returns(*program_, b)) return {};
  WaveState wave = waves_.before(b.end - 1);
  wave.advance(program_->instruction(b.end - 1));
  return wave.written;
}

Liveness::Facts Liveness::facts_at(Index i, bool before) const {
  const uint32_t block = cfg_->block_of(i);
  Facts s = at_end(block);
  for (Index k = cfg_->blocks()[block].end - 1; k > i; --k) step_back(s, k);
  if (before) step_back(s, i);
  return s;
}

LiveSets Liveness::lanes_before(Index i) const {
  const LiveSets s = facts_at(i, true).lanes();
  const RegSet written = waves_.before(i).written;
  return {s.on & written, s.off & written};
}

LiveSets Liveness::lanes_after(Index i) const {
  const LiveSets s = facts_at(i, false).lanes();
  WaveState wave = waves_.before(i);
  wave.advance(program_->instruction(i));
  return {s.on & wave.written, s.off & wave.written};
}

RegSet Liveness::before(Index i) const {
  return lanes_before(i).any();
}
RegSet Liveness::after(Index i) const {
  return lanes_after(i).any();
}

std::vector<RegSet> Liveness::before_each(uint32_t block) const {
  const Block& b = cfg_->blocks()[block];
  std::vector<RegSet> sets(b.end - b.begin + 1);
  Facts s = at_end(block);
  sets.back() = s.lanes().any();
  for (Index i = b.end; i-- > b.begin;) {
    step_back(s, i);
    sets[i - b.begin] = s.lanes().any();
  }
  WaveState wave = waves_.at_block(block);
  for (Index i = b.begin; i < b.end; ++i) {
    sets[i - b.begin] &= wave.written;
    wave.advance(program_->instruction(i));
  }
  sets.back() &= wave.written;
  return sets;
}

} // namespace asmevo::program
