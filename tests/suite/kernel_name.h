// A kernel of the suite as GoogleTest is to print it.
#pragma once

#include "reference/suite.h"

#include <ostream>

namespace asmevo::reference {

inline void PrintTo(const SuiteKernel& kernel, std::ostream* out) {
  *out << kernel.name;
}

} // namespace asmevo::reference
