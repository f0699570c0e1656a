// Who last touched each byte of a workgroup's LDS, and whether a barrier lies between. Waves of a workgroup
// run in some order here and in another on a GPU: two accesses of different waves that no barrier divides,
// one of them writing, are a race whatever the run made of it.
#pragma once

#include "emulator/observer.h"
#include "sanitizer/op_info.h"

#include <cstdint>
#include <vector>

namespace asmevo::sanitizer {

class LdsShadow {
 public:
  /// An access in conflict with the one before it.
  struct Conflict {
    bool read_before = false; // what the other access was; false: a write
    uint32_t wave = 0;        // the other's
    uint32_t op = 0;          // the other's MicroOp::index
    uint32_t byte = 0;        // offset in LDS
    unsigned lane = 0;
  };
  struct Seen {
    bool conflict = false, uninitialised = false;
    Conflict first;         // if conflict
    uint32_t unwritten = 0; // if uninitialised: an offset
    unsigned unwritten_lane = 0;
  };

  void start(uint32_t bytes);
  /// All waves have met.
  void barrier();
  /// Lanes beyond the end are left out. Atomics: write, and are in no conflict with each other.
  Seen access(const emulator::MemoryEvent&, uint32_t wave, uint32_t op);

 private:
  Seen look_closely(const emulator::MemoryEvent&, uint32_t wave, bool read, bool write) const;
  // Who: epoch << 8 | atomic << 7 | several waves << 6 | wave. Everything of an older epoch compares below.
  uint32_t tag(uint32_t wave, bool atomic) const { return epoch_ << 8 | uint32_t{atomic} << 7 | wave; }

  uint32_t epoch_ = 1;
  // By byte: `who` of the last write and read, and the instruction of each.
  std::vector<uint32_t> written_, read_, write_op_, read_op_;
};

} // namespace asmevo::sanitizer
