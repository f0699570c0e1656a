// How long a dispatch takes on a machine: the simulation of its sample, and what follows from that for the
// rest.
#pragma once

#include "timing/dispatch_trace.h"
#include "timing/xcd_simulation.h"

namespace asmevo::timing {

struct KernelTime {
  double cycles = 0;  // from its first instruction until all is done, of the engine clock
  double seconds = 0; // at the clock that such a kernel runs with
  double clock_mhz = 0;
  /// Of the sample, not of the whole dispatch.
  SimulationResult simulation;
  std::vector<uint64_t> addresses; // of simulation.ops, in the code object
  double simulated_share = 1;      // of the dispatch's instructions on one XCD
  Warmth warmth;
  double footprint = 0; // bytes that the dispatch touches, of all XCDs together
};

struct KernelTimeOptions {
  Structure structure;
  uint64_t seed = 0; // of wave-start offsets; 0: none
  bool cold = false; // nothing of what it touches is in L2 or the Infinity Cache
};

KernelTime kernel_time(const DispatchTrace&, const Machine&, const KernelTimeOptions& = {});

} // namespace asmevo::timing
