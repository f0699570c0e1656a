// Many machines in place of one. No parameter of a machine model is known exactly, and a search that sees one
// machine learns its mistakes; what is faster on most machines within the error of the parameters is more
// likely to be faster on a GPU.
//
// The structural ensemble differs in what the parameters do not say: who is arbitrated first, where
// workgroups are placed, which line a cache gives up. It is for final figures; searches must not see it.
#pragma once

#include "timing/kernel_time.h"

namespace asmevo::timing {

struct EnsembleMember {
  std::string name; // "nominal", "parameters 3", "youngest wave first"
  Machine machine;
  KernelTimeOptions options;
};

/// The machine as it is, and `members - 1` drawn from its parameters' ranges whose waves also start at other
/// times. The same for a seed.
std::vector<EnsembleMember> parameter_ensemble(const MachineModel&, unsigned members, uint64_t seed = 1);

std::vector<EnsembleMember> structural_ensemble(const MachineModel&);

/// What an ensemble says of a number.
struct Spread {
  double median = 0, low = 0, high = 0; // low, high: the least and the most
  double deviation = 0;                 // standard deviation over mean
};
Spread spread_of(std::vector<double> values);

} // namespace asmevo::timing
