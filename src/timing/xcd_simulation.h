// Some compute units of one XCD while workgroups pass through them: the cycle model itself.
//
// Each compute unit has four SIMDs, and each SIMD the waves that were dealt to it. Every cycle in which
// something can happen on a SIMD its waves are asked in turn, those of higher priority first; of those whose
// next instruction is ready one may issue for each kind of unit. What a memory instruction costs is known
// when it issues (memory_system.h), so nothing but that, barriers, and the dispatch of workgroups has to be
// simulated as events.
#pragma once

#include "timing/memory_system.h"
#include "timing/stall.h"
#include "timing/timed_code.h"
#include "timing/wave_trace.h"

namespace asmevo::timing {

/// Who goes first where the hardware's documents do not say.
struct Structure {
  /// GreedyThenLongestReady: the wave that issued the last vector instruction, then the one that could have
  /// issued for longest; for vector memory the oldest, which keeps neighbouring addresses together. The rule
  /// of the hardware is not published. This one neither lets a wave starve nor keeps waves in step, so that a
  /// cheap instruction more or less breaks no pattern.
  enum class Arbitration : uint8_t { GreedyThenLongestReady, OldestFirst, YoungestFirst, RoundRobin };
  Arbitration arbitration{};
  enum class Placement : uint8_t { RoundRobin, Emptiest } placement{}; // of workgroups on compute units
  Cache::Replacement replacement{};
};

struct SimulationOptions {
  unsigned cus = 1; // compute units that are simulated
  double share = 1; // of the XCD's that they are
  double xcds = 1;  // that work on the dispatch
  Warmth warmth;
  Structure structure;
  uint64_t seed = 0; // of what waves start later than they could; 0: they do not
  unsigned waves_per_workgroup = 1, workgroups_per_cu = 1;
};

/// What became of an instruction, all waves together.
struct OpTime {
  uint64_t issues = 0;
  double busy = 0; // cycles in which it issued, or kept its wave
  PerStall<double> stalled{};
  uint64_t lines = 0, l1_misses = 0, l2_misses = 0;
  double conflicts = 0; // cycles of LDS that they cost

  double stalls() const;
  OpTime& operator+=(const OpTime&);
};

struct SimulationResult {
  double end = 0;               // cycles from the start of the first workgroup until all is done
  std::vector<double> finished; // when workgroups were, ascending
  double last_start = 0;        // of a workgroup
  uint64_t instructions = 0;
  /// Some trace was cut: the simulation stops where the first of them does, and `end` is then.
  bool cut = false;
  /// Instructions that had issued at a cycle, now and then.
  struct Mark {
    double cycle = 0;
    uint64_t instructions = 0;
  };
  std::vector<Mark> marks;
  std::vector<OpTime> ops; // by id of the code
  MemoryCounts memory;
  std::array<double, pipe_count> pipe_busy{}; // cycles, of all units of a kind together
};

SimulationResult simulate(const TimedCode&, const Machine&, std::span<const WorkgroupTrace* const> workgroups,
                          const SimulationOptions&);

} // namespace asmevo::timing
