#include "program/program.h"

#include <fmt/format.h>

namespace asmevo::program {

namespace {

std::string_view specifier(isa::SymbolUse use) {
  switch (use) {
  case isa::SymbolUse::Rel32Lo: return "@rel32@lo";
  case isa::SymbolUse::Rel32Hi: return "@rel32@hi";
  case isa::SymbolUse::GotPcRel32Lo: return "@gotpcrel32@lo";
  case isa::SymbolUse::GotPcRel32Hi: return "@gotpcrel32@hi";
  case isa::SymbolUse::Abs32Lo: return "@abs32@lo";
  case isa::SymbolUse::Abs32Hi: return "@abs32@hi";
  default: return "";
  }
}

// Bytes from the end of entry `base` to the literal of entry i, which LLVM's addend counts from.
int64_t distance_to_literal(const Program& program, Index base, Index i) {
  int64_t bytes = program.instruction(i).bytes() - 4;
  for (Index k = base + 1; k < i; ++k) bytes += program.instruction(k).bytes();
  return bytes;
}

} // namespace

std::string print(const Program& program, Index i, isa::Codec& codec) {
  const Entry& e = program.entries[i];
  if (e.reference == no_index) return codec.print(*e.instruction);
  const Reference& r = program.references[e.reference];
  std::string symbol = r.label != no_index ? program.labels[r.label].name : r.symbol;
  if (r.use == isa::SymbolUse::Branch) return codec.print(*e.instruction, symbol);
  // A high half that is an inline constant stays one: text has no symbol for it.
  if (!e.instruction->literal()) return codec.print(*e.instruction);
  symbol += specifier(r.use);
  const int64_t addend = r.addend + (r.base != no_index ? distance_to_literal(program, r.base, i) : 0);
  if (addend != 0) symbol += fmt::format("{:+}", addend);
  return codec.print(*e.instruction, symbol);
}

} // namespace asmevo::program
