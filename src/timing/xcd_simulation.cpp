#include "timing/xcd_simulation.h"

#include "base/random.h"
#include "timing/wave_progress.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

namespace asmevo::timing {

namespace {

using P = Parameter;

constexpr unsigned simds_per_cu = 4;
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double barrier_opens = 8;     // cycles from the last wave's arrival; an estimate
constexpr double most_late_start = 64;  // cycles, of the ensemble's waves
constexpr uint64_t mark_distance = 512; // instructions

struct Group {
  uint32_t cu = 0, waves = 0, waiting = 0, ended = 0;
};

struct Wave {
  WaveProgress progress;
  uint32_t group = 0, simd = 0;
  Stall blocked = Stall::None; // why it could not issue though ready
  bool at_barrier = false;
};

struct Simd {
  std::vector<uint32_t> waves; // oldest first
  std::array<double, pipe_count> free{};
  // Vector and matrix instructions are issued through one port, whatever units they then keep.
  double vector_port = 0;
  double valu_after_matrix = 0, packed_after_matrix = 0;
  double wake = never;
  size_t turn = 0;     // round robin: who is first
  uint32_t last = ~0U; // wave that issued a vector instruction
  bool priorities = false;
};

class Simulation {
 public:
  Simulation(const TimedCode& code, const Machine& machine, std::span<const WorkgroupTrace* const> workgroups,
             const SimulationOptions& options)
      : code_(code), machine_(machine), options_(options), workgroups_(workgroups),
        memory_(machine, {.cus = options.cus,
                          .l2_share = options.share,
                          .xcds = options.xcds,
                          .warmth = options.warmth,
                          .replacement = options.structure.replacement}),
        simds_(size_t{options.cus} * simds_per_cu), resident_(options.cus),
        start_interval_(machine[P::workgroup_cycles] *
                        std::max(1.0, options.waves_per_workgroup / double{simds_per_cu}) / options.share) {
    result_.ops.resize(code.size());
    room_ = uint64_t{options.cus} * options.workgroups_per_cu;
  }

  SimulationResult run() {
    while (!result_.cut) {
      const double dispatch = next_dispatch();
      const double simd = events_.empty() ? never : events_.top().first;
      if (dispatch == never && simd == never) break;
      if (dispatch <= simd)
        start_workgroup(dispatch);
      else
        take_event();
    }
    if (!result_.cut) result_.end = std::max(result_.end, memory_.drained());
    result_.memory = memory_.counts_until(result_.end);
    std::ranges::sort(result_.finished);
    return std::move(result_);
  }

 private:
  // --- workgroups

  double next_dispatch() const {
    return next_group_ == workgroups_.size() || room_ == 0 ? never : std::max(now_, dispatch_free_);
  }

  // The compute unit for the next workgroup; there is one with room.
  unsigned place() const {
    unsigned best = options_.cus;
    for (unsigned n = 0; n < options_.cus; ++n) {
      const unsigned cu = (next_cu_ + n) % options_.cus;
      if (resident_[cu] >= options_.workgroups_per_cu) continue;
      if (best == options_.cus) best = cu;
      if (options_.structure.placement == Structure::Placement::RoundRobin) break;
      if (resident_[cu] < resident_[best]) best = cu;
    }
    return best;
  }

  // The index of one that nobody uses any more, or of a new one.
  template <class T>
  static uint32_t take_place(std::vector<T>& all, std::vector<uint32_t>& free) {
    if (free.empty()) {
      all.emplace_back();
      return static_cast<uint32_t>(all.size() - 1);
    }
    const uint32_t place = free.back();
    free.pop_back();
    return place;
  }

  void start_workgroup(double at) {
    now_ = at;
    const WorkgroupTrace& trace = *workgroups_[next_group_++];
    const unsigned cu = place();
    next_cu_ = (cu + 1) % options_.cus;
    ++resident_[cu], --room_;
    dispatch_free_ = at + start_interval_;
    result_.last_start = at;
    const uint32_t group = take_place(groups_, free_groups_);
    groups_[group] = {.cu = cu};
    uint64_t number = 0;
    for (const WaveTrace& wave : trace.waves) {
      const double late = lateness(trace.index, number++);
      if (!wave.steps.empty()) start_wave(wave, group, at + late);
    }
  }

  // Of the ensemble's waves. The same for a wave whatever else has started, so that two versions of a kernel
  // are compared under the same conditions.
  double lateness(uint64_t group, uint64_t wave) const {
    if (options_.seed == 0) return 0;
    RandomStream random(options_.seed ^ (group * 64 + wave) * 0x9e3779b97f4a7c15U);
    return most_late_start * static_cast<double>(random.next() >> 11) * 0x1p-53;
  }

  void start_wave(const WaveTrace& trace, uint32_t group, double at) {
    const unsigned cu = groups_[group].cu;
    // The SIMD with the fewest waves.
    size_t best = size_t{cu} * simds_per_cu;
    for (size_t s = best; s < (size_t{cu} + 1) * simds_per_cu; ++s)
      if (simds_[s].waves.size() < simds_[best].waves.size()) best = s;
    const uint32_t id = take_place(waves_, free_waves_);
    Wave& wave = waves_[id];
    wave.group = group, wave.simd = static_cast<uint32_t>(best), wave.blocked = Stall::None;
    wave.at_barrier = false;
    ++groups_[group].waves;
    wave.progress.start(trace, code_, at + machine_[P::wave_start]);
    fetch(wave);
    simds_[best].waves.push_back(id);
    wake(best, wave.progress.ready);
  }

  void end_wave(uint32_t id, double at) {
    Wave& wave = waves_[id];
    result_.end = std::max(result_.end, at);
    std::erase(simds_[wave.simd].waves, id);
    free_waves_.push_back(id);
    Group& group = groups_[wave.group];
    ++group.ended;
    if (group.ended == group.waves) {
      --resident_[group.cu], ++room_;
      result_.finished.push_back(at);
      free_groups_.push_back(wave.group);
    } else {
      open_barrier(wave.group, at);
    }
  }

  // --- events

  // Of SIMDs that want a shared unit in the same cycle none is always first: whose turn it is changes with
  // the cycle, as good as by chance.
  static constexpr unsigned id_bits = 24;
  static uint32_t turn_of(size_t simd, double at) {
    const uint64_t mixed = static_cast<uint64_t>(at) * 0x9e3779b97f4a7c15U >> 62;
    return static_cast<uint32_t>((simd + mixed) % simds_per_cu);
  }

  void wake(size_t simd, double at) {
    if (at >= simds_[simd].wake) return;
    simds_[simd].wake = at;
    events_.emplace(at, turn_of(simd, at) << id_bits | static_cast<uint32_t>(simd));
  }

  void take_event() {
    const double at = events_.top().first;
    const uint32_t id = events_.top().second & ((1U << id_bits) - 1);
    events_.pop();
    Simd& simd = simds_[id];
    if (simd.wake != at) return; // woken earlier
    simd.wake = never;
    now_ = at;
    const double next = step(simd, id, at);
    if (next != never) wake(id, next);
  }

  // Lets the waves of a SIMD issue what they can. When to look again.
  double step(Simd& simd, uint32_t id, double at) {
    double next = gather(simd, at);
    arrange(simd);
    for (const Turn& t : turns_) {
      Wave& wave = waves_[t.wave];
      const double free = unit_free(simd, wave.progress.op(), id / simds_per_cu);
      if (free > at) {
        wave.blocked = taken_[port_of(wave.progress.op().pipe)] == at && taken_by_ == id
                           ? Stall::ArbiterNotWin
                           : Stall::ArbiterWinExStall;
        next = std::min(next, free);
        continue;
      }
      issue(simd, t.wave, at);
      if (result_.cut) return never;
      if (!wave.at_barrier && !wave.progress.at_end()) next = std::min(next, wave.progress.ready);
    }
    return next;
  }

  // The waves that are ready, oldest first. When the next of the others is.
  double gather(const Simd& simd, double at) {
    turns_.clear();
    double next = never;
    for (const uint32_t w : simd.waves) {
      const Wave& wave = waves_[w];
      if (wave.at_barrier) continue;
      if (wave.progress.ready <= at)
        turns_.push_back({wave.progress.ready, w});
      else
        next = std::min(next, wave.progress.ready);
    }
    return next;
  }

  void arrange(Simd& simd) {
    using Arbitration = Structure::Arbitration;
    switch (options_.structure.arbitration) {
    case Arbitration::GreedyThenLongestReady:
      for (Turn& t : turns_) {
        if (waves_[t.wave].progress.op().pipe == Pipe::Vmem)
          t.key = 0; // the oldest
        else if (t.wave == simd.last)
          t.key = -1;
      }
      sort_turns();
      break;
    case Arbitration::OldestFirst: break;
    case Arbitration::YoungestFirst: std::ranges::reverse(turns_); break;
    case Arbitration::RoundRobin:
      if (!turns_.empty())
        std::ranges::rotate(turns_,
                            turns_.begin() + static_cast<std::ptrdiff_t>(simd.turn++ % turns_.size()));
      break;
    }
    if (!simd.priorities) return;
    for (Turn& t : turns_) t.key = -waves_[t.wave].progress.priority;
    sort_turns();
  }

  // Smallest key first, equals as they are. There are few.
  void sort_turns() {
    for (size_t n = 1; n < turns_.size(); ++n) {
      const Turn t = turns_[n];
      size_t to = n;
      for (; to > 0 && turns_[to - 1].key > t.key; --to) turns_[to] = turns_[to - 1];
      turns_[to] = t;
    }
  }

  double unit_free(const Simd& simd, const TimedOp& op, unsigned cu) const {
    if (op.pipe == Pipe::Internal) return 0;
    double free = simd.free[port_of(op.pipe)];
    switch (op.pipe) {
    case Pipe::Matrix: free = std::max(free, simd.vector_port); break;
    case Pipe::Valu:
      free = std::max(free, op.packed ? simd.packed_after_matrix : simd.valu_after_matrix);
      break;
    case Pipe::Vmem: free = std::max(free, memory_.vector_room(cu)); break;
    case Pipe::Lds: free = std::max(free, memory_.lds_room(cu)); break;
    default: break;
    }
    return free;
  }

  // --- instructions

  void issue(Simd& simd, uint32_t id, double at) {
    Wave& wave = waves_[id];
    WaveProgress& progress = wave.progress;
    const TimedOp& op = progress.op();
    account(wave, op, at);
    if (op.pipe != Pipe::Internal) {
      simd.free[port_of(op.pipe)] = at + std::max(op.issue, turn);
      result_.pipe_busy[static_cast<size_t>(op.pipe)] += op.issue;
      taken_[port_of(op.pipe)] = at;
      taken_by_ = wave.simd;
    }
    if (op.pipe == Pipe::Valu || op.pipe == Pipe::Matrix) simd.vector_port = at + turn, simd.last = id;
    if (op.matrix)
      simd.valu_after_matrix = at + op.to_valu, simd.packed_after_matrix = at + op.to_packed_valu;
    const uint32_t cu = wave.simd / simds_per_cu;
    double next = at + turn;
    switch (op.kind) {
    case TimedOp::Kind::Plain: break;
    case TimedOp::Kind::Waitcnt: next = at + op.issue; break;
    case TimedOp::Kind::Memory: access(wave, op, cu, at); break;
    case TimedOp::Kind::Invalidate:
      memory_.invalidate_l1(cu);
      progress.dependences.vector.add(at + machine_[P::l1_latency]);
      break;
    case TimedOp::Kind::Nop:
    case TimedOp::Kind::Sleep: next += op.extra; break;
    case TimedOp::Kind::Branch:
      next =
          at + std::max(turn, progress.jumps() ? machine_[P::branch_cycles] : machine_[P::branch_cycles] / 2);
      break;
    case TimedOp::Kind::SetPriority:
      progress.priority = op.priority;
      simd.priorities |= op.priority != 0;
      break;
    case TimedOp::Kind::Barrier: ++groups_[wave.group].waiting; break;
    case TimedOp::Kind::EndProgram: break;
    }
    const bool ends = op.kind == TimedOp::Kind::EndProgram, waits = op.kind == TimedOp::Kind::Barrier;
    if (op.kind == TimedOp::Kind::Branch)
      at_branch(progress, at, next);
    else
      progress.issued(at, next);
    if (ends) return end_wave(id, at + turn);
    if (progress.at_end()) return stop(at);
    fetch(wave);
    if (waits) {
      wave.at_barrier = true;
      open_barrier(wave.group, at);
    }
  }

  // What is fetched again behind a branch is not there for a while.
  static void at_branch(WaveProgress& progress, double at, double next) {
    progress.issued(at, at + turn);
    progress.not_before(next, Stall::NoInstructionAvailable);
  }

  void access(Wave& wave, const TimedOp& op, uint32_t cu, double at) {
    WaveProgress& progress = wave.progress;
    OpTime& time = result_.ops[progress.id()];
    double vector = 0, lds = op.counts_lds ? at + machine_[P::lds_latency] : 0, scalar = 0;
    if (op.counts_lds && progress.accesses().empty()) lds = memory_.lds_crossbar(cu, at);
    if (op.counts_vector) vector = at + machine_[P::l1_latency];
    for (const TracedAccess& a : progress.accesses()) {
      if (a.space == isa::MemoryKind::Lds) {
        const double before = memory_.counts().lds_conflicts;
        const double done = memory_.lds(cu, op, a, at);
        time.conflicts += memory_.counts().lds_conflicts - before;
        (op.counts_lds ? lds : scalar) = std::max(op.counts_lds ? lds : scalar, done);
      } else if (a.space == isa::MemoryKind::Scalar) {
        scalar = std::max(scalar, memory_.scalar(cu, progress.pieces(a), at));
      } else {
        const MemorySystem::Outcome o = memory_.vector(cu, op, a, progress.pieces(a), at);
        vector = std::max(vector, o.done);
        time.lines += o.lines, time.l1_misses += o.l1_misses, time.l2_misses += o.l2_misses;
      }
    }
    if (op.counts_vector) progress.dependences.vector.add(vector);
    if (op.counts_lds) progress.dependences.lds.add(lds);
    if (op.counts_scalar)
      progress.dependences.scalar = std::max({progress.dependences.scalar, scalar,
                                              op.counts_vector ? vector : at + machine_[P::scalar_latency]});
  }

  void fetch(Wave& wave) {
    WaveProgress& progress = wave.progress;
    if (progress.at_end()) return;
    const uint64_t line = progress.op().code_line;
    if (line == progress.code_line) return;
    progress.code_line = line;
    progress.not_before(memory_.fetch(wave.simd / simds_per_cu, progress.op().address, progress.since),
                        Stall::NoInstructionAvailable);
  }

  void account(Wave& wave, const TimedOp& op, double at) {
    const WaveProgress& progress = wave.progress;
    OpTime& time = result_.ops[progress.id()];
    ++time.issues;
    time.busy += turn;
    if (op.kind == TimedOp::Kind::Nop)
      time.stalled[static_cast<size_t>(Stall::InternalInstruction)] += op.extra;
    if (op.kind == TimedOp::Kind::Sleep) time.stalled[static_cast<size_t>(Stall::SleepWait)] += op.extra;
    if (progress.reason != Stall::None)
      time.stalled[static_cast<size_t>(progress.reason)] += progress.ready - progress.since;
    if (at > progress.ready && wave.blocked != Stall::None)
      time.stalled[static_cast<size_t>(wave.blocked)] += at - progress.ready;
    wave.blocked = Stall::None;
    ++result_.instructions;
    if (result_.instructions % mark_distance == 0) result_.marks.push_back({at, result_.instructions});
  }

  void open_barrier(uint32_t number, double at) {
    Group& group = groups_[number];
    if (group.waiting == 0 || group.waiting + group.ended < group.waves) return;
    group.waiting = 0;
    for (size_t s = size_t{group.cu} * simds_per_cu; s < (size_t{group.cu} + 1) * simds_per_cu; ++s)
      for (const uint32_t w : simds_[s].waves) {
        Wave& wave = waves_[w];
        if (wave.group != number || !wave.at_barrier) continue;
        wave.at_barrier = false;
        wave.progress.not_before(at + barrier_opens, Stall::BarrierWait);
        wake(s, wave.progress.ready);
      }
  }

  void stop(double at) {
    result_.cut = true;
    result_.end = at;
  }

  const TimedCode& code_;
  const Machine& machine_;
  const SimulationOptions& options_;
  std::span<const WorkgroupTrace* const> workgroups_;
  MemorySystem memory_;
  std::vector<Simd> simds_;
  std::vector<unsigned> resident_; // workgroups, by compute unit
  std::vector<Wave> waves_;
  std::vector<Group> groups_;
  std::vector<uint32_t> free_waves_, free_groups_;
  struct Turn {
    double key = 0;
    uint32_t wave = 0;
  };
  std::vector<Turn> turns_; // of the waves that are ready
  std::priority_queue<std::pair<double, uint32_t>, std::vector<std::pair<double, uint32_t>>, std::greater<>>
      events_;
  std::array<double, pipe_count> taken_{}; // when a unit was last given away, and by which SIMD
  uint32_t taken_by_ = 0;
  double start_interval_, now_ = 0, dispatch_free_ = 0;
  size_t next_group_ = 0;
  unsigned next_cu_ = 0;
  uint64_t room_ = 0; // for how many workgroups there is some
  SimulationResult result_;
};

// Latencies of a machine are those of a pointer chase: from one load to the next that needs it, and the wait
// between them, which has a turn of its own here, is part of that.
Machine without_waits(Machine m) {
  for (const P p :
       {P::scalar_latency, P::lds_latency, P::l1_latency, P::l2_latency, P::mall_latency, P::hbm_latency})
    m[p] = std::max(0.0, m[p] - turn);
  return m;
}

} // namespace

double OpTime::stalls() const {
  return std::accumulate(stalled.begin(), stalled.end(), 0.0);
}

OpTime& OpTime::operator+=(const OpTime& o) {
  issues += o.issues, busy += o.busy;
  for (size_t n = 0; n < stall_count; ++n) stalled[n] += o.stalled[n];
  lines += o.lines, l1_misses += o.l1_misses, l2_misses += o.l2_misses, conflicts += o.conflicts;
  return *this;
}

SimulationResult simulate(const TimedCode& code, const Machine& machine,
                          std::span<const WorkgroupTrace* const> workgroups,
                          const SimulationOptions& options) {
  const Machine inside = without_waits(machine);
  return Simulation(code, inside, workgroups, options).run();
}

} // namespace asmevo::timing
