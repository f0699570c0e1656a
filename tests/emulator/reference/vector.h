// Families of instructions; each runs what it knows and says whether it did.
#pragma once

#include "emulator/reference/lane.h"

namespace asmevo::reference {

bool run_vector_masks(const isa::Instruction&, State&);
bool run_vector_moves(const isa::Instruction&, State&); // across lanes, and several registers at once
bool run_packed(const isa::Instruction&, State&);       // VOP3P but for matrices
bool run_small_floats(const isa::Instruction&, State&); // fp8, bf8, bf16
bool run_matrix(const isa::Instruction&, State&);       // MFMA
bool run_exact_matrix(const isa::Instruction&, State&); // SMFMAC and f8f6f4
bool run_scalar(const isa::Instruction&, State&);
bool run_scalar_memory(const isa::Instruction&, State&);
bool run_lds(const isa::Instruction&, State&);
bool run_memory(const isa::Instruction&, State&); // buffer, global, flat, scratch

} // namespace asmevo::reference
