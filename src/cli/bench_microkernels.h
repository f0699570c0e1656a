// `asmevo bench microkernels` and `asmevo bench mfma`: what is published of a machine, measured on real
// cards, beside what the cycle model makes of it.
#pragma once

#include "cli/cli.h"

namespace asmevo::cli {

struct MicrokernelOptions {
  std::string suite = "kernels/microkernels"; // has figures.csv, the launch files, and matrix.csv
  std::string objects;                        // folder of the code objects; mfma needs none
  std::string machine;                        // empty: all that have figures; mfma: one for each GPU
  uint64_t effort = 4'000'000;
  unsigned threads = 0;
};

/// Prints a row a figure. Yes: no figure whose sources agree is more than 5 % off.
Result<Answer> bench_microkernels(const MicrokernelOptions&, bool json);
/// The same for matrix instructions.
Result<Answer> bench_mfma(const MicrokernelOptions&, bool json);

} // namespace asmevo::cli
