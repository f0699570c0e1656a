// How the lanes of each memory instruction spread over lines and banks, from the traces: the most that better
// addresses could win.
#pragma once

#include "oracle/launch_trace.h"

namespace asmevo::profile {

/// Of an instruction, all times together that it was traced.
struct AccessShape {
  double times = 0;    // that a wave ran it
  double accesses = 0; // that came of it: none without lanes, two of ds_read2 and the like
  double lanes = 0;
  double lines = 0,
         least_lines = 0; // of the first cache that were touched; and as few as could hold the bytes
  double cycles = 0, least_cycles = 0; // of LDS banks; and without a conflict
};

/// By address in the code object, of vector memory and LDS instructions of one launch. `line`: bytes of a
/// line of the first cache; `banks`: of LDS, as many as the trace was made for.
std::map<uint64_t, AccessShape> access_shapes(const timing::DispatchTrace&, unsigned line, unsigned banks);

} // namespace asmevo::profile
