// Code object -> Program: decodes .text and turns every PC-relative address into a reference, so that
// instructions can be inserted, removed and reordered.
#pragma once

#include "codeobject/code_object.h"
#include "program/program.h"

namespace asmevo::rebuild {

/// What recovery could not make sense of. Moving code is then unsafe; in-place patching still works.
struct RecoveryGap {
  uint64_t offset = 0; // in .text
  std::string reason;
};

struct Recovery {
  program::Program program;
  std::vector<RecoveryGap> gaps; // empty: code may move
  size_t repaired = 0;           // instructions with dead encoding bits, kept as they are
};

/// Unsupported where there is no single executable section named .text. The codec must be for the object's
/// target.
Result<Recovery> recover(const codeobject::CodeObject& object, isa::Codec& codec);

} // namespace asmevo::rebuild
