// `bench kernelbench`: a suite searched kernel by kernel, and the paper's table of what came of it.
#pragma once

#include "cli/cli.h"
#include "search/batch.h"

namespace asmevo::cli {

struct BenchSearchOptions {
  std::string objects; // folder of the code objects; empty: the build's
  std::string runs;    // folder of the runs, where the table goes on if it is there
  std::string budget = "2m", model = "mi308x", target = "gfx942", table, chart;
  std::vector<std::string> only;
  uint64_t attempts = 0;
  unsigned workers = 0;
  std::string driver = "mixed";
};

/// No: it was interrupted before its end.
Result<Answer> bench_kernelbench(const BenchSearchOptions&, bool json);

} // namespace asmevo::cli
