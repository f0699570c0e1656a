// The memory of one XCD as its waves see it: how long an access takes, and what it keeps busy.
//
// Every request is followed through at once when it is made: each unit on its way (first cache, the path to a
// compute unit, L2 channel, Infinity Cache, HBM) knows when it is busy, and a request waits for each in turn.
//
//   first cache: write-through, a store brings nothing in; a line that is on its way is waited for
//   L2:          a written line is handed on once, when it is first written
//   beyond:      the XCD's share of the bandwidth of the whole device
//
// A launch is one of many alike, as benchmarks and inference run them: what an earlier one left in L2 and in
// the Infinity Cache counts (`Warmth`).
#pragma once

#include "timing/cache.h"
#include "timing/machine_model.h"
#include "timing/server.h"
#include "timing/timed_code.h"
#include "timing/wave_trace.h"

#include <memory>
#include <span>

namespace asmevo::timing {

/// Shares of the lines that a launch like this one left there.
struct Warmth {
  double l2 = 0, mall = 0;
};
/// What stays of `used` bytes in a cache of `size` when they are gone through again and again and any line
/// may be replaced: the share h with h = exp(-(1 - h) * used / size).
double kept_share(double used, double size);

struct MemoryCounts {
  // Lines of the first cache looked up by loads, and those it did not have.
  uint64_t l1_lines = 0, l1_misses = 0;
  // Lines wait for a place among those that a compute unit waits for, and then have it: cycles, of all lines
  // together. And how many places of a compute unit are taken, in the mean.
  double l1_place_waits = 0, l1_place_cycles = 0, l1_places_taken = 0;
  // Requests to L2: reads in lines, writes and atomics in pieces of 64 bytes.
  uint64_t l2_reads = 0, l2_misses = 0, l2_writes = 0, atomics = 0;
  uint64_t mall_reads = 0, hbm_reads = 0, mall_writes = 0, hbm_writes = 0; // in L2 lines
  uint64_t scalar_lines = 0, scalar_misses = 0, icache_lines = 0, icache_misses = 0, tlb_misses = 0;
  uint64_t lds_accesses = 0;
  double lds_busy = 0, lds_conflicts = 0, l1_busy = 0; // cycles, of all compute units together
};

class MemorySystem {
 public:
  struct Options {
    unsigned cus = 1;    // compute units that are simulated
    double l2_share = 1; // of the XCD's L2 (size and rate) that they have
    double xcds = 1;     // that share what is beyond L2
    Warmth warmth;
    Cache::Replacement replacement = Cache::Replacement::LeastRecentlyUsed;
  };
  MemorySystem(const Machine&, const Options&);

  /// What an access did, for profiles.
  struct Outcome {
    double done = 0; // when its data are there, or the write is known to be done
    unsigned lines = 0, l1_misses = 0, l2_misses = 0;
  };
  Outcome vector(unsigned cu, const TimedOp&, const TracedAccess&, std::span<const TracedPiece>, double at);
  double scalar(unsigned cu, std::span<const TracedPiece>, double at);
  double lds(unsigned cu, const TimedOp&, const TracedAccess&, double at);
  /// Lanes exchanged through LDS without touching it: ds_bpermute, ds_swizzle.
  double lds_crossbar(unsigned cu, double at);
  /// When the code at that address can be had.
  double fetch(unsigned cu, uint64_t address, double at);
  void invalidate_l1(unsigned cu);

  /// Until when instructions have to wait for room in front of the unit.
  double vector_room(unsigned cu) const { return cus_[cu].l1_free - queue; }
  double lds_room(unsigned cu) const { return cus_[cu].lds_free - queue; }
  /// When everything that was written has left L2.
  double drained() const { return std::max(mall_.busy_until(), hbm_.busy_until()); }
  const MemoryCounts& counts() const { return counts_; }
  /// The same, what is a mean over time being one until then.
  MemoryCounts counts_until(double end) const;

 private:
  static constexpr double queue = 64; // cycles of work in front of a unit
  struct ComputeUnit {
    std::unique_ptr<Cache> l1;
    double l1_free = 0, lds_free = 0;
    Server fill;
    std::vector<double>
        misses; // places for lines that are waited for: when they come back; the earliest first
  };
  struct Shared { // by the compute units of one group
    Cache scalar, code;
  };
  struct Answer {
    double at = 0; // when L2 has it on its way
    bool missed = false;
  };

  double load_line(ComputeUnit&, const TimedOp&, uint64_t address, double at, Outcome&);
  Answer l2_read(uint64_t address, double at, bool streaming);
  double l2_write(const TracedPiece&, double at, double busy, bool streaming);
  double beyond(uint64_t address, double at);
  void hand_on(uint64_t address, double at);
  double translated(uint64_t address, double at);
  Server& channel(uint64_t address);
  bool warm(uint64_t line, double share, uint64_t salt) const;
  Shared& shared(unsigned cu) { return shared_[cu / per_shared_]; }

  // The numbers of the machine that are used at every access.
  struct Rates {
    double l1_latency, l1_scale, l1_fill, to_l2, from_l2, mall, hbm, channel_read, channel_write, mall_rate,
        hbm_read, hbm_write, scalar_latency, scalar_miss, icache_miss, tlb_miss, lds_latency, lds_read,
        lds_write, lds_narrow;
  } r_;
  Options options_;
  unsigned per_shared_;
  std::vector<ComputeUnit> cus_;
  std::vector<Shared> shared_;
  Cache l2_, tlb_;
  std::vector<Server> channels_;
  Server mall_, hbm_;
  MemoryCounts counts_;
};

} // namespace asmevo::timing
