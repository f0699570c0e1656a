// What each loop of a kernel costs a wave at least, and why: by issue, or by a chain of results that wait for
// one another. Of innermost loops, along the way that waves mostly take through the body.
//
// Chains know registers only. A result of memory comes after the shortest latency of its kind: a hit in the
// first cache, LDS without conflicts, a hit in the scalar cache. What really happens is longer; the chain is
// what no order of the instructions can undo.
#pragma once

#include "profile/code_path.h"
#include "timing/instruction_cost.h"

#include <algorithm>

namespace asmevo::profile {

struct LoopBound {
  program::Index first = 0; // the loop's first entry
  uint32_t depth = 1;
  std::vector<program::Index> body; // entries of one turn, in order
  double turns = 0;                 // of all waves, where the profile counts runs

  // Cycles of a turn.
  double issue = 0; // that one wave needs to issue it: it issues once in four cycles
  double pipe = 0;  // that the pipe needs which the body uses most, for each wave
  timing::Pipe busiest = timing::Pipe::Internal;
  double chain = 0;   // from the first instruction to the last result, if nothing but chains held it up
  double carried = 0; // the same from turn to turn: what loops cannot go below
  double alone = 0;   // of a wave that has the machine to itself, with the order and the waits it has
  std::vector<program::Index> critical; // of the chain that `carried` is the length of, one turn of it

  double measured = 0; // that a wave took, by the profile; 0 where it does not count runs

  /// Chains, not issue, decide what a wave alone takes.
  bool bound_by_chain() const { return carried > issue; }
  /// Waves on a SIMD with which the busiest pipe would have no gaps.
  double waves_to_fill() const { return pipe > 0 ? std::max({carried, issue, alone}) / pipe : 0; }
};

/// In address order.
std::vector<LoopBound> loop_bounds(const CodePath&, const timing::Machine&);

} // namespace asmevo::profile
