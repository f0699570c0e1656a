// What keeps a kernel from being faster, in one sentence. The rule, in this order:
//
//   1. launch floor: more than half of the plan's time passes outside kernels.
//   2. the busiest unit, if it is busy for at least 60 % of the kernel's time: nothing that waits behind a
//      busy unit can be faster. Units are HBM, Infinity Cache, L2, L1 (its address unit, or the path from
//      L2 to it), the lines that L1 can wait for at once, LDS, VALU, matrix, SALU issue and the dispatcher.
//      Where a launch has fewer workgroups than there are compute units, those inside a compute unit (L1 to
//      SALU) count by the ones that are in use.
//      Lines are waited for longer where L2 or what is behind it is busy, too: then that is named.
//   3. a barrier, where BARRIER_WAIT is the longest stall.
//   4. instruction fetch, where NO_INSTRUCTION_AVAILABLE is the longest stall.
//   5. contention, where ARBITER_NOT_WIN and ARBITER_WIN_EX_STALL together are more than any other: waves
//      want one unit at a time and then another, so none is busy all the time. The sentence names the one
//      they stand for longest.
//   6. latency: waves wait for results, and there are too few of them to fill the time. The sentence names
//      what they wait for, how many there are on a SIMD, and what keeps more away.
//
// In 3 to 6 the two ARBITER reasons count as one.
//
// 60 %: requests come unevenly, so a memory level that is asked for all it can give is seldom busy for more
// than 80 to 90 % of a kernel's time, with its start and end; below 60 % more requests in flight do help.
#pragma once

#include "profile/kernel_summary.h"

namespace asmevo::profile {

enum class Bound : uint8_t {
  LaunchFloor,
  Dispatch,
  Hbm,
  InfinityCache,
  L2,
  L1,
  L1Misses,
  Lds,
  Valu,
  Matrix,
  Salu,
  Barrier,
  Fetch,
  Contention,
  Latency,
};
/// "launch floor", "HBM", "L1 misses in flight", "latency", ...
std::string_view name(Bound);

struct Limiter {
  Bound bound = Bound::Latency;
  double share = 0; // of the time: the unit's, the stall's, or what passes outside kernels
  std::string sentence;
};

inline constexpr double busy_enough = 0.6; // for rule 2

Limiter limiter(const KernelSummary&);

/// The busiest unit, whatever its share: a kernel cannot become shorter than that share of its time without
/// doing less.
std::pair<Bound, double> busiest_unit(const KernelSummary&);

} // namespace asmevo::profile
