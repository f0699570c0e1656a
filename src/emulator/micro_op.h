// An instruction made ready to run: which function runs it, and where in a wave's register files its operands
// are. Made once per instruction (translate.h), so that running it looks nothing up.
#pragma once

#include "isa/instruction.h"

#include <cstdint>

namespace asmevo::emulator {

class Wave;
struct MicroOp;

/// Runs one instruction for all lanes of a wave. The wave's pc already stands behind the instruction.
using Handler = void (*)(Wave&, const MicroOp&);

/// Where a value is. Vector: a row of Wave::vectors (AGPRs are rows from accum_offset on). Scalar: a slot of
/// Wave::scalars, see wave.h. 64-bit and wider operands take consecutive rows or slots.
struct Place {
  enum class Kind : uint8_t { None, Vector, Scalar, Constant };
  Kind kind = Kind::None;
  uint8_t dwords = 0;
  uint16_t index = 0;
  uint64_t value = 0; // Constant: bits as the operand's type has them

  bool vector() const { return kind == Kind::Vector; }
  bool scalar() const { return kind == Kind::Scalar; }
  bool present() const { return kind != Kind::None; }
};

/// Subject to VSKIP.
inline bool is_vector(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && i.family != isa::Family::Data;
}
/// Subject to VGPR indexing.
inline bool is_valu(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1 && i.family <= isa::Family::Vop3p;
}

struct MicroOp {
  // Sources of ALU instructions are source[0..4] (Role::Src0..Src4). Memory instructions use these names:
  enum MemorySource : unsigned { address, data, data1, base, offset };
  // base: SADDR, SBASE or the four-dword buffer resource. offset: SOFFSET, or SMEM's offset register.

  Handler run = nullptr;
  Handler inner = nullptr; // where `run` only prepares something for it
  const isa::Instruction* instruction = nullptr;
  Place source[5];
  /// Vector result (or the first result, wherever it is).
  Place result;
  /// Second result: carry or comparison mask (VCC where the encoding has no field for it), v_swap's other
  /// register.
  Place scalar_result;

  bool plain_sources = true; // no neg, abs, sext, op_sel, SDWA, DPP
  bool plain_result = true;  // no clamp, omod, op_sel[3], SDWA, DPP, kept half
  bool keeps_half = false;   // 16-bit results leave the other half of the register as it was
  uint8_t dwords = 1;        // length of the instruction
  isa::Family family = isa::Family::Data;
  uint32_t index = 0; // where it stands in its Code, in dwords
  uint64_t pc = 0;    // guest address

  const isa::Modifiers& mods() const { return instruction->mods; }
  bool dpp() const { return instruction->extension == isa::Extension::Dpp; }
  bool sdwa() const { return instruction->extension == isa::Extension::Sdwa; }
  /// Where a branch with 16-bit offset goes.
  uint64_t branch_target() const {
    return pc + 4 + static_cast<uint64_t>(int64_t{instruction->branch_offset()} * 4);
  }
};

} // namespace asmevo::emulator
