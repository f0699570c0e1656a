// Which pairs of instructions of a straight-line range must keep their order, and why.
//
// Not covered: wait states. An s_nop is free to move, and a new order may need other ones; static_check.h
// finds those.
#pragma once

#include "program/program.h"
#include "program/wave_state.h"

#include <vector>

namespace asmevo::program {

enum class DependenceKind : uint8_t {
  Raw,
  War,
  Waw,    // through registers
  Memory, // may touch the same bytes and one of them writes; or atomics, coherent loads, cache control
  Wait,   // s_waitcnt against what it waits for, and what relies on it
  Order,  // barriers, branches, side effects, mode changes
};

struct Dependence {
  Index from = 0, to = 0; // from before to
  DependenceKind kind = DependenceKind::Raw;
  isa::RegRange reg; // of Raw, War, Waw: some registers concerned
  friend bool operator==(const Dependence&, const Dependence&) = default;
};

/// How far accesses of different lanes are told apart.
enum class Aliasing : uint8_t {
  // The lanes of a wave run in lock step, and hand-written code relies on it: after ds_write_b32 v0, v1 lane
  // 0 may read
  // with ds_read_b32 v2, v0 offset:4 what lane 1 wrote. So accesses with addresses per lane are never
  // independent, one
  // of them writing; only scalar ones of the same base can be.
  LockStep,
  // A lane meets its own bytes only, as in compiled code between barriers (a data race otherwise): accesses
  // of the same
  // base and disjoint offsets are independent. For buffers this holds for swizzled descriptors too, which map
  // the bytes
  // of a record one to one.
  PerLane,
};

struct DependenceOptions {
  Aliasing aliasing = Aliasing::LockStep;
  // Of those who place every wait anew for the order that comes of it (wait_placement.h), in ranges without
  // any: what raises a counter keeps no order then.
  bool counted_order = true;
};

/// All dependences within entries [begin, end), which must lie in one basic block; `at_begin` is what is
/// known there (WaveStates::before). Every Raw dependence on the last writer is there, as its latency
/// matters; the others are left out where a chain already orders the pair (longer chains than about 2,000
/// instructions are not looked for). Sorted by (to, from). More than 512 memory accesses that are all free of
/// each other are treated as ordered at each 512th.
///
/// Waits. An s_waitcnt stays among the instructions that raise its counters. These may change places with
/// each other only where every later wait finds both complete, or both not; those whose wait lies behind the
/// range keep their order. What reads or overwrites a result, or touches memory, stays behind the wait that
/// completes it.
std::vector<Dependence> dependences(const Program&, Index begin, Index end, const WaveState& at_begin,
                                    const DependenceOptions& = {});

/// The same where nothing is known of what runs before: every register may wait for its result, and vector
/// instructions may be skipped or indexed if anything in the program around the range (its function) can make
/// them so.
std::vector<Dependence> dependences(const Program&, Index begin, Index end);

} // namespace asmevo::program
