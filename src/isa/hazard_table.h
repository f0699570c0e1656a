// Wait states that software must keep between two instructions, as numbers per target. What each number is
// for stands with the rules in hazards.h. Sources: CDNA2, CDNA3 and CDNA4 ISA manuals, chapter 4.5 "Manually
// Inserted Wait States"; the values were read off llc 22 (pass post-RA-hazard-rec), which
// tests/isa/hazards_test.cpp repeats.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

#include <cstdint>

namespace asmevo::isa {

/// 0 where the target interlocks the hazard or does not have it.
struct HazardTable {
  // The same on all three targets.
  uint8_t valu_sgpr_vmem = 5;
  uint8_t valu_sgpr_lane_select = 4;
  uint8_t valu_vcc_div_fmas = 4;
  uint8_t valu_exec_dpp = 5;
  uint8_t valu_vgpr_dpp = 2;
  uint8_t valu_exec_mfma = 4;
  uint8_t valu_vgpr_mfma = 2;
  uint8_t dot_result = 3;
  uint8_t dgemm_fma64 = 2;
  uint8_t setreg = 2;
  uint8_t setreg_rfe = 1;
  uint8_t salu_m0 = 1;
  // gfx940 family: operands are forwarded earlier than they are checked.
  uint8_t valu_sgpr_valu = 0;
  uint8_t valu_vgpr_readlane = 0;
  uint8_t valu_exec_lane = 0;
  uint8_t trans_valu = 0;
  uint8_t dst_sel_valu = 0;
  // Store data of more than 64 bits, overwritten by a VALU; with an SGPR as soffset the data is read one
  // cycle earlier.
  uint8_t wide_store = 1;
  uint8_t wide_store_soffset = 0;
  // gfx950: v_permlane16_swap, v_permlane32_swap.
  uint8_t valu_vgpr_permlane = 0;
  uint8_t valu_exec_permlane = 0;
  // gfx90a: a DGEMM between a VALU write and the memory instruction that reads it defeats the interlock.
  uint8_t valu_dgemm_memory = 0;

  bool gfx940 = false, gfx950 = false;

  static const HazardTable& of(const Target&);

  // A matrix instruction's result, by what uses it. `passes`: of the instruction that writes it.

  /// Overlaps SrcC of another matrix instruction. `same`: is exactly its SrcC.
  unsigned matrix_to_src_c(MatrixKind writer, unsigned passes, MatrixKind reader, unsigned reader_passes,
                           bool same) const;
  /// Is SrcA, SrcB, a scale or the index of another matrix instruction.
  unsigned matrix_to_src_ab(MatrixKind writer, unsigned passes) const;
  /// Is read by other VALU instructions; by memory instructions.
  unsigned matrix_to_valu(MatrixKind writer, unsigned passes) const;
  unsigned matrix_to_memory(MatrixKind writer, unsigned passes) const;
  /// Is overwritten by VALU or memory instructions.
  unsigned matrix_overwritten(MatrixKind writer, unsigned passes) const;
  /// A VALU or memory instruction overwrites the SrcC of a matrix instruction.
  unsigned matrix_src_c_overwritten(MatrixKind reader, unsigned passes) const;
};

} // namespace asmevo::isa
