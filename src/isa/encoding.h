// The microcode formats of GFX9 (CDNA3 ISA, chapter 13): which family a word belongs to, how long the
// instruction is, where the fields stand. Knows bits only, no meanings.
#pragma once

#include "isa/instruction.h"

#include <span>

namespace asmevo::isa {

Family family_of(uint32_t first);

/// Dwords of the instruction, which its first dword decides.
unsigned encoded_dwords(uint32_t first);

/// The instruction ends with a 32-bit literal.
bool has_literal(uint32_t first);

/// Words that the ISA reserves but LLVM's disassembler or printer takes for valid and then crashes on: SDWA
/// selectors without meaning, a literal for VOP3 (GFX9 has none there), an inline constant as a matrix of the
/// f8f6f4 MFMAs. Also true where `words` is too short for the instruction.
bool has_reserved_code(std::span<const uint32_t> words);

/// Fills family, opcode, extension and modifiers from `words`.
void decode_fields(Instruction& instruction);

/// The 9-bit (vector) or 8-bit (scalar) source codes of src0..src2, in that order; 255 is a literal.
StaticVector<uint16_t, 3> source_codes(const Instruction& instruction);

} // namespace asmevo::isa
