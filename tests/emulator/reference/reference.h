// A second, plain emulator for tests: one lane after the other, written from the manuals and apart from
// src/emulator/families. Slow, and meant to be read.
#pragma once

#include "emulator/reference/state.h"

#include <span>
#include <string_view>

namespace asmevo::reference {

/// Runs one instruction. False: the reference does not have it (see left_out), and the state is as it was but
/// for the pc.
bool step(const isa::Instruction&, State&);

/// What the reference leaves out of what the emulator implements, and why. A name ending in '*' stands for
/// all that begin so.
struct LeftOut {
  std::string_view names; // separated by spaces
  std::string_view reason;
};
/// Sources (bit n: source n) for which neg and abs mean something.
unsigned signed_sources(const isa::Instruction&);

std::span<const LeftOut> left_out();
bool is_left_out(std::string_view mnemonic);

} // namespace asmevo::reference
