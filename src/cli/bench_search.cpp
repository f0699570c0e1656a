#include "cli/bench_search.h"

#include "base/files.h"
#include "cli/optimize_batch.h"
#include "cli/optimize_progress.h"
#include "report/search_table.h"

namespace asmevo::cli {

Result<Answer> bench_kernelbench(const BenchSearchOptions& options, bool json) {
  search::Batch batch;
  batch.folder = std::filesystem::absolute(options.objects).lexically_normal();
  batch.selection = {.target = options.target, .kernel = "", .only = options.only};
  ASMEVO_TRY(const auto budget, budget_of(options.budget, options.attempts));
  search::OptimizationSettings& s = batch.settings;
  s.budget = budget.value_or(search::Budget());
  s.setup.model = options.model;
  s.driver = options.driver; // from nothing that other searches remember: the table is to be made again
  s.made_by = "asmevo " ASMEVO_VERSION;
  batch.command =
      fmt::format("asmevo bench kernelbench --budget {} --model {} -o RUNS", options.budget, options.model);
  ASMEVO_TRY(const report::BatchSummary summary, run_batch(options.runs, std::move(batch), options.workers));
  if (!options.table.empty()) ASMEVO_CHECK(write_file(options.table, report::search_table_text(summary)));
  if (!options.chart.empty()) ASMEVO_CHECK(write_file(options.chart, report::search_chart(summary)));
  if (json)
    print_json(report::search_table_json(summary));
  else
    fmt::print("{}", report::search_table_text(summary));
  return summary.open == 0 ? Answer::Yes : Answer::No;
}

} // namespace asmevo::cli
