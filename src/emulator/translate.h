// From a decoded instruction to a MicroOp: finds the handler and resolves operands to places in the register
// files.
#pragma once

#include "emulator/micro_op.h"
#include "isa/target.h"

namespace asmevo::emulator {

/// What of a kernel decides where its registers are.
struct RegisterLayout {
  isa::Target target;
  unsigned accum_offset = 256;    // row of a0 (kernel descriptor)
  unsigned allocated_vgprs = 512; // rows a wave has
};

/// Never fails: what cannot run gets a handler that says so when it is reached (unimplemented instruction,
/// data where code should be, a register beyond the allocation).
MicroOp translate(const isa::Instruction&, uint64_t pc, const RegisterLayout&);

} // namespace asmevo::emulator
