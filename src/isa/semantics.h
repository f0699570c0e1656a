// What an instruction does beyond its operands, told from family and mnemonic: issue class, memory access,
// wait counters, control flow, lanes. Private to isa/.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

namespace asmevo::isa {

/// Fills everything of `instruction` that depends only on its encoding and mnemonic, which must be set.
void describe(Instruction& instruction, const Target& target);

/// DS instructions that take an address or size from M0 on GFX9; LLVM marks all of them.
bool lds_uses_m0(std::string_view base_mnemonic);

} // namespace asmevo::isa
