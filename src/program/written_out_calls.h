// A function with what it calls written out at the calls, for comparing: what a callee waits for, orders or
// holds back belongs to the caller, and a candidate may call what K0 has in line, or the other way round.
#pragma once

#include "program/program.h"

#include <deque>
#include <memory>
#include <vector>

namespace asmevo::program {

struct WrittenOutCalls {
  Program program;                  // of one function, with the ids of the original
  std::vector<Index> origin;        // of each entry, in the original program
  std::deque<isa::Instruction> own; // in place of calls and returns
};

/// Nothing where no call can be written out. Can be: s_call_b64, and s_swappc_b64 of an address made in its
/// block from a label, of code that comes back by s_setpc_b64 of the call's own register; three deep, without
/// recursion. Others stay calls.
std::unique_ptr<WrittenOutCalls> write_out_calls(const Program&, const Function&);

} // namespace asmevo::program
