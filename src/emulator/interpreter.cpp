#include "emulator/interpreter.h"

#include "emulator/observer.h"

#include <fmt/format.h>

namespace asmevo::emulator {

namespace {

void fail_fetch(Wave& wave, const Code& code) {
  wave.fail({.kind = FaultKind::Illegal,
             .pc = wave.pc,
             .text = (wave.pc & 3) != 0 ? "the program counter is not on a dword boundary"
                                        : fmt::format("the program counter left the code ({:#x} to {:#x})",
                                                      code.address(), code.address() + code.size())});
}

bool is_vector(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && i.family != isa::Family::Data;
}
bool is_valu(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && i.family <= isa::Family::Vop3p;
}

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

// What cannot be in the fast path. True: stop running this wave for now.
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

template <bool observed>
void execute(Wave& wave, const MicroOp& op) {
  if constexpr (observed) wave.observer->before(wave, op);
  if (wave.attention != 0 && is_vector(*op.instruction)) [[unlikely]] {
    if ((wave.attention & Wave::vskip) != 0) return;
    if ((wave.attention & Wave::vgpr_indexing) != 0 && is_valu(*op.instruction))
      run_indexed(wave, op);
    else
      op.run(wave, op);
  } else {
    op.run(wave, op);
  }
  if constexpr (observed) wave.observer->after(wave, op);
}

template <bool observed>
uint64_t run(Wave& wave, Code& code, uint64_t budget) {
  const MxcsrScope mode(wave.mode.csr32());
  uint64_t nobody[32];
  uint64_t* const counts = wave.counts != nullptr ? wave.counts : nobody;
  // Counted in the wave, where s_memtime sees it.
  const uint64_t first = wave.instructions;
  while (wave.instructions - first < budget) {
    const MicroOp* op = code.at(wave.pc);
    if (op == nullptr) [[unlikely]] {
      fail_fetch(wave, code);
      break;
    }
    ++counts[static_cast<size_t>(op->family)];
    wave.pc = op->pc + op->dwords * 4U;
    execute<observed>(wave, *op);
    ++wave.instructions;
    if (wave.attention != 0 && attend(wave)) [[unlikely]]
      break;
  }
  return wave.instructions - first;
}

} // namespace

uint64_t run_wave(Wave& wave, Code& code, uint64_t budget) {
  return wave.observer != nullptr ? run<true>(wave, code, budget) : run<false>(wave, code, budget);
}

} // namespace asmevo::emulator
