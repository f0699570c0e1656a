#include "cli/optimize_batch.h"

#include "base/log.h"
#include "cli/optimize_progress.h"

#include <chrono>

namespace asmevo::cli {

namespace {

// Of one kernel, when it is done.
std::string end_of(const search::BatchKernel& k, const std::filesystem::path& runs) {
  if (k.failure) return "failed: " + printable(k.failure->reason, whole_text);
  const auto status = report::RunStatus::read(runs / k.name);
  if (!status) return printable(status.error().message, 300);
  std::error_code error;
  const bool best = std::filesystem::exists(runs / k.name / "best.co", error);
  return fmt::format("{}, {}",
                     best         ? fmt::format("{:.3f}x, {}", status->speedup, status->device)
                     : k.finished ? "nothing faster was found"
                                  : "interrupted",
                     report::outcomes_text(status->tally.attempts, status->tally.outcomes));
}

class BatchWatch {
 public:
  BatchWatch(std::filesystem::path runs, search::Budget budget, unsigned workers)
      : runs_(std::move(runs)), budget_(budget), workers_(workers) {}

  search::BatchHooks hooks() {
    search::BatchHooks hooks;
    hooks.interrupted = &interruption();
    hooks.begin = [this](const search::BatchKernel& k, size_t number, size_t of) {
      name_ = fmt::format("[{}/{}] {}", number, of, k.name);
      progress_.emplace(name_, budget_);
      return hooks_of(*progress_, workers_);
    };
    hooks.end = [this](const search::Batch&, const search::BatchKernel& k) { end(k); };
    return hooks;
  }

 private:
  void end(const search::BatchKernel& k) {
    progress_.reset();
    fmt::print(stderr, "{}: {}\n", name_, end_of(k, runs_));
    std::error_code error;
    if (std::filesystem::exists(runs_ / k.name / "run.sqlite", error))
      write_report((runs_ / k.name).string());
    // It reads all runs again, and is written once more in the end.
    using Clock = std::chrono::steady_clock;
    if (Clock::now() < next_summary_) return;
    const auto before = Clock::now();
    if (const auto written = report::write_summary(runs_); !written)
      spdlog::warn("no summary was written: {}", one_line(written.error()).message);
    next_summary_ = Clock::now() +
                    std::max<Clock::duration>(std::chrono::milliseconds(500), 20 * (Clock::now() - before));
  }

  std::filesystem::path runs_;
  search::Budget budget_;
  unsigned workers_;
  std::string name_;
  std::optional<OptimizeProgress> progress_;
  std::chrono::steady_clock::time_point next_summary_;
};

void print(const report::BatchSummary& summary, bool json) {
  if (json)
    print_json(report::json_of(summary));
  else
    fmt::print("{}{}\n", report::text_of(summary), (summary.folder / "summary.html").string());
}

} // namespace

Result<report::BatchSummary> run_batch(const std::string& runs, search::Batch batch, unsigned workers) {
  BatchWatch watch(runs, batch.settings.budget, workers);
  ASMEVO_CHECK(search::optimize_batch(runs, std::move(batch), watch.hooks()));
  return report::write_summary(runs);
}

Result<Answer> optimize_batch(const std::string& runs, search::Batch batch, unsigned workers, bool json) {
  ASMEVO_TRY(const report::BatchSummary summary, run_batch(runs, std::move(batch), workers));
  print(summary, json);
  return summary.faster != 0 && summary.open == 0 ? Answer::Yes : Answer::No;
}

Result<Answer> resume_batch(const std::string& runs, const std::optional<search::Budget>& budget,
                            unsigned workers, bool json) {
  ASMEVO_TRY(search::Batch batch, search::Batch::read(runs));
  if (budget) batch.settings.budget = *budget;
  return optimize_batch(runs, std::move(batch), workers, json);
}

Result<Answer> batch_status(const std::string& runs, bool json) {
  ASMEVO_TRY(const report::BatchSummary summary, report::BatchSummary::read(runs));
  print(summary, json);
  return summary.open == 0 || summary.in_use ? Answer::Yes : Answer::No;
}

} // namespace asmevo::cli
