// How the lanes of each memory instruction spread over lines and banks, from the traces: the most that better
// addresses could win.
#pragma once

#include "oracle/launch_trace.h"

namespace asmevo::profile {

/// Of all accesses of an instruction that were traced. Divide by `accesses` for one.
struct AccessShape {
  double accesses = 0;
  double lanes = 0;
  double lines = 0,
         least_lines = 0; // of the first cache that were touched; and as few as could hold the bytes
  double cycles = 0, least_cycles = 0; // of LDS banks; and without a conflict

  AccessShape& operator+=(const AccessShape&);
};

/// By address in the code object, of vector memory and LDS instructions of one launch. `line`: bytes of a
/// line of the first cache.
std::map<uint64_t, AccessShape> access_shapes(const timing::DispatchTrace&, unsigned line);

} // namespace asmevo::profile
