// Floating-point operations of instructions, counted from their mnemonics as AMD's counters and data sheets
// count them: an addition, a multiplication, a reciprocal, a square root or another transcendental is one, a
// fused multiply-add two. Conversions, comparisons, minima, maxima, moves and integer arithmetic are none.
#pragma once

#include "isa/instruction.h"

namespace asmevo::profile {

struct Flops {
  double flops = 0;       // of a wave whose 64 lanes are all on
  double integer_ops = 0; // the same of matrix instructions on integers, where data sheets say TOPS
  bool matrix = false;    // v_mfma, v_smfmac; else vector arithmetic
};

/// The lanes that are on are not known: a wave counts in full. Structured sparsity (v_smfmac) counts as the
/// dense product that it stands for.
Flops flops_of(const isa::Instruction&);

} // namespace asmevo::profile
