// Modelled times beside given ones: a folder of launch files with a table times.csv of what a GPU took
//
//   kernel,size,launch_file,shape,ref_ms,bound[,launches][,copies_est_ms]
//
// `bound` says what sets a row's time, in one of these words or several with '/' or '+' between them:
//
//   hbm, mall, l2, l1, cache, lds     bandwidth of that level
//   compute, latency, occupancy       arithmetic; waiting; too few waves
//   dispatch                          the rate at which workgroups start
//   floor                             nothing: it is no longer than an empty launch
//   host, h2d, dispatch-copy          the host; copies within the measured region
//   unscored                          something else that is no work of the device
//
// Rows with a word of the last three lines say little about the device: they are shown, but not scored.
#pragma once

#include "oracle/launch_time.h"

namespace asmevo::oracle {

struct TimingRow {
  std::string kernel, size, launch_file, shape, bound;
  double measured = 0, copies = 0; // seconds; copies: of the measured, what the host's copies took
  uint64_t line = 0;               // of the table
  bool scored() const;
};

/// BadInput, "times.csv:12: bound: ...": a column or a word of `bound` that is missing or not as above, a
/// time that is not above 0, a launch file outside the folder, a kernel with the same size twice, no rows at
/// all.
Result<std::vector<TimingRow>> read_times(const std::string& folder);
Result<std::vector<TimingRow>> parse_times(std::string_view text, const std::string& name);

struct TimingResult {
  TimingRow row;
  double modelled = 0;       // seconds, with the row's copies
  double without_floor = 0;  // of that, what is not the launch floor
  uint64_t instructions = 0; // simulated
  double error() const { return modelled / row.measured - 1; }
};

struct TimingScore {
  std::string kernel;
  size_t rows = 0;
  double mean = 0;  // of the errors' absolute values
  double wmape = 0; // sum of the absolute differences over the sum of the measured times
  double worst = 0; // error that is farthest from 0
};

/// Of the scored rows by kernel, in the table's order.
std::vector<TimingScore> score(std::span<const TimingResult>);
/// The unweighted mean over kernels.
double mean_error(std::span<const TimingScore>);

} // namespace asmevo::oracle
