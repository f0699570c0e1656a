#include "cli/bench_timing.h"

#include "base/files.h"
#include "base/progress.h"
#include "cli/load.h"
#include "oracle/timing_suite.h"
#include "report/timing_plot.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::cli {

namespace {

namespace fs = std::filesystem;
using oracle::TimingResult;
using oracle::TimingRow;

// The model named like the suite's folder, if there is one.
std::string default_model(const std::string& suite) {
  const std::string name = fs::path(suite).lexically_normal().filename().string();
  const auto names = timing::MachineModel::names();
  return std::ranges::find(names, name) == names.end() ? "mi300x" : name;
}

// The code object of a launch file: in the folder that was given, or beside the launch file, or where the
// build puts those of the kernels of this tree.
Result<std::string> find_object(const BenchTimingOptions& options, const std::string& launch_file,
                                const isa::Target& target) {
  const std::string stem = fs::path(launch_file).stem().string();
  std::error_code error;
  std::vector<fs::path> folders = {options.objects};
  if (options.objects.empty()) folders = {options.suite, objects_beside_program(options.suite)};
  for (const fs::path& folder : folders)
    for (const std::string& name : {stem + "." + std::string(target.name()) + ".co", stem + ".co"})
      if (fs::exists(folder / name, error)) return (folder / name).string();
  return bad_input("{}/{}: no code object {}.{}.co beside it, nor in {}; --objects says where they are",
                   options.suite, launch_file, stem, target.name(), folders.back().string());
}

Result<TimingResult> time_row(const BenchTimingOptions& options, const TimingRow& row,
                              const timing::MachineModel& model, const timing::Machine& machine) {
  ASMEVO_TRY(const std::string path, find_object(options, row.launch_file, model.target()));
  ASMEVO_TRY(codeobject::CodeObject object, load_code_object(path, ""));
  ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(options.suite + "/" + row.launch_file));
  ASMEVO_TRY(const oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), row.shape));
  oracle::LaunchTraceOptions trace;
  trace.trace.effort = options.effort;
  trace.trace.threads = options.threads;
  ASMEVO_TRY(const oracle::LaunchTraces traces,
             oracle::trace_launches(plan, std::make_shared<const codeobject::CodeObject>(std::move(object)),
                                    machine, trace));
  const oracle::LaunchTime time = oracle::launch_time(traces, machine);
  TimingResult result{.row = row};
  result.modelled = time.seconds + row.copies;
  result.without_floor = time.seconds - time.floor;
  for (const timing::KernelTime& k : time.each) result.instructions += k.simulation.instructions;
  return result;
}

void print_text(std::span<const TimingResult> results, const std::string& model) {
  fmt::print("{:<22} {:<26} {:<18} {:>12} {:>12} {:>8} {:>12}\n", "kernel", "size", "bound", "measured ms",
             "modelled ms", "error", "without floor");
  for (const TimingResult& r : results)
    fmt::print("{:<22} {:<26} {:<18} {:>12.4f} {:>12.4f} {:>+7.1f}% {:>12.4f}{}\n", printable(r.row.kernel),
               printable(r.row.size), printable(r.row.bound), r.row.measured * 1e3, r.modelled * 1e3,
               r.error() * 100, r.without_floor * 1e3, r.row.scored() ? "" : "  not scored");
  const auto scores = oracle::score(results);
  fmt::print("\n{:<22} {:>5} {:>8} {:>8} {:>8}\n", "kernel", "rows", "mean", "WMAPE", "worst");
  for (const oracle::TimingScore& s : scores)
    fmt::print("{:<22} {:>5} {:>7.1f}% {:>7.1f}% {:>+7.1f}%\n", printable(s.kernel), s.rows, s.mean * 100,
               s.wmape * 100, s.worst * 100);
  fmt::print("\nmodelled ({}): mean error {:.1f} % over {} kernels\n", model,
             oracle::mean_error(scores) * 100, scores.size());
}

void print_as_json(std::span<const TimingResult> results, const std::string& model) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array(), kernels = rows;
  for (const TimingResult& r : results)
    rows.push_back({{"kernel", r.row.kernel},
                    {"size", r.row.size},
                    {"bound", r.row.bound},
                    {"scored", r.row.scored()},
                    {"measured_ms", r.row.measured * 1e3},
                    {"modelled_ms", r.modelled * 1e3},
                    {"modelled_without_floor_ms", r.without_floor * 1e3},
                    {"error", r.error()},
                    {"simulated_instructions", r.instructions}});
  const auto scores = oracle::score(results);
  for (const oracle::TimingScore& s : scores)
    kernels.push_back(
        {{"kernel", s.kernel}, {"rows", s.rows}, {"mean", s.mean}, {"wmape", s.wmape}, {"worst", s.worst}});
  print_json(
      {{"model", model}, {"mean_error", oracle::mean_error(scores)}, {"kernels", kernels}, {"rows", rows}});
}

} // namespace

Result<Answer> bench_timing(const BenchTimingOptions& options, bool json) {
  if (options.suite.empty()) return bad_input("bench timing: --suite is required");
  ASMEVO_TRY(const auto model, timing::MachineModel::find(options.model.empty() ? default_model(options.suite)
                                                                                : options.model));
  const timing::Machine machine = model.nominal();
  ASMEVO_TRY(std::vector<TimingRow> rows, oracle::read_times(options.suite));
  std::erase_if(rows, [&](const TimingRow& r) { return r.kernel.find(options.only) == std::string::npos; });
  if (rows.empty()) return bad_input("--only: no kernel like '{}'", printable(options.only));
  std::vector<TimingResult> results;
  {
    Progress progress("modelled times", rows.size());
    for (const TimingRow& row : rows) {
      Result<TimingResult> result = time_row(options, row, model, machine);
      if (!result) return failed(result.error(), fmt::format("{}/times.csv:{}", options.suite, row.line));
      results.push_back(*std::move(result));
      progress.step();
    }
  }
  if (!options.plot.empty()) {
    const std::string title = fmt::format("Modelled ({}) against measured times, {}", model.name(),
                                          fs::path(options.suite).filename().string());
    const std::string svg = report::timing_plot(results, title);
    ASMEVO_CHECK(write_file(options.plot, std::string_view(svg)));
  }
  if (json)
    print_as_json(results, model.name());
  else
    print_text(results, model.name());
  return Answer::Yes;
}

} // namespace asmevo::cli
