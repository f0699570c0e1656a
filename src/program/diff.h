// What differs between two programs, instruction by instruction.
#pragma once

#include "program/program.h"

#include <vector>

namespace asmevo::program {

/// Entries [k0_begin, k0_end) of one program stand where [begin, end) of the other do.
struct Hunk {
  Index k0_begin = 0, k0_end = 0;
  Index begin = 0, end = 0;
};

/// The hunks that differ between two functions, in order. Instructions are equal when their words are,
/// address fields aside, and when what they refer to corresponds: a branch whose target moved with the code
/// is equal, one that goes to another instruction is not. Shortest script (Myers) up to 2,000 differences;
/// beyond that the part between the first and the last is one hunk.
std::vector<Hunk> diff(const Program& k0, const Function& k0_function, const Program& other,
                       const Function& function);

} // namespace asmevo::program
