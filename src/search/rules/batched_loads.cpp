// Loads that stand under conditions sent for one after the other, before the first of them is waited for.
//
// A loop that fetches a tile, each element with a test of whether it exists, becomes this, once for each copy
// that the compiler has unrolled:
//
//     v_cmp_gt_u32 vcc, ...                       v_cmp_gt_u32 vcc, ...
//     v_mov_b32 v1, 0                             v_mov_b32 v1, 0
//     s_and_saveexec_b64 s[2:3], vcc              s_and_b64 s[12:13], s[10:11], vcc
//     s_cbranch_execz a                           s_mov_b64 exec, s[12:13]
//     global_load_dword v1, ...                   global_load_dword v1, ...
//   a:                                            s_mov_b64 exec, s[10:11]
//     s_or_b64 exec, exec, s[2:3]                 v_cmp_gt_u32 vcc, ...
//     s_waitcnt vmcnt(0)                          v_mov_b32 v9, 0
//     ds_write_b32 v5, v1                         s_and_b64 s[14:15], s[10:11], vcc
//     v_cmp_gt_u32 vcc, ...                       s_mov_b64 exec, s[14:15]
//     v_mov_b32 v1, 0                             global_load_dword v9, ...
//     s_and_saveexec_b64 s[2:3], vcc              s_mov_b64 exec, s[10:11]
//     s_cbranch_execz b                           s_waitcnt vmcnt(1)
//     global_load_dword v1, ...                   ds_write_b32 v5, v1
//   b:                                            s_waitcnt vmcnt(0)
//     s_or_b64 exec, exec, s[2:3]                 ds_write_b32 v5, v9 offset:4
//     s_waitcnt vmcnt(0)
//     ds_write_b32 v5, v1 offset:4
//
// On the left each load costs the wave the whole way to memory, some hundred cycles; on the right they are on
// their way at once. No schedule of single blocks does this.
//
// Pattern: a stretch with conditions (masked_code.h) and at least two loads of vector memory.
// Condition: what depends on each other keeps its order; each instruction runs for the lanes that it ran for;
// the branches go, as what they skip does nothing without lanes. Registers that tie a load to work in front
// of it which waits for another one get other names (value_webs.h).
//
// How: loads and what they need come first, in their old order, then everything else, in its old order.
#include "program/flight_doubt.h"
#include "search/rules/masked_code.h"
#include "search/rules/rule_list.h"
#include "search/rules/value_webs.h"

#include <algorithm>
#include <set>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::RegRange;
using isa::RegUnit;

constexpr RegRange exec{isa::unit::exec, 2}, scc{isa::unit::scc, 1};
constexpr size_t most_moves = 400, most_stretches = 16;
constexpr double least_gain = 0.005;

bool is_load(const Instruction& i) {
  return i.memory.returns && i.counters.vmcnt != 0;
}

// Steps [begin, end) that stay together: one, or from what sets SCC to what reads it.
struct Atom {
  size_t begin = 0, end = 0;
  bool load = false, sets_scc = false;
  isa::RegSet reads, writes; // without EXEC and SCC, which are as they were at either end
};

class Batch {
 public:
  Batch(const RuleContext& context, StraightCode& code, const MaskedStretch& m)
      : context_(context), code_(code), stretch_(m), steps_(m.stretch.steps), lanes_(m.lanes),
        copy_(steps_.size()) {}

  /// The steps in the new order; nothing where the order is the old one.
  std::optional<std::vector<Step>> run() {
    find_atoms();
    if (std::ranges::count_if(atoms_, &Atom::load) < 2) return std::nullopt;
    for (size_t n = 0; n < most_moves && rename_one(); ++n) find_atoms();
    return ordered();
  }

 private:
  // --- what stays together

  void find_atoms() {
    std::vector<size_t> ends(steps_.size()); // of the atom that the step is in, at least
    for (size_t n = 0; n < steps_.size(); ++n) ends[n] = n + 1;
    size_t scc_set = 0;
    for (size_t n = 0; n < steps_.size(); ++n) {
      const Instruction& i = *steps_[n].instruction;
      if (i.reads(scc))
        for (size_t k = scc_set; k < n; ++k) ends[k] = std::max(ends[k], n + 1);
      if (i.writes(scc)) scc_set = n;
    }
    atoms_.clear();
    for (size_t n = 0; n < steps_.size();) {
      size_t end = ends[n];
      for (size_t k = n; k < end; ++k) end = std::max(end, ends[k]);
      atoms_.push_back(atom(n, end));
      n = end;
    }
    find_early();
  }

  Atom atom(size_t begin, size_t end) const {
    Atom a{begin, end, false, false, {}, {}};
    isa::RegSet own; // what it reads of this comes from itself
    for (size_t n = begin; n < end; ++n) {
      const Instruction& i = *steps_[n].instruction;
      a.load |= is_load(i);
      a.sets_scc |= i.writes(scc);
      for (const RegRange& u : i.uses)
        for (RegUnit r = u.first; r < u.first + u.count; ++r)
          if (!own.contains(r)) a.reads.insert(r);
      if (lanes_[n] != MaskedStretch::any) a.reads.insert(stretch_.sets[lanes_[n]].mask);
      for (const RegRange& d : i.defs) {
        a.writes.insert(d);
        if (!i.partial_def && lanes_[n] == lanes_[begin]) own.insert(d);
      }
    }
    for (const RegRange& r : {exec, scc}) a.reads.erase(r), a.writes.erase(r);
    return a;
  }

  // Loads, and where what they read comes from.
  void find_early() {
    early_.assign(atoms_.size(), false);
    webs_.emplace(context_, code_, stretch_, steps_, lanes_);
    isa::RegSet wanted; // of what an early one adds to as well
    for (size_t n = atoms_.size(); n-- > 0;) {
      const Atom& a = atoms_[n];
      if (!a.load && !copy_[a.begin] && (a.writes & wanted).empty()) continue;
      early_[n] = true;
      for (size_t k = a.begin; k < a.end; ++k)
        for (const RegRange& d : steps_[k].instruction->defs)
          for (RegUnit u = d.first; u < d.first + d.count; ++u)
            if (webs_->begins(k, u)) wanted.erase(u);
      wanted |= a.reads;
      for (size_t k = a.begin; k < a.end; ++k)
        for (const RegRange& d : steps_[k].instruction->defs)
          for (RegUnit u = d.first; u < d.first + d.count; ++u)
            if (!webs_->begins(k, u)) wanted.insert(u);
    }
  }

  // --- names

  // Gives something another name that ties a load to late work in front of it. False: there is nothing left.
  bool rename_one() {
    for (size_t e = 0; e < atoms_.size(); ++e) {
      if (!early_[e]) continue;
      for (size_t l = 0; l < e; ++l) {
        if (early_[l]) continue;
        const isa::RegSet clash = (atoms_[l].reads | atoms_[l].writes) & atoms_[e].writes;
        if (clash.empty()) continue;
        for (RegUnit u = 0; u < isa::unit::count; ++u)
          if (clash.contains(u) && (move_made(e, u) || move_made(l, u) || move_read(l, u) || read_copy(l, u)))
            return true;
      }
    }
    return false;
  }

  bool move_made(size_t atom, RegUnit u) {
    for (size_t n = atoms_[atom].begin; n < atoms_[atom].end; ++n)
      if (const auto group = webs_->made(n, u); group && move(*group)) return true;
    return false;
  }
  bool move_read(size_t atom, RegUnit u) {
    for (size_t n = atoms_[atom].begin; n < atoms_[atom].end; ++n)
      if (const auto group = webs_->read(n, u); group && move(*group)) return true;
    return false;
  }
  bool move(size_t group) {
    auto steps = webs_->moved(group);
    if (!steps) return false;
    steps_ = *std::move(steps);
    return true;
  }

  // Late work reads a register that has to stay: it reads a copy, which is made early.
  bool read_copy(size_t atom, RegUnit u) {
    const size_t first = atoms_[atom].begin;
    const auto to = webs_->free_vgpr();
    if (!isa::is_vgpr(u) || !to || lanes_[first] == MaskedStretch::any || !atoms_[atom].reads.contains(u))
      return false;
    const uint64_t within = stretch_.within(lanes_[first]);
    for (size_t n = first; n-- > 0;)
      if (steps_[n].instruction->writes({u, 1})) {
        if (steps_[n].instruction->memory.returns) return false; // the copy would wait for it
        break;
      }
    std::vector<Step> steps = steps_;
    for (size_t a = atom; a < atoms_.size(); ++a)
      for (size_t n = atoms_[a].begin; n < atoms_[a].end; ++n) {
        const Instruction& i = *steps[n].instruction;
        const bool has_it = lanes_[n] != MaskedStretch::any && (within >> lanes_[n] & 1) != 0;
        if (!early_[a] && has_it && i.reads({u, 1}) && !i.cross_lane && !i.writes_all_lanes)
          if (const auto other = reading(steps[n], u, *to)) steps[n] = *other;
        if (!i.writes({u, 1})) continue;
        if (steps[first].text == steps_[first].text) return false; // whatever reads it cannot read a copy
        put_copy(std::move(steps), first, u, *to);
        return true;
      }
    return false;
  }

  std::optional<Step> reading(const Step& s, RegUnit u, RegUnit other) const {
    return search::with_registers(code_, s, [&](const isa::Operand& o) {
      return o.reg == RegRange{u, 1} && !o.is_def ? RegRange{other, 1} : o.reg;
    });
  }

  void put_copy(std::vector<Step> steps, size_t before, RegUnit from, RegUnit to) {
    Step copy;
    copy.text = fmt::format("v_mov_b32_e32 {}, {}", isa::name(to), isa::name(from));
    copy.instruction = code_.instruction(copy.text);
    const auto at = static_cast<std::ptrdiff_t>(before);
    steps.insert(steps.begin() + at, std::move(copy));
    lanes_.insert(lanes_.begin() + at, lanes_[before]);
    copy_.insert(copy_.begin() + at, true);
    steps_ = std::move(steps);
  }

  // --- order

  bool must_follow(const Atom& a, const Atom& b) const {
    if (!(a.writes & b.reads).empty() || !(a.reads & b.writes).empty() || !(a.writes & b.writes).empty())
      return true;
    for (size_t n = a.begin; n < a.end; ++n)
      for (size_t k = b.begin; k < b.end; ++k)
        if (keep_order(steps_[n], steps_[k])) return true;
    return false;
  }

  // Memory that may be the same; and what is in flight at the end, which waits behind it count.
  static bool keep_order(const Step& a, const Step& b) {
    const Instruction &i = *a.instruction, &k = *b.instruction;
    const auto in_flight = program::flight_class(i);
    if (in_flight && !a.complete && !b.complete && in_flight == program::flight_class(k)) return true;
    if (i.memory.kind == isa::MemoryKind::None || k.memory.kind == isa::MemoryKind::None) return false;
    return program::may_clash(program::traffic_of(i), program::traffic_of(k));
  }

  std::optional<std::vector<Step>> ordered() const {
    const size_t count = atoms_.size();
    // What SCC holds at the end is wanted behind it.
    size_t last_scc = count;
    if (stretch_.live_any.contains(scc.first))
      for (size_t n = 0; n < count; ++n)
        if (atoms_[n].sets_scc) last_scc = n;
    std::vector<std::vector<size_t>> behind(count);
    std::vector<size_t> waits_for(count);
    for (size_t b = 0; b < count; ++b)
      for (size_t a = 0; a < b; ++a)
        if (must_follow(atoms_[a], atoms_[b]) || (b == last_scc && atoms_[a].sets_scc))
          behind[a].push_back(b), ++waits_for[b];
    std::set<std::pair<bool, size_t>> ready; // early ones first
    for (size_t n = 0; n < count; ++n)
      if (waits_for[n] == 0) ready.insert({!early_[n], n});
    std::vector<Step> steps;
    std::vector<uint32_t> lanes;
    bool moved = false;
    size_t last = 0;
    while (!ready.empty()) {
      const size_t n = ready.begin()->second;
      ready.erase(ready.begin());
      moved |= n < last;
      last = n;
      for (size_t k = atoms_[n].begin; k < atoms_[n].end; ++k)
        steps.push_back(steps_[k]), lanes.push_back(lanes_[k]);
      for (const size_t b : behind[n])
        if (--waits_for[b] == 0) ready.insert({!early_[b], b});
    }
    if (!moved) return std::nullopt;
    return with_exec(code_, stretch_, steps, lanes);
  }

  const RuleContext& context_;
  StraightCode& code_;
  const MaskedStretch& stretch_;
  std::vector<Step> steps_;
  std::vector<uint32_t> lanes_; // by step
  std::vector<bool> copy_;      // by step: put in, to be early
  std::vector<Atom> atoms_;
  std::vector<bool> early_; // by atom
  std::optional<ValueWebs> webs_;
};

} // namespace

std::vector<Proposal> propose_batched_loads(const RuleContext& context) {
  const auto code = StraightCode::of(context);
  if (code == nullptr) return {};
  std::vector<MaskedStretch> stretches = masked_stretches(context, *code);
  const auto time = [&](const MaskedStretch& m) { return context.time_of(m.stretch.begin, m.stretch.end); };
  std::ranges::stable_sort(stretches, std::greater{}, time);
  if (stretches.size() > most_stretches) stretches.resize(most_stretches);
  std::vector<Proposal> proposals;
  Proposal all;
  size_t text = 0; // bytes of it
  for (const MaskedStretch& m : stretches) {
    const auto steps = Batch(context, *code, m).run();
    if (!steps) continue;
    const StraightCode::Written old = code->old(m.stretch), written = code->write(m.stretch, *steps);
    const double latency = context.machine[timing::Parameter::l2_latency];
    const double before = cycles_alone(context, old.instructions, latency);
    const double after = cycles_alone(context, written.instructions, latency);
    if (after > before * (1 - least_gain)) continue;
    Proposal p;
    p.changes.push_back(replace(context, m.stretch.begin, m.stretch.end - 1, written.text));
    p.rationale =
        fmt::format("{} to {}: loads under {} conditions sent for before the first is waited for: {:.0f} "
                    "cycles of a wave alone, not {:.0f}",
                    context.code.id(m.stretch.begin), context.code.id(m.stretch.end - 1), m.sets.size() - 1,
                    after, before);
    p.promise = time(m) * (1 - after / before);
    if (text + written.text.size() <= program::Edit::max_text) {
      text += written.text.size();
      all.changes.push_back(p.changes.front());
      all.promise += p.promise;
    }
    proposals.push_back(std::move(p));
  }
  if (all.changes.size() > 1) {
    all.rationale = fmt::format("{} stretches with their loads sent for first", all.changes.size());
    proposals.insert(proposals.begin(), std::move(all));
  }
  return proposals;
}

} // namespace asmevo::search
