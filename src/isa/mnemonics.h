// Which instructions a target has, as far as LLVM knows: the mnemonics without encoding suffix.
#pragma once

#include "isa/codec.h"

#include <string_view>
#include <vector>

namespace asmevo::isa {

struct Mnemonic {
  std::string_view base;        // lives as long as the process
  Family family = Family::Data; // the first that has it
};

/// Every base mnemonic of the codec's target, sorted. LLVM's tables cannot be asked which instructions a
/// target has without aborting on those it lacks, so every opcode of every microcode format is decoded, with
/// such operands that some form of the instruction accepts them.
std::vector<Mnemonic> mnemonics_of(Codec&);

/// Not part of what a compute kernel does: images, interpolation, export.
bool is_graphics(Family);

} // namespace asmevo::isa
