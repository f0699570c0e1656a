// What the kernels of kernels/mi300a/ must leave in their buffers.
#pragma once

#include "reference/suite.h"

namespace asmevo::reference {

struct Mi300aKernel {
  std::string name; // of kernels/mi300a/<name>.hip and .toml
  Expected (*launch)(const SuiteInputs&);
};

/// All of them. matrixmultiplication's is right only for a launch of one workgroup: more race for memory that
/// all of them use.
const std::vector<Mi300aKernel>& mi300a_kernels();

} // namespace asmevo::reference
