// Random small changes of a kernel's instructions that a verification must notice. The operators, how they
// are drawn, and the instructions that are left alone are fixed here; which mutants of a kernel there are
// follows from the seed alone.
#pragma once

#include "oracle/subject.h"

#include <string>
#include <vector>

namespace asmevo::mutation {

/// What kind of change. The first six are the kinds the project's mutation score counts.
enum class Operator : uint8_t {
  Opcode, // another instruction that takes the same operands: add for sub, or for and, the inverse comparison
  Register,  // an operand's neighbour in its place
  Immediate, // a constant a little off, negated, doubled, or 0
  Offset,    // a memory access one element further or nearer
  Drop,      // no instruction at all
  Bound,     // < for <=, > for >=
  // Breaks what only timing shows: waits, wait states and barriers dropped.
  Timing,
};
std::string_view name(Operator);

struct Mutant {
  Operator op = Operator::Drop;
  program::InstrId at;
  std::string before, after; // text; empty: dropped
  program::Edit edit(const std::string& kernel) const;
};

/// `count` different mutants of one kernel that assemble, with the six operators of the score equally often
/// as far as there are places for them. Fewer where there are no more.
std::vector<Mutant> semantic_mutants(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                     size_t count);
/// The same with Operator::Timing: each instruction at most once.
std::vector<Mutant> timing_mutants(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                   size_t count);

} // namespace asmevo::mutation
