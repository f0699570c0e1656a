// Random edits in hot windows, after STOKE (Schkufza, Sharma, Aiken: Stochastic Superoptimization, 2013): of
// an opcode, an operand, two instructions that change places, one that goes. It knows nothing of what they
// mean; the gates say which are right and what they win.
//
// That is all there is: it finds what no case tells from K0, such as the carry into the upper half of an
// index that never gets so large. So it is no part of the default.
//
// On each version it walks: a proposal is where the walk stands with one more move. One that was verified is
// stepped to if it is faster, or with a probability that falls with how much slower it is (Metropolis); one
// that was refused is not, and not tried again.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

std::unique_ptr<Driver> make_stochastic(std::string kernel, uint64_t seed);

} // namespace asmevo::search
