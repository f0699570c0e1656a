#include "base/files.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/optimize_progress.h"
#include "report/batch_summary.h"
#include "report/run_report.h"

#include <memory>

namespace asmevo::cli {

namespace {

struct ReportOptions {
  std::string folder, output;
};

// A slip of the hand, and the run's database or an object would be a page.
Status check_output(const std::string& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::is_regular_file(file, error) ||
      std::filesystem::is_empty(file, error))
    return {};
  const auto there = read_file(file);
  if (there && as_text(*there).starts_with("<!DOCTYPE html>")) return {};
  return bad_input("{}: is there already, and is no report", file);
}

Result<Answer> report_on_batch(const ReportOptions& options, bool json) {
  ASMEVO_TRY(const report::BatchSummary summary,
             json ? report::BatchSummary::read(options.folder) : report::write_summary(options.folder));
  if (!options.output.empty()) ASMEVO_CHECK(write_file(options.output, report::html_of(summary)));
  if (json)
    print_json(report::json_of(summary));
  else
    fmt::print("{}  {}\n", report::text_of(summary),
               options.output.empty() ? (summary.folder / "summary.html").string() : options.output);
  return Answer::Yes;
}

Result<Answer> report_on(const ReportOptions& options, bool json) {
  ASMEVO_CHECK(check_output(options.output));
  if (search::Batch::is_there(options.folder)) return report_on_batch(options, json);
  ASMEVO_TRY(const report::RunReport report, report::RunReport::read(options.folder));
  const std::filesystem::path file = options.output.empty()
                                         ? std::filesystem::path(options.folder) / "report.html"
                                         : std::filesystem::path(options.output);
  // With --json the page is written only where somebody asks for it.
  const bool page = !json || !options.output.empty();
  if (page) ASMEVO_CHECK(write_file(file, report::html_of(report)));
  if (json)
    print_json(report::json_of(report));
  else
    fmt::print("{}  {}\n", report::text_of(report), file.string());
  return Answer::Yes;
}

} // namespace

void write_report(const std::string& folder) {
  if (const Status written = report::write_html(folder); !written)
    spdlog::warn("no report was written: {}", one_line(written.error()).message);
}

void add_report(Context& context) {
  auto options = std::make_shared<ReportOptions>();
  Verb* verb =
      add_verb(context, "report",
               "what a run of 'optimize', or a batch of runs, found, as a page to read and to send on",
               "asmevo report run");
  verb->add_option("RUN", options->folder, "folder of the run")->required();
  verb->add_option("-o,--output", options->output,
                   "the page (default: RUN/report.html; of a batch: summary.html)")
      ->type_name("FILE");
  verb->callback([&context, options] {
    context.action = [&context, options] { return report_on(*options, context.json); };
  });
}

} // namespace asmevo::cli
