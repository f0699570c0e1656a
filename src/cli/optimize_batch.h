// `optimize` for a folder of kernels: its progress, its reports, and its end on the terminal.
#pragma once

#include "cli/cli.h"
#include "report/batch_summary.h"

namespace asmevo::cli {

/// Its summary, in place of printing it.
Result<report::BatchSummary> run_batch(const std::string& runs, search::Batch, unsigned workers);
Result<Answer> optimize_batch(const std::string& runs, search::Batch, unsigned workers, bool json);
/// With another budget for each kernel, where one is given.
Result<Answer> resume_batch(const std::string& runs, const std::optional<search::Budget>&, unsigned workers,
                            bool json);

/// How it stands. No: it stopped before its end.
Result<Answer> batch_status(const std::string& runs, bool json);

} // namespace asmevo::cli
