#include "profile/hot_windows.h"

#include "profile/loop_bounds.h"

#include <algorithm>
#include <numeric>

namespace asmevo::profile {

namespace {

using isa::Instruction;
using program::Block;
using program::Index;
using program::no_index;
using timing::Stall;

constexpr double least_share = 0.005; // of the kernel's time, in front of an instruction, to start a window
constexpr size_t candidates = 4;      // windows looked at, for each that is wanted
constexpr size_t most_steps = 4096;   // of a walk
constexpr double least_gain = 0.01;   // below it, windows are ranked by their time

struct Range {
  Index begin = 0, end = 0;
  HotWindow::Kind kind = HotWindow::Kind::Block;
  Index size() const { return end - begin; }
  bool holds(Index i) const { return i >= begin && i < end; }
};

void append(std::vector<Index>& list, const std::vector<Index>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

std::vector<Index> all_of(const InFlight& f) {
  std::vector<Index> list = f.vector;
  append(list, f.lds);
  append(list, f.scalar);
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  return list;
}

// What the instruction stands waiting for.
std::vector<Index> causes(const CodePath& path, Index at) {
  std::vector<Index> list = all_of(awaited_by(path, at));
  const InstructionTime* const t = path.time(at);
  const auto stalls = [t](Stall why) { return t != nullptr && t->stalled[static_cast<size_t>(why)] > 0; };
  if (list.empty() && stalls(Stall::AluDependency))
    for (const Producer& p : producers_of(path, at)) list.push_back(p.at);
  if (const Index barrier = barrier_before(path, at); barrier != no_index && stalls(Stall::BarrierWait))
    list.push_back(barrier);
  std::ranges::sort(list);
  return list;
}

// --- growing

class Grower {
 public:
  Grower(const CodePath& path, size_t limit)
      : path_(path), cfg_(path.code().cfg()), limit_(static_cast<Index>(std::min<size_t>(limit, no_index))) {}

  Range around(Index seed) const {
    const uint32_t number = cfg_.block_of(seed);
    if (const Range loop = loop_around(number); loop.size() != 0 && loop.size() <= limit_) return loop;
    const Block& block = cfg_.blocks()[number];
    const std::vector<Index> wanted = causes(path_, seed);
    Range range{block.begin, block.end, HotWindow::Kind::Block};
    if (range.size() > limit_) range = part_of(block, seed, wanted);
    for (auto cause = wanted.rbegin(); cause != wanted.rend(); ++cause)
      if (*cause < range.begin && range.end - *cause <= limit_ && reachable(*cause, range.begin))
        range.begin = *cause;
    return filled(range);
  }

 private:
  // Nothing where blocks that are never reached lie between those of the loop.
  Range loop_around(uint32_t block) const {
    const uint32_t loop = cfg_.blocks()[block].loop;
    if (loop == no_index) return {};
    const std::vector<uint32_t> blocks = cfg_.blocks_in(loop);
    const Range range{cfg_.blocks()[blocks.front()].begin, cfg_.blocks()[blocks.back()].end,
                      HotWindow::Kind::Loop};
    return reachable(range.begin, range.end) ? range : Range{};
  }

  bool reachable(Index begin, Index end) const {
    for (uint32_t b = cfg_.block_of(begin); b < cfg_.blocks().size() && cfg_.blocks()[b].begin < end; ++b)
      if (!cfg_.blocks()[b].reachable) return false;
    return true;
  }

  // To the end of its block as far as the limit goes; then to half the limit, by whole blocks of the same
  // loop, in turn in front, where loads could move to, and behind, where waits could.
  Range filled(Range range) const {
    const auto& blocks = cfg_.blocks();
    range.end += std::min(blocks[cfg_.block_of(range.end - 1)].end - range.end, limit_ - range.size());
    const uint32_t loop = blocks[cfg_.block_of(range.begin)].loop;
    const auto fits = [&](uint32_t b) {
      return b < blocks.size() && blocks[b].reachable && blocks[b].loop == loop &&
             range.size() + (blocks[b].end - blocks[b].begin) <= limit_;
    };
    for (bool grown = true; grown && range.size() < limit_ / 2;) {
      grown = false;
      const uint32_t first = cfg_.block_of(range.begin), last = cfg_.block_of(range.end - 1);
      if (range.begin == blocks[first].begin && first != 0 && fits(first - 1))
        range.begin = blocks[first - 1].begin, grown = true;
      if (range.end == blocks[last].end && fits(last + 1)) range.end = blocks[last + 1].end, grown = true;
    }
    return range;
  }

  // Back to what is waited for, on to where the results are used; what is left of the limit goes to what is
  // in front, where loads could move to.
  Range part_of(const Block& block, Index seed, const std::vector<Index>& wanted) const {
    Range range{seed, seed + 1, HotWindow::Kind::Part};
    for (auto cause = wanted.rbegin(); cause != wanted.rend(); ++cause)
      if (*cause >= block.begin && *cause < range.begin && range.end - *cause <= limit_) range.begin = *cause;
    const Index behind = std::min({block.end - range.end, limit_ - range.size(), limit_ / 4});
    range.end += behind;
    range.begin -= std::min(range.begin - block.begin, limit_ - range.size());
    return range;
  }

  const CodePath& path_;
  const program::Cfg& cfg_;
  Index limit_;
};

// --- what surrounds a window

std::vector<OutsideUse> producers_before(const CodePath& path, const Range& range,
                                         const isa::RegSet& live_in) {
  isa::RegSet wanted = live_in;
  std::vector<OutsideUse> list;
  CodePath::Walk walk = path.back_from(range.begin);
  for (size_t n = 0; n < most_steps && !wanted.empty() && list.size() < HotWindow::most_outside; ++n) {
    const Index at = walk.next();
    if (at == no_index) break;
    if (range.holds(at)) continue;
    for (const isa::RegRange& r : path.code().instruction(at).defs) {
      if (!wanted.overlaps(r)) continue;
      list.push_back({at, r});
      wanted.erase(r);
    }
  }
  return list;
}

std::vector<OutsideUse> consumers_behind(const CodePath& path, const Range& range, isa::RegSet wanted) {
  std::vector<OutsideUse> list;
  CodePath::Walk walk = path.on_from(range.end - 1);
  for (size_t n = 0; n < most_steps && !wanted.empty() && list.size() < HotWindow::most_outside; ++n) {
    const Index at = walk.next();
    if (at == no_index) break;
    if (range.holds(at)) continue;
    const Instruction& i = path.code().instruction(at);
    for (const isa::RegRange& r : i.uses) {
      if (!wanted.overlaps(r)) continue;
      list.push_back({at, r});
      wanted.erase(r);
    }
    for (const isa::RegRange& r : i.defs) wanted.erase(r);
  }
  return list;
}

// --- all of it

class Finder {
 public:
  Finder(const CodePath& path, const KernelProfile& profile, const timing::Machine& machine,
         const HotWindowOptions& options)
      : path_(path), code_(path.code()), machine_(machine), options_(options), total_(profile.total()),
        waves_(options.waves_per_simd > 0 ? options.waves_per_simd
                                          : std::max(1.0, code_.resources().occupancy.waves_per_simd)),
        pressure_(register_pressure(code_)), loops_(loop_bounds(path, machine)) {}

  std::vector<HotWindow> find() {
    std::vector<HotWindow> found;
    const Grower grower(path_, options_.most_instructions);
    for (const Index seed : seeds()) {
      if (found.size() >= options_.windows * candidates) break;
      if (std::ranges::any_of(taken_, [seed](const Range& r) { return r.holds(seed); })) continue;
      const Range range = clipped(grower.around(seed), seed);
      taken_.push_back(range);
      found.push_back(make(range, seed));
    }
    std::ranges::stable_sort(found, std::greater{}, [](const HotWindow& w) {
      return std::pair(w.gain < least_gain ? 0 : w.gain, w.total);
    });
    if (found.size() > options_.windows) found.resize(options_.windows);
    for (HotWindow& w : found) surround(w);
    return found;
  }

 private:
  double lost_at(Index i) const {
    const InstructionTime* const t = path_.time(i);
    return t == nullptr ? 0 : hideable(*t, code_.instruction(i));
  }

  // Where most could be hidden, and behind those where most time is spent.
  std::vector<Index> seeds() const {
    std::vector<std::pair<double, Index>> lost, spent;
    for (const Block& block : code_.cfg().blocks())
      for (Index i = block.begin; block.reachable && i < block.end; ++i) {
        const InstructionTime* const t = path_.time(i);
        if (t == nullptr || code_.instruction(i).ends_program) continue;
        if (lost_at(i) >= least_share * total_) lost.emplace_back(lost_at(i), i);
        if (t->total() >= least_share * total_) spent.emplace_back(t->total(), i);
      }
    std::vector<Index> seeds;
    for (auto* list : {&lost, &spent}) {
      std::ranges::stable_sort(*list, std::greater{}, &std::pair<double, Index>::first);
      for (const auto& [weight, i] : *list) seeds.push_back(i);
    }
    return seeds;
  }

  // What other windows have is theirs.
  Range clipped(Range range, Index seed) const {
    for (const Range& t : taken_) {
      if (t.end <= seed && t.end > range.begin) range.begin = t.end, range.kind = HotWindow::Kind::Part;
      if (t.begin > seed && t.begin < range.end) range.end = t.begin, range.kind = HotWindow::Kind::Part;
    }
    if (range.kind != HotWindow::Kind::Loop) range.kind = kind_of(range);
    return range;
  }

  HotWindow::Kind kind_of(const Range& range) const {
    const uint32_t first = code_.cfg().block_of(range.begin);
    if (code_.cfg().block_of(range.end - 1) != first) return HotWindow::Kind::Blocks;
    const Block& block = code_.cfg().blocks()[first];
    return block.end - block.begin == range.size() ? HotWindow::Kind::Block : HotWindow::Kind::Part;
  }

  // Wave cycles that a loop takes whatever its order: the chains of results from turn to turn.
  double chained(const Range& range) const {
    double cycles = 0;
    if (range.kind == HotWindow::Kind::Loop)
      for (const LoopBound& loop : loops_)
        if (range.holds(loop.first)) cycles += loop.turns * loop.carried;
    return cycles;
  }

  HotWindow make(const Range& range, Index seed) const {
    HotWindow w;
    w.window.begin = range.begin, w.window.end = range.end;
    w.kind = range.kind, w.worst = seed;
    for (Index i = range.begin; i < range.end; ++i) {
      const InstructionTime* const t = path_.time(i);
      if (t == nullptr) continue;
      w.total += t->total(), w.unexplained += t->unexplained,
          w.hideable += hideable(*t, code_.instruction(i));
      for (size_t n = 0; n < timing::stall_count; ++n) w.stalled[n] += t->stalled[n];
    }
    const auto [pipe, needed] = busiest_pipe(range);
    const double now = w.total / waves_,
                 then = std::max({(w.total - w.hideable) / waves_, chained(range) / waves_, needed});
    w.pipe = pipe, w.pipe_share = now > 0 ? std::min(1.0, needed / now) : 0;
    w.gain = std::clamp((now - then) * waves_ / total_, 0.0, std::max(0.0, 1 - options_.busiest_unit));
    return w;
  }

  // Of those that the range needs, and for how many cycles. Samples do not tell.
  std::pair<timing::Pipe, double> busiest_pipe(const Range& range) const {
    std::array<double, timing::pipe_count> needed{};
    for (Index i = range.begin; i < range.end && path_.profile().counts_runs(); ++i) {
      const InstructionTime* const t = path_.time(i);
      if (t == nullptr) continue;
      const auto cost = timing::instruction_cost(code_.instruction(i), code_.program().target, machine_);
      constexpr double turn = 4; // cycles that count as busy for one that issues
      if (cost.pipe != timing::Pipe::Internal)
        needed[static_cast<size_t>(cost.pipe)] += t->busy * std::max(1.0, cost.issue / turn);
    }
    const auto most = std::ranges::max_element(needed);
    return {*most > 0 ? static_cast<timing::Pipe>(most - needed.begin()) : timing::Pipe::Internal, *most};
  }

  void surround(HotWindow& w) const {
    const Range range{w.window.begin, w.window.end};
    w.window = program::window_of(code_.program(), code_.cfg(), code_.liveness(), range.begin, range.end);
    isa::RegSet written;
    for (Index i = range.begin; i < range.end; ++i) {
      const Instruction& instruction = code_.instruction(i);
      for (const isa::RegRange& r : instruction.defs) written.insert(r);
      w.barriers += instruction.issue == isa::IssueClass::Barrier ? 1 : 0;
      append(w.awaited, all_of(awaited_by(path_, i)));
    }
    std::ranges::sort(w.awaited);
    w.awaited.erase(std::ranges::unique(w.awaited).begin(), w.awaited.end());
    w.producers = producers_before(path_, range, w.window.live_in);
    w.consumers = consumers_behind(path_, range, w.window.live_out & written);
    w.at_entry = in_flight_before(path_, range.begin);
    if (range.end < code_.function().end && !code_.instruction(range.end - 1).ends_program)
      w.at_exit = in_flight_at_exit(range);
    w.most_live = pressure_.most_in(range.begin, range.end);
  }

  // Where control falls out of the range's end.
  InFlight in_flight_at_exit(const Range& range) const {
    CodePath::Walk walk = path_.on_from(range.end - 1);
    for (size_t n = 0; n < most_steps; ++n) {
      const Index at = walk.next();
      if (at == no_index) return {};
      if (!range.holds(at)) return in_flight_before(path_, at);
    }
    return {};
  }

  const CodePath& path_;
  const KernelCode& code_;
  const timing::Machine& machine_;
  const HotWindowOptions& options_;
  double total_, waves_;
  RegisterPressure pressure_;
  std::vector<LoopBound> loops_;
  std::vector<Range> taken_;
};

} // namespace

std::string_view name(HotWindow::Kind kind) {
  switch (kind) {
  case HotWindow::Kind::Loop: return "loop";
  case HotWindow::Kind::Block: return "block";
  case HotWindow::Kind::Blocks: return "blocks";
  case HotWindow::Kind::Part: return "part of a block";
  }
  return "";
}

double hideable(const InstructionTime& t, const Instruction& i) {
  if (i.ends_program) return 0;
  double sum = std::accumulate(t.stalled.begin(), t.stalled.end(), t.unexplained);
  for (const Stall busy : {Stall::ArbiterNotWin, Stall::ArbiterWinExStall})
    sum -= t.stalled[static_cast<size_t>(busy)];
  return sum;
}

std::vector<HotWindow> hot_windows(const CodePath& path, const KernelProfile& profile,
                                   const timing::Machine& machine, const HotWindowOptions& options) {
  if (profile.total() <= 0) return {};
  return Finder(path, profile, machine, options).find();
}

} // namespace asmevo::profile
