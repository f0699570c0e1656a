// What watches a run: traces, the sanitizer, the cycle model. A wave without observer pays one test of a
// pointer for each memory instruction and nothing for others: register accesses need no hook of their own,
// since isa::Instruction says exactly which registers an instruction reads and writes.
#pragma once

#include "emulator/micro_op.h"

#include <cstdint>
#include <span>

namespace asmevo::emulator {

class Workgroup;

/// One memory instruction's accesses, told after its addresses are known and before memory changes.
struct MemoryEvent {
  isa::MemoryKind space =
      isa::MemoryKind::None; // where the access went: FLAT is resolved to Global, Lds or Scratch
  bool load = false, store = false, atomic = false;
  unsigned bytes = 0;                  // each lane; SMEM: in all
  uint64_t lanes = 0;                  // which lanes access memory
  const uint64_t* addresses = nullptr; // one a lane (SMEM: one); LDS: byte offsets
};

class Observer {
 public:
  virtual ~Observer() = default;
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
