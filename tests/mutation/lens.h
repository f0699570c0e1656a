// What a mutated instruction does in K0's own runs: whether it is reached at all, and whether the mutant ever
// gives another result there. For looking into mutants that nothing rejects.
#pragma once

#include "mutation/campaign.h"

namespace asmevo::mutation {

struct Look {
  uint64_t executions = 0; // of vector instructions: with some lane on
  bool comparable = false; // an instruction without memory and branches: the rest is filled in
  uint64_t different = 0;  // of these, gave another result
  std::string describe() const;
};

Look look_at(const Bench&, const Mutant&);

} // namespace asmevo::mutation
