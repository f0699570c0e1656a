// `bench timing`: modelled times beside given ones.
#pragma once

#include "cli/cli.h"

namespace asmevo::cli {

struct BenchTimingOptions {
  std::string suite, objects, model, only, plot;
  uint64_t effort = 2'000'000;
  unsigned threads = 0;
};

Result<Answer> bench_timing(const BenchTimingOptions&, bool json);

} // namespace asmevo::cli
