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
  unsigned load_bytes = 0; // of those, a lane; at barriers only of loads that others may write over
  unsigned stores = 0;     // vector memory: stores, atomics, cache control
  unsigned lds_writes = 0; // ds_write, LDS atomics
  unsigned scalar = 0;     // scalar memory, loads of kernel arguments apart
};

/// A barrier, an atomic, an access that goes past caches, or cache control.
struct OrderPoint {
  enum class Kind : uint8_t { Barrier, LdsAtomic, Access, CacheControl };
  Index at = 0;
  Kind kind = Kind::Barrier;
  bool scalar = false; // of the scalar cache
  std::string what;    // "s_barrier", "buffer_wbl2 sc1", "global_store_dword sc0 sc1"
  unsigned bytes_before =
      0; // of vector loads in front of it in address order; counted as in_flight.load_bytes
  InFlight in_flight;
};

/// An access of global memory that is no order point.
struct PlainAccess {
  Index at = 0;
  bool store = false, scalar = false;
  unsigned bytes = 0; // a lane
  uint64_t roots = 0; // pointer_roots.h
};

struct MemoryOrder {
  std::vector<OrderPoint> points; // in address order
  std::vector<PlainAccess> plain; // in address order, loads of kernel arguments apart
  // Of `plain`: scalar loads that follow a vector store or a synchronisation without an s_dcache_inv between:
  // the scalar cache may still hold what was in memory before.
  std::vector<PlainAccess> stale_loads;
  unsigned lds_writes = 0; // ds_write and the like, not atomics
  // Global atomics order nothing: there is nothing else that is stored, and no cache control or access past
  // caches for what others store.
  bool relaxed = false;
  bool past_caches = false; // there is cache control, or an access past caches that is no atomic
  /// `one_wave`: of workgroups of one wave, of which a barrier orders nothing.
  static MemoryOrder compute(const Program&, const Function&, const Cfg&, bool one_wave = false);

  bool relaxed_atomic(const OrderPoint& p) const { return relaxed && p.kind == OrderPoint::Kind::Access; }
  /// A plain store or an atomic that may write where the access reads.
  bool may_be_written(uint64_t roots) const;
  std::vector<uint64_t> written; // roots of stores and atomics, each once
};

} // namespace asmevo::program
