// With XNACK on, a run of memory instructions of one kind may be replayed from its start when one of them
// meets a page fault. None of them may then write a register that any of them reads: the replay would read
// the new value. (LLVM, "soft clause"; any other instruction in between, an s_nop too, ends the run.)
#pragma once

#include "program/finding_list.h"

namespace asmevo::program {

/// Only for targets that pin XNACK on: code for "any" mostly runs with it off, and shipped kernels rely on
/// that.
void check_clauses(const Program&, const Cfg&, FindingList&);

} // namespace asmevo::program
