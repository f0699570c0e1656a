// Where a kernel stands under the roofs of the machine (S. Williams, A. Waterman, D. Patterson, Roofline,
// CACM 2009): arithmetic it does for each byte that a level of memory moves for it, and what that allows.
//
// A level reads and writes at rates of its own. Its roof is what it allows for the bytes as this kernel reads
// and writes them: all its operations in the time that those bytes take at the least.
#pragma once

#include "profile/kernel_summary.h"

namespace asmevo::profile {

struct Roofline {
  double operations = 0; // a second
  /// Operations a byte, by MemoryLevel; 0 where a level moved nothing.
  std::array<double, memory_level_count> intensity{};
  double peak = 0;       // operations a second of the units that do most of the arithmetic
  std::string peak_unit; // "VALU", "matrix"
  double attainable = 0; // the lowest roof at this intensity
  std::string roof;      // which that is: "HBM", ..., or peak_unit
  double reached() const { return attainable > 0 ? operations / attainable : 0; } // at most 1
};

/// Empty roof where the kernel does no arithmetic that counts (flops.h).
Roofline roofline(const KernelSummary&);

} // namespace asmevo::profile
