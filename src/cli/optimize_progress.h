// What a run tells while it goes on, on stderr: one line that is redrawn on a terminal, a plain line now and
// then elsewhere.
#pragma once

#include "cli/cli.h"
#include "search/optimization.h"

namespace asmevo::cli {

class OptimizeProgress {
 public:
  OptimizeProgress(std::string name, search::Budget budget);
  ~OptimizeProgress();
  OptimizeProgress(const OptimizeProgress&) = delete;

  /// May be called from any thread.
  void setting_up(std::string_view what, size_t done, size_t of);
  void set_up(const gate::Json& setup);
  void standing(const search::Standing&);

 private:
  void show(const std::string& line, bool now);

  std::string name_;
  search::Budget budget_;
  bool terminal_, shown_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_{};
  uint32_t nodes_ = 1;
};

/// Ctrl-C and SIGTERM from here on: the first sets it, so that what is going on ends in good order; the
/// second ends the program.
const std::atomic<bool>& interruption();

/// Progress and interruption for a run.
search::OptimizationHooks hooks_of(OptimizeProgress&, unsigned workers);
/// "180", "180s", "3m", "1.5h"; of an option called `option`.
Result<double> seconds_in(const std::string& text, std::string_view option);
/// Of what the options say; nothing where they say nothing.
Result<std::optional<search::Budget>> budget_of(const std::string& time, uint64_t attempts);

/// The end of a run, for people or as JSON.
Result<Answer> print_result(const std::string& folder, const search::OptimizationResult&, bool json);

/// A run that was interrupted before its search began; it goes on from there.
Answer print_interrupted(const std::string& folder, bool json);

/// The run's report.html. A run is none the worse for lacking one: what goes wrong is said on stderr.
void write_report(const std::string& folder);

} // namespace asmevo::cli
