#include "emulator/interpreter.h"

#include "emulator/interpreter_loop.h"

#include <fmt/format.h>

namespace asmevo::emulator {

namespace {

// s_set_gpr_idx_on: VGPR numbers of the operands named in M0[15:12] (src0, src1, src2, dst) are relative to
// M0[7:0] (CDNA3 ISA, 3.7.3 "VGPR indexing"). A number beyond the allocation reads v0 and writes nothing.
void run_indexed(Wave& wave, const MicroOp& op) {
  MicroOp moved = op;
  const uint32_t m0 = wave.scalars[slot::m0];
  const unsigned index = m0 & 0xff, which = m0 >> 12 & 0xf;
  const unsigned rows = wave.dispatch->allocated_vgprs;
  for (unsigned n = 0; n < 3; ++n) {
    Place& p = moved.source[n];
    if (!p.vector() || (which >> n & 1) == 0) continue;
    const unsigned row = p.index + index;
    p.index = static_cast<uint16_t>(row + p.dwords <= rows ? row : 0);
  }
  if (moved.result.vector() && (which >> 3 & 1) != 0) {
    const unsigned row = moved.result.index + index;
    if (row + moved.result.dwords > rows) return;
    moved.result.index = static_cast<uint16_t>(row);
  }
  moved.run(wave, moved);
}

} // namespace

void fail_fetch(Wave& wave, const Code& code) {
  wave.fail({.kind = FaultKind::Illegal,
             .pc = wave.pc,
             .text = (wave.pc & 3) != 0 ? "the program counter is not on a dword boundary"
                                        : fmt::format("the program counter left the code ({:#x} to {:#x})",
                                                      code.address(), code.address() + code.size())});
}

bool run_attended(Wave& wave, const MicroOp& op) {
  if ((wave.attention & Wave::vskip) != 0) return false;
  if ((wave.attention & Wave::vgpr_indexing) != 0 && is_valu(*op.instruction))
    run_indexed(wave, op);
  else
    op.run(wave, op);
  return true;
}

bool attend(Wave& wave) {
  if ((wave.attention & Wave::mode_changed) != 0) {
    _mm_setcsr(wave.mode.csr32());
    wave.attention &= ~uint32_t{Wave::mode_changed};
  }
  if ((wave.attention & Wave::yield) != 0) {
    wave.attention &= ~uint32_t{Wave::yield};
    return true;
  }
  return (wave.attention & Wave::stopped) != 0;
}

uint64_t Observer::run(Wave& wave, Code& code, uint64_t budget) {
  return run_loop(wave, code, budget, *this);
}

uint64_t run_wave(Wave& wave, Code& code, uint64_t budget) {
  if (wave.observer != nullptr) return wave.observer->run(wave, code, budget);
  Unwatched nobody;
  return run_loop(wave, code, budget, nobody);
}

} // namespace asmevo::emulator
