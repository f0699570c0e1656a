#include "program/dependences.h"

#include "program/dependence_graph.h"
#include "program/memory_reference.h"
#include "program/wait_order.h"

#include <algorithm>

namespace asmevo::program {

namespace {

namespace unit = isa::unit;
using isa::RegRange;
using isa::RegUnit;

// Things besides registers that instructions take turns at. One that changes it stays among those that rely
// on it.
enum Token : uint16_t {
  modes = unit::count,                // VSKIP and VGPR indexing, which all vector instructions rely on
  priority,                           // s_setprio
  effects,                            // side effects among themselves
  synchronization,                    // barriers and messages, among which memory accesses and waits stay
  first_counter,                      // s_waitcnt, per counter, among which what raises the counter stays
  resource_count = first_counter + 3, // one a counter
};

bool is_vector_instruction(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && !i.is_data();
}
uint16_t token_of(Counter c) {
  return static_cast<uint16_t>(first_counter + static_cast<uint16_t>(c));
}
bool is_fence(const isa::Instruction& i) {
  return i.is_data() || i.ends_block();
}

bool synchronizes(const isa::Instruction& i) {
  using enum isa::IssueClass;
  return i.issue == Barrier || i.issue == Message || (i.issue == Internal && !i.is("s_setprio")) ||
         i.memory.kind == isa::MemoryKind::Gds;
}

bool changes_modes(const isa::Instruction& i, const WaveState& before) {
  constexpr uint32_t mode_id = 1; // hardware register id of MODE, the low bits of simm16
  if (i.sets_vskip || i.base_mnemonic.starts_with("s_set_gpr_idx")) return true;
  if (i.base_mnemonic.starts_with("s_setreg")) return (i.words[0] & 63) == mode_id;
  return before.may_index && i.writes({unit::m0, 1}); // the index itself
}

static_assert(counter_count == 3);

class Builder {
 public:
  Builder(const Program& program, Index begin, Index end, const WaveState& at_begin,
          const DependenceOptions& options)
      : program_(program), begin_(begin), end_(end), wave_(at_begin), at_begin_(at_begin), options_(options),
        graph_(begin, end), writer_(resource_count, no_index), readers_(resource_count) {
    for (auto& a : arrivals_) a.resize(unit::count);
    for (auto& w : traffic_wait_) w.fill(no_index);
    entry_wait_.fill(no_index);
    counts_are_certain_ = !may_be_skipped();
    for (uint8_t c = 0; c < counter_count; ++c) sort_waits(Counter{c});
  }

  std::vector<Dependence> build() {
    for (Index i = begin_; i < end_; ++i) {
      const isa::Instruction& inst = program_.instruction(i);
      // Before its results are noted: addresses are those it reads, not what it may write over them.
      if (inst.memory.kind != isa::MemoryKind::None) memory(i, inst);
      registers(i, inst);
      tokens(i, inst);
      waits(i, inst);
      fence(i, inst);
      graph_.finish(i);
      wave_.advance(inst);
    }
    return graph_.take();
  }

 private:
  // --- registers and tokens ---

  void read(Index i, uint16_t resource, DependenceKind kind, RegRange reg = {}) {
    if (writer_[resource] != no_index) graph_.want(writer_[resource], kind, reg);
    readers_[resource].push_back(i);
  }

  void write(Index i, uint16_t resource, DependenceKind against_readers, DependenceKind against_writer,
             RegRange reg = {}) {
    for (const Index r : readers_[resource])
      if (r != i) graph_.want(r, against_readers, reg);
    if (writer_[resource] != no_index && writer_[resource] != i)
      graph_.want(writer_[resource], against_writer, reg);
    readers_[resource].clear();
    writer_[resource] = i;
  }

  void use(Index i, const RegRange& range) {
    for (RegUnit u = range.first; u < range.first + range.count; ++u) {
      wait_for_result(u);
      read(i, u, DependenceKind::Raw, {u, 1});
    }
  }

  // `certain`: the write happens, and to these registers.
  void define(Index i, const RegRange& range, bool certain) {
    for (RegUnit u = range.first; u < range.first + range.count; ++u) {
      wait_for_result(u);
      write(i, u, DependenceKind::War, DependenceKind::Waw, {u, 1});
      note_result(i, u, certain);
    }
  }

  void registers(Index i, const isa::Instruction& inst) {
    const uint8_t indexed = wave_.indexed_operands(inst);
    for (const RegRange& u : inst.uses) use(i, wider(u, (indexed & 7) != 0));
    if (inst.reads_exec && !inst.reads({unit::exec, 2})) use(i, {unit::exec, 2});
    if (indexed != 0 || inst.base_mnemonic.starts_with("s_movrel")) use(i, {unit::m0, 1});
    if (inst.base_mnemonic.starts_with("s_movrels")) use(i, isa::all_sgprs);
    const bool any_result = (indexed & 8) != 0;
    const bool certain = !(wave_.may_skip && is_vector_instruction(inst));
    for (const RegRange& d : inst.defs) define(i, wider(d, any_result), certain && !any_result);
    if (inst.base_mnemonic.starts_with("s_movreld")) define(i, isa::all_sgprs, false);
  }

  static RegRange wider(const RegRange& r, bool indexed) {
    if (!indexed || !isa::is_vector(r.first)) return r;
    return {isa::is_vgpr(r.first) ? unit::vgpr0 : unit::agpr0, 256};
  }

  void tokens(Index i, const isa::Instruction& inst) {
    using enum DependenceKind;
    if (is_vector_instruction(inst)) read(i, modes, Order);
    if (changes_modes(inst, wave_)) write(i, modes, Order, Order);
    if (inst.is("s_setprio")) return write(i, priority, Order, Order);
    if (inst.side_effects) write(i, effects, Order, Order);
    const bool waits = inst.issue == isa::IssueClass::Waitcnt;
    if (synchronizes(inst))
      write(i, synchronization, Order, Order);
    else if (waits || inst.memory.kind != isa::MemoryKind::None)
      read(i, synchronization, Order);
    for (uint8_t c = 0; c < counter_count; ++c) {
      const uint16_t token = token_of(Counter{c});
      if (wait_of(inst, Counter{c}))
        write(i, token, Wait, Wait);
      else if (raises(inst, Counter{c}) != 0)
        read(i, token, Wait);
    }
  }

  // A branch, the end, or a word that is no instruction: everything before stays before, everything after
  // after.
  void fence(Index i, const isa::Instruction& inst) {
    if (last_fence_ != no_index) graph_.want(last_fence_, DependenceKind::Order);
    if (!is_fence(inst)) return;
    // What has a successor is ordered by it.
    for (Index k = last_fence_ == no_index ? begin_ : last_fence_; k < i; ++k)
      if (!graph_.has_successor(k)) graph_.want(k, DependenceKind::Order);
    last_fence_ = i;
  }

  // --- waits ---

  // Some instruction that raises a counter may be skipped.
  bool may_be_skipped() const {
    WaveState modes = at_begin_;
    for (Index i = begin_; i < end_; ++i) {
      const isa::Instruction& inst = program_.instruction(i);
      const bool counted = inst.counters.vmcnt + inst.counters.lgkmcnt + inst.counters.expcnt != 0;
      if (modes.may_skip && counted && is_vector_instruction(inst)) return true;
      if (inst.sets_vskip || inst.base_mnemonic.starts_with("s_setreg")) modes.advance(inst);
    }
    return false;
  }

  void sort_waits(Counter c) {
    order_[c] = WaitOrder::compute(program_, begin_, end_, c, counts_are_certain_);
    group_of_[c].assign(end_ - begin_, no_index);
    for (uint32_t g = 0; g < order_[c].groups.size(); ++g)
      for (const Index m : order_[c].groups[g].members) group_of_[c][m - begin_] = g;
  }

  // A result that comes with a wait: what touches it stays behind the wait.
  void wait_for_result(RegUnit u) {
    for (uint8_t c = 0; c < counter_count; ++c) {
      const Arrival& a = arrivals_[c][u];
      Index wait = a.wait;
      const Index last = writer_[token_of(Counter{c})];
      // Where counts are not certain, any wait since may have been the one.
      if (!counts_are_certain_ && a.sender != no_index && last != no_index && last > a.sender) wait = last;
      if (wait != no_index) graph_.want(wait, DependenceKind::Wait);
      const bool from_before = !overwritten_.contains(u) && at_begin_.pending[c].registers.contains(u);
      if (from_before && entry_wait_[c] != no_index) graph_.want(entry_wait_[c], DependenceKind::Wait);
    }
  }

  void note_result(Index i, RegUnit u, bool certain) {
    bool asynchronous = false;
    for (uint8_t c = 0; c < counter_count; ++c) {
      if (raises(program_.instruction(i), Counter{c}) == 0) continue;
      asynchronous = true;
      arrivals_[c][u] = {i, no_index};
    }
    if (asynchronous || !certain) return;
    overwritten_.insert(u);
    for (auto& arrivals : arrivals_) arrivals[u] = {};
  }

  void waits(Index i, const isa::Instruction& inst) {
    const uint8_t traffic = traffic_of(inst);
    for (uint8_t c = 0; c < counter_count; ++c) {
      const uint32_t g = group_of_[c][i - begin_];
      if (options_.counted_order && g != no_index) stay_in_group(i, Counter{c}, g);
      if (wait_of(inst, Counter{c})) complete(i, Counter{c});
      for (unsigned bit = 0; bit < 4; ++bit)
        if (traffic_wait_[c][bit] != no_index && may_clash(traffic, static_cast<uint8_t>(1U << bit)))
          graph_.want(traffic_wait_[c][bit], DependenceKind::Wait);
    }
  }

  void stay_in_group(Index i, Counter c, uint32_t g) {
    const WaitOrder::Group& group = order_[c].groups[g];
    const bool first = group.members.front() == i;
    if (group.ordered && !first) {
      const auto self = std::ranges::lower_bound(group.members, i);
      graph_.want(*std::prev(self), DependenceKind::Wait);
      return;
    }
    if (g == 0) return;
    // The last wait before this orders it against everything in front of the wait.
    const Index wait = writer_[token_of(c)];
    for (const Index m : order_[c].groups[g - 1].members)
      if (wait == no_index || m > wait) graph_.want(m, DependenceKind::Wait);
  }

  void complete(Index i, Counter c) {
    complete_results(i, c);
    for (unsigned bit = 0; bit < 4; ++bit)
      if ((wave_.pending[c].traffic >> bit & 1) != 0) traffic_wait_[c][bit] = i;
  }

  void complete_results(Index i, Counter c) {
    if (!earlier_complete_[c]) entry_wait_[c] = i;
    if (!counts_are_certain_) return;
    const WaitOrder::Completion& done = order_[c].completions[next_completion_[c]++];
    for (const Index m : done.members)
      for (const RegRange& d : program_.instruction(m).defs)
        for (RegUnit u = d.first; u < d.first + d.count; ++u)
          if (arrivals_[c][u].sender == m) arrivals_[c][u].wait = i;
    earlier_complete_[c] = earlier_complete_[c] || done.earlier_ones;
  }

  // --- memory ---

  struct Access {
    Index at = 0;
    uint8_t traffic = no_traffic;
    bool coherent = false; // a load that other agents' stores are watched with: keeps order among its like
    bool lds_dma = false, universal = false;
    MemoryReference reference;
  };

  void memory(Index i, const isa::Instruction& inst) {
    constexpr size_t most = 512;
    Access a = access(i, inst);
    a.universal = accesses_.size() >= most;
    for (const Access& earlier : accesses_)
      if (conflict(earlier, a)) graph_.want(earlier.at, DependenceKind::Memory);
    if (a.universal) accesses_.clear();
    accesses_.push_back(std::move(a));
  }

  Access access(Index i, const isa::Instruction& inst) const {
    Access a;
    a.at = i;
    a.traffic = traffic_of(inst);
    a.coherent = inst.memory.load && !inst.memory.atomic && (inst.mods.sc0 || inst.mods.sc1) &&
                 (a.traffic & global_load) != 0;
    a.lds_dma = inst.memory.lds_dma;
    a.reference = memory_reference(inst);
    return a;
  }

  bool conflict(const Access& a, const Access& b) const {
    if (a.universal || b.universal) return true;
    if (a.coherent && b.coherent) return true;
    return may_clash(a.traffic, b.traffic) && !apart(a, b);
  }

  bool apart(const Access& a, const Access& b) const {
    if (a.lds_dma || b.lds_dma) return false;
    if (!(a.reference.uniform && b.reference.uniform) && options_.aliasing == Aliasing::LockStep)
      return false;
    // A base register that changed in between orders the pair by itself: one reads it before, the other
    // after.
    return a.reference.same_base(b.reference) && a.reference.disjoint(b.reference);
  }

  // A result on its way: who sent for it, and the wait after which it is there.
  struct Arrival {
    Index sender = no_index, wait = no_index;
  };

  const Program& program_;
  Index begin_, end_;
  WaveState wave_;
  const WaveState& at_begin_;
  DependenceOptions options_;
  DependenceGraph graph_;
  std::vector<Index> writer_;
  std::vector<std::vector<Index>> readers_; // since the last write
  Index last_fence_ = no_index;
  bool counts_are_certain_ = true;
  std::array<WaitOrder, counter_count> order_;
  std::array<std::vector<uint32_t>, counter_count> group_of_;
  std::array<size_t, counter_count> next_completion_{};
  std::array<std::vector<Arrival>, counter_count> arrivals_; // by register
  isa::RegSet overwritten_;                                  // by results that do not come with a wait
  // The wait after which results from before the range are there; the last one so far while that is not sure.
  std::array<Index, counter_count> entry_wait_;
  std::array<bool, counter_count> earlier_complete_{};
  std::array<std::array<Index, 4>, counter_count>
      traffic_wait_; // last wait while traffic of each kind was pending
  std::vector<Access> accesses_;
};

} // namespace

std::vector<Dependence> dependences(const Program& program, Index begin, Index end, const WaveState& at_begin,
                                    const DependenceOptions& options) {
  return Builder(program, begin, end, at_begin, options).build();
}

std::vector<Dependence> dependences(const Program& program, Index begin, Index end) {
  WaveState state = WaveState::unknown();
  const Function* function = program.function_at(begin);
  const Index first = function != nullptr ? function->begin : 0;
  const Index last = function != nullptr ? function->end : static_cast<Index>(program.entries.size());
  WaveState modes;
  bool may_skip = false, may_index = false;
  for (Index i = first; i < last; ++i) {
    modes.advance(program.instruction(i));
    may_skip = may_skip || modes.may_skip;
    may_index = may_index || modes.may_index;
  }
  state.may_skip = may_skip;
  state.may_index = may_index;
  if (!may_index) state.index_operands = 0;
  return dependences(program, begin, end, state);
}

} // namespace asmevo::program
