// AITer's production kernels for gfx942 that asmevo is tried with: which object and launch file, and what a
// launch must leave in its buffers. The objects are not part of this tree: they lie in AITer's folder hsa/.
#pragma once

#include "reference/suite.h"

namespace asmevo::reference {

struct AiterKernel {
  std::string name;
  std::string object; // below hsa/
  std::string launch; // of kernels/aiter/<launch>.toml
  Expected (*expected)(const SuiteInputs&);
  std::vector<std::string> shapes;
  /// Waves read what others may already have overwritten: what it leaves depends on their order. Where they
  /// run abreast, as on a GPU, it comes out right.
  bool races = false;
};

/// All of them, family by family.
const std::vector<AiterKernel>& aiter_kernels();

} // namespace asmevo::reference
