// What watches a run: traces, the sanitizer, the cycle model. A wave without observer pays one test of a
// pointer for each memory instruction and nothing for others: register accesses need no hook of their own,
// since isa::Instruction says exactly which registers an instruction reads and writes.
#pragma once

#include "emulator/wave.h"

#include <cstdint>

namespace asmevo::emulator {

class Code;
class Workgroup;

/// One memory instruction's accesses, told after its addresses are known and before memory changes.
struct MemoryEvent {
  isa::MemoryKind space =
      isa::MemoryKind::None; // where the access went: FLAT is resolved to Global, Lds or Scratch
  bool load = false, store = false, atomic = false;
  unsigned bytes = 0;                  // each lane; SMEM: in all
  uint64_t lanes = 0;                  // which lanes access memory
  const uint64_t* addresses = nullptr; // one a lane (SMEM: one); LDS: byte offsets

  /// All lanes access memory, each right behind the one before: one block of bytes.
  bool in_a_row() const {
    if (lanes != all_lanes) return false;
    uint64_t gaps = 0, next = addresses[0];
    for (unsigned l = 0; l < emulator::lanes; ++l, next += bytes) gaps |= addresses[l] ^ next;
    return gaps == 0;
  }
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Runs the wave as run_wave (interpreter.h) does, with what follows on the way. A final class may have the
  /// loop of interpreter_loop.h compiled for itself here.
  virtual uint64_t run(Wave&, Code&, uint64_t budget);
  /// Before the instruction; registers still hold what it will read.
  virtual void before(Wave&, const MicroOp&) {}
  /// An instruction can give several events (FLAT over two apertures, two-address DS).
  virtual void memory(Wave&, const MicroOp&, const MemoryEvent&) {}
  virtual void after(Wave&, const MicroOp&) {}
  virtual void barrier(Workgroup&) {} // all waves have arrived
  virtual void workgroup_started(Workgroup&) {}
  virtual void workgroup_ended(Workgroup&) {}
};

} // namespace asmevo::emulator
