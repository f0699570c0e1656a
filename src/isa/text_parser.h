// Assembly text -> encoded instructions, through LLVM's parser. Text must have passed check_plain_assembly.
// Includes LLVM headers: for isa/*.cpp only.
#pragma once

#include "isa/codec.h"
#include "isa/llvm_mc.h"

namespace asmevo::isa {

struct AssembledLine {
  unsigned line = 0, column = 0;
  std::string label;                                       // a label, or
  StaticVector<uint32_t, Instruction::max_dwords> words{}; // an instruction
  SymbolUse use = SymbolUse::None;
  std::string symbol;
  int64_t addend = 0;
};

std::expected<std::vector<AssembledLine>, TextError> assemble_text(const LlvmMc& mc, std::string_view text);

} // namespace asmevo::isa
