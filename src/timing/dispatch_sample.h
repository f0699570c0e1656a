// Which workgroups of a dispatch the cycle model looks at, and on how many compute units, so that a dispatch
// of a million workgroups costs no more than a small one.
//
// XCD i runs the workgroups congruent to i modulo the number of XCDs; one XCD stands for all. Of its
// workgroups, in their order:
//
//   Whole:    all are simulated on all its compute units
//   Sequence: some. On some of its compute units, with all that those have to do, taken from everywhere; or
//             fewer, in blocks of neighbours spread over the dispatch, and the rest passes at the rate that
//             is reached once all are busy
//   Cut:      where even two compute units have too much to do: as many as fit at once, each only until it
//             has done so many instructions; the rest passes at the rate of instructions that is reached
#pragma once

#include "timing/machine_model.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace asmevo::timing {

struct DispatchSize {
  uint64_t workgroups = 1;
  unsigned waves_per_workgroup = 1;
  unsigned workgroups_per_cu = 1;
  double instructions = 1; // of a workgroup, all its waves together, in the mean
};

struct DispatchSample {
  enum class Kind : uint8_t { Whole, Sequence, Cut } kind = Kind::Whole;
  unsigned cus = 1;                   // compute units to simulate
  double share = 1;                   // of the XCD's that they are
  double xcds = 1;                    // that have work
  std::vector<uint64_t> workgroups;   // to trace, in the order in which they start
  double all = 1;                     // workgroups that those compute units have to do in all
  uint64_t most_steps = ~uint64_t{0}; // Cut: instructions of each wave
};

/// "whole", "sequence", "cut"
std::string_view name(DispatchSample::Kind);

/// `effort`: instructions to simulate, about.
DispatchSample choose_sample(const DispatchSize&, const Machine&, uint64_t effort);

/// A few workgroups over the dispatch, to find out how many instructions they have: the first, the last, and
/// between at distances that have nothing to do with the grid's sides.
std::vector<uint64_t> probe_workgroups(uint64_t workgroups);

} // namespace asmevo::timing
