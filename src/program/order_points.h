// Where a function orders memory between waves, and what may be in flight there. Forward analysis over the
// counters alone, the union of all paths at joins.
#pragma once

#include "program/cfg.h"

#include <string>
#include <vector>

namespace asmevo::program {

/// Operations that may not be complete. FLAT and scalar memory return in any order: all of a kind are one.
/// LDS-DMA is left out: the wait check looks after it at barriers.
struct InFlight {
  unsigned loads = 0;      // vector memory
  unsigned stores = 0;     // vector memory: stores, atomics, cache control
  unsigned lds_writes = 0; // ds_write, LDS atomics
  unsigned scalar = 0;     // scalar memory, loads of kernel arguments apart
};

/// A barrier, an atomic, an access that goes past caches, or cache control.
struct OrderPoint {
  enum class Kind : uint8_t { Barrier, LdsAtomic, Access, CacheControl };
  Index at = 0;
  Kind kind = Kind::Barrier;
  bool scalar = false;       // of the scalar cache
  std::string what;          // "s_barrier", "buffer_wbl2 sc1", "global_store_dword sc0 sc1"
  unsigned loads_before = 0; // vector loads in front of it, in address order
  InFlight in_flight;
};

struct MemoryOrder {
  std::vector<OrderPoint> points; // in address order
  // Scalar loads, those of kernel arguments apart, that follow a vector store or a synchronisation without an
  // s_dcache_inv between: the scalar cache may still hold what was in memory before.
  std::vector<Index> stale_loads;
  static MemoryOrder compute(const Program&, const Function&, const Cfg&);
};

} // namespace asmevo::program
