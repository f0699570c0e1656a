// What came out of a batch of `optimize`: a row for each kernel, from its run's folder and from batch.json,
// whoever works on it at the moment.
#pragma once

#include "report/run_status.h"
#include "search/batch.h"

namespace asmevo::report {

struct BatchRow {
  std::string kernel;    // as the run is called
  std::string file;      // of the input folder
  std::string target;    // "gfx942"
  bool inferred = false; // its launch
  std::string run;       // folder, in that of the batch; empty: there is none
  std::string same_as;   // kernel whose run stands for this one; the figures are its
  std::string state;     // "done", "failed", "waiting", or a run's
  std::string device;    // "modelled (mi308x)"; empty: not known yet
  bool verified = false; // best.co is there: the speedups are of it
  double speedup = 1;
  std::optional<double> structural;        // on models that no search sees; of what was verified
  double k0_seconds = 0, best_seconds = 0; // modelled, medians; 0: not known yet
  run::Tally tally;
  // Of K0, the launched kernels together: the unit that is busy for the largest share of the time, and that
  // share. Without doing less the kernel cannot take less. Empty: not known yet.
  std::string busiest_unit;
  double busiest_share = 0;
  double seconds = 0;                  // of the search
  std::vector<std::string> directions; // of the commits that lead to the best, the first one first
  std::string why_not;                 // there is no speedup; empty: there is one
  std::optional<int> exit_code;        // of `optimize` on it alone; none: it is not over
};

struct BatchSummary {
  std::filesystem::path folder; // of the batch
  std::string input;            // folder of the kernels
  std::string command, made_by;
  bool in_use = false;
  std::vector<BatchRow> rows;

  // Of the kernels with runs of their own.
  size_t faster = 0, not_faster = 0, failed = 0, open = 0;
  size_t same = 0; // as others
  /// Of those that came to their end, not faster ones counted as 1.
  double mean_speedup = 1; // geometric

  static Result<BatchSummary> read(const std::filesystem::path& runs);
};

gate::Json json_of(const BatchSummary&);
/// A table, and what it comes to in a line.
std::string text_of(const BatchSummary&);
/// One file that needs nothing else; links to the runs' report.html lead beside it.
std::string html_of(const BatchSummary&);

/// Reads the batch, and writes its summary.json and summary.html.
Result<BatchSummary> write_summary(const std::filesystem::path& runs);

} // namespace asmevo::report
