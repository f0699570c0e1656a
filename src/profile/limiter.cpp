#include "profile/limiter.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::profile {

namespace {

using timing::Pipe;
using timing::Stall;

double percent(double share) {
  return 100 * share;
}

std::pair<Stall, double> longest_stall(const KernelSummary& s) {
  const auto longest = std::ranges::max_element(s.stalled);
  const auto stall = static_cast<Stall>(longest - s.stalled.begin());
  return {stall, s.stall_share(stall)};
}

std::string waits_for(Stall stall) {
  std::string_view what;
  switch (stall) {
  case Stall::Waitcnt: what = "memory or LDS"; break;
  case Stall::AluDependency: what = "results of arithmetic"; break;
  case Stall::InternalInstruction: what = "s_nop"; break;
  case Stall::SleepWait: what = "s_sleep"; break;
  case Stall::OtherWait: what = "room in a wait counter"; break;
  default: return std::string(name(stall));
  }
  return fmt::format("{} ({})", what, name(stall));
}

// Why there are no more waves.
std::string waves_phrase(const KernelSummary& s) {
  constexpr double most = 8, few = 0.6;
  const double allowed = s.occupancy.waves_per_simd;
  if (s.used_cus < few)
    return fmt::format("and {:.0f} workgroups leave {:.0f} % of the compute units idle", s.workgroups,
                       percent(1 - s.used_cus));
  if (s.waves < few * allowed)
    return fmt::format("{:.1f} waves a SIMD in the mean where {:.2g} would fit: too few workgroups at a time",
                       s.waves, allowed);
  if (allowed >= most) return fmt::format("occupancy {:.2g} of 8 does not hide it", allowed);
  return fmt::format("occupancy {:.2g} of 8 (limited by {})", allowed, fmt::join(s.occupancy.limiters, ", "));
}

Limiter outside(const KernelSummary& s) {
  return {Bound::LaunchFloor, s.outside_share,
          fmt::format("launch floor: {:.0f} % of the time passes before and behind kernels",
                      percent(s.outside_share))};
}

// ARBITER_*, both together.
double contended(const KernelSummary& s) {
  return s.stall_share(Stall::ArbiterNotWin) + s.stall_share(Stall::ArbiterWinExStall);
}

bool is_in_compute_unit(Bound unit) {
  return unit == Bound::L1 || unit == Bound::L1Misses || unit == Bound::Lds || unit == Bound::Valu ||
         unit == Bound::Matrix || unit == Bound::Salu;
}

// Of units inside compute units, by those compute units that have a workgroup.
double where_in_use(const KernelSummary& s, double share) {
  return s.used_cus > 0 ? std::min(1.0, share / s.used_cus) : share;
}

// Where that makes a difference.
std::string where(const KernelSummary& s) {
  constexpr double all = 0.99;
  if (s.used_cus >= all) return "";
  return fmt::format(
      " on the {:.0f} % of the compute units that have a workgroup; {:.0f} workgroups are too few "
      "for all",
      percent(s.used_cus), s.workgroups);
}

Limiter of_misses(const KernelSummary& s, double share) {
  const MissPlaces& m = s.miss_places;
  return {Bound::L1Misses, share,
          fmt::format("{}: of the {:.0f} lines that a compute unit can wait for at once, {:.0f} are on their "
                      "way in the mean; one waits {:.0f} cycles for its place and {:.0f} for its data{}",
                      name(Bound::L1Misses), m.places, share * m.places, m.wait, m.taken, where(s))};
}

Limiter of_unit(const KernelSummary& s, Bound unit, double share) {
  if (unit == Bound::L1Misses) return of_misses(s, share);
  const std::string_view what = unit == Bound::Dispatch ? "workgroups start as fast as they can for"
                                : unit == Bound::Salu   ? "scalar instructions issue for"
                                                        : "it is busy for";
  return {unit, share,
          fmt::format("{}: {} {:.0f} % of the time{}", name(unit), what, percent(share),
                      is_in_compute_unit(unit) ? where(s) : "")};
}

// The unit behind a pipe: instructions of LDS and vector memory are issued in a moment, what follows takes
// its time.
double unit_share(const KernelSummary& s, const PipeUse& p) {
  const auto level = [&](MemoryLevel l) { return s.levels[static_cast<size_t>(l)].share; };
  return where_in_use(s, p.pipe == Pipe::Lds    ? level(MemoryLevel::Lds)
                         : p.pipe == Pipe::Vmem ? std::max(level(MemoryLevel::L1), s.path_to_l1_share)
                                                : p.share);
}

Limiter of_contention(const KernelSummary& s) {
  const auto most = std::ranges::max_element(s.pipes, {}, &PipeUse::contended);
  return {
      Bound::Contention, contended(s),
      fmt::format("contention: waves stand {:.0f} % of their time in front of a unit that is busy, most for "
                  "{}, though that works for {:.0f} % of the time{}",
                  percent(contended(s)), timing::name(most->pipe), percent(unit_share(s, *most)), where(s))};
}

} // namespace

std::string_view name(Bound bound) {
  switch (bound) {
  case Bound::LaunchFloor: return "launch floor";
  case Bound::Dispatch: return "dispatch rate";
  case Bound::Hbm: return "HBM";
  case Bound::InfinityCache: return "Infinity Cache";
  case Bound::L2: return "L2";
  case Bound::L1: return "L1";
  case Bound::L1Misses: return "L1 misses in flight";
  case Bound::Lds: return "LDS";
  case Bound::Valu: return "VALU";
  case Bound::Matrix: return "matrix";
  case Bound::Salu: return "SALU issue";
  case Bound::Barrier: return "barrier";
  case Bound::Fetch: return "instruction fetch";
  case Bound::Contention: return "contention";
  case Bound::Latency: return "latency";
  }
  return "";
}

namespace {

using Unit = std::pair<Bound, double>;

std::array<Unit, 10> units_of(const KernelSummary& s) {
  const auto level = [&](MemoryLevel l) { return s.levels[static_cast<size_t>(l)].share; };
  const auto pipe = [&](Pipe p) {
    const auto n = static_cast<size_t>(p);
    return n < s.pipes.size() ? s.pipes[n].share : 0;
  };
  std::array<Unit, 10> units = {{
      {Bound::Hbm, level(MemoryLevel::Hbm)},
      {Bound::InfinityCache, level(MemoryLevel::InfinityCache)},
      {Bound::L2, level(MemoryLevel::L2)},
      {Bound::L1, std::max(level(MemoryLevel::L1), s.path_to_l1_share)},
      {Bound::L1Misses, s.miss_places.share},
      {Bound::Lds, level(MemoryLevel::Lds)},
      {Bound::Valu, pipe(Pipe::Valu)},
      {Bound::Matrix, pipe(Pipe::Matrix)},
      {Bound::Salu, pipe(Pipe::Salu) + pipe(Pipe::Smem)},
      {Bound::Dispatch, s.dispatch_share},
  }};
  for (auto& [unit, share] : units)
    if (is_in_compute_unit(unit)) share = where_in_use(s, share);
  return units;
}

// Lines that are waited for wait where something behind L1 is busy.
bool explains_misses(const Unit& unit) {
  const Bound b = unit.first;
  return (b == Bound::Hbm || b == Bound::InfinityCache || b == Bound::L2 || b == Bound::L1) &&
         unit.second >= busy_enough;
}

std::string busiest_phrase(Bound unit, double share) {
  if (unit == Bound::L1Misses)
    return fmt::format("{:.0f} % of the L1 misses that can be in flight are", percent(share));
  return fmt::format("the busiest unit, {}, works for {:.0f} %", name(unit), percent(share));
}

// The busiest unit as a reason.
Unit limiting_unit(const KernelSummary& s) {
  std::array<Unit, 10> units = units_of(s);
  if (std::ranges::any_of(units, explains_misses))
    for (Unit& unit : units)
      if (unit.first == Bound::L1Misses) unit.second = 0;
  return *std::ranges::max_element(units, {}, &Unit::second);
}

} // namespace

std::pair<Bound, double> busiest_unit(const KernelSummary& s) {
  const std::array<Unit, 10> units = units_of(s);
  return *std::ranges::max_element(units, {}, &Unit::second);
}

Limiter limiter(const KernelSummary& s) {
  constexpr double half = 0.5;
  if (s.outside_share > half) return outside(s);
  const auto [unit, share] = limiting_unit(s);
  if (share >= busy_enough) return of_unit(s, unit, share);
  const auto [stall, stalled] = longest_stall(s);
  if (contended(s) >= stalled && contended(s) > 0) return of_contention(s);
  if (stall == Stall::BarrierWait)
    return {Bound::Barrier, stalled,
            fmt::format("barrier: waves stand at barriers for {:.0f} % of their time", percent(stalled))};
  if (stall == Stall::NoInstructionAvailable)
    return {Bound::Fetch, stalled,
            fmt::format("instruction fetch: waves wait for instructions for {:.0f} % of their time",
                        percent(stalled))};
  return {Bound::Latency, stalled,
          fmt::format("latency: waves wait for {} for {:.0f} % of their time, {}; {}", waits_for(stall),
                      percent(stalled), waves_phrase(s), busiest_phrase(unit, share))};
}

} // namespace asmevo::profile
