#include "base/files.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/optimize_batch.h"
#include "cli/optimize_progress.h"
#include "search/command_line.h"
#include "search/inferred_launch.h"
#include "search/user_memory.h"

#include <memory>

namespace asmevo::cli {

namespace {

struct OptimizeOptions {
  std::string file, output, launch, capture, target, budget, mode{search::name(search::Mode::Team)}, memory;
  std::vector<std::string> only;
  uint64_t attempts = 0;
  unsigned workers = 0;
  bool no_memory = false;
  search::OptimizationSettings settings;
};

constexpr double default_seconds = 180;

// The report of a run, and its end on the terminal.
Result<Answer> conclude(const std::string& folder, const Result<search::OptimizationResult>& result,
                        bool json) {
  if (!result && interruption()) return print_interrupted(folder, json);
  if (!result) return failed(result.error());
  write_report(folder);
  return print_result(folder, *result, json);
}

class Optimize {
 public:
  Optimize(const OptimizeOptions& options, bool json) : options_(options), json_(json) {}

  Result<Answer> run() {
    ASMEVO_CHECK(check());
    search::OptimizationSettings settings = options_.settings;
    ASMEVO_TRY(const auto budget, budget_of(options_.budget, options_.attempts));
    settings.budget = budget.value_or(search::Budget{.attempts = {}, .seconds = default_seconds});
    settings.made_by = "asmevo " ASMEVO_VERSION;
    settings.mode = search::mode_named(options_.mode).value_or(search::Mode::Team);
    ASMEVO_CHECK(choose_memory(settings));
    return is_batch() ? run_batch(std::move(settings)) : run_one(std::move(settings));
  }

  // The run may be gone on with from elsewhere.
  static void make_absolute(search::OptimizationSettings& settings) {
    if (!settings.proposals.empty()) settings.proposals = absolute(settings.proposals);
    std::error_code error;
    if (std::filesystem::is_regular_file(settings.setup.model, error))
      settings.setup.model = absolute(settings.setup.model);
  }

 private:
  // With a launch, a folder is the entry of one kernel in Triton's cache.
  bool is_batch() const {
    std::error_code error;
    return std::filesystem::is_directory(options_.file, error) && options_.launch.empty() &&
           options_.capture.empty();
  }

  // One that is given is not the user's, and stays as it is.
  Status choose_memory(search::OptimizationSettings& settings) const {
    if (options_.no_memory || settings.driver == "replay") return {};
    settings.remembers = options_.memory.empty();
    settings.memory = options_.memory.empty() ? search::user_memory_path() : absolute(options_.memory);
    std::error_code error;
    if (!settings.remembers && !std::filesystem::is_regular_file(settings.memory, error))
      return bad_input("{}: there is no such file", printable(options_.memory));
    return {};
  }

  Status check() const {
    if (!options_.launch.empty() && !options_.capture.empty())
      return bad_input("optimize: --launch and --capture exclude each other");
    if ((options_.settings.driver == "replay") != !options_.settings.proposals.empty())
      return bad_input("optimize: --proposals goes with --driver replay, and is required by it");
    if (!options_.only.empty() && !is_batch())
      return bad_input("optimize: --only chooses among the files of a folder, which {} is not",
                       printable(options_.file));
    return {};
  }

  Result<Answer> run_batch(search::OptimizationSettings settings) const {
    search::Batch batch;
    batch.folder = absolute(options_.file).lexically_normal();
    batch.selection = {options_.target, settings.setup.kernel, options_.only};
    std::vector<std::string> more;
    for (const std::string& pattern : options_.only) more.insert(more.end(), {"--only", pattern});
    batch.command = search::command_line(
        settings,
        {.file = options_.file, .launch = "", .capture = "", .target = options_.target, .more = more},
        options_.output);
    make_absolute(settings);
    batch.settings = std::move(settings);
    return optimize_batch(options_.output, std::move(batch), options_.workers, json_);
  }

  Result<Answer> run_one(search::OptimizationSettings settings) const {
    settings.command = search::command_line(settings, {.file = options_.file,
                                                       .launch = options_.launch,
                                                       .capture = options_.capture,
                                                       .target = options_.target});
    make_absolute(settings);
    settings.object = std::filesystem::path(options_.file).filename().string();
    ASMEVO_TRY(const Bytes k0, load_object(options_.file, options_.target));
    if (!options_.capture.empty()) settings.setup.capture = absolute(options_.capture);
    if (!options_.launch.empty()) settings.setup.launch = absolute(options_.launch);
    if (options_.launch.empty() && options_.capture.empty()) {
      // Written down before the run's folder is made: a launch that cannot be inferred leaves nothing behind.
      infer::InferOptions how;
      how.kernel = settings.setup.kernel;
      ASMEVO_TRY(const std::string inferred, search::inferred_launch(k0, how, options_.file));
      settings.setup.launch = absolute(options_.output + ".launch.toml");
      ASMEVO_CHECK(write_file(settings.setup.launch, inferred));
    }
    OptimizeProgress progress(std::filesystem::path(options_.file).stem().string(), settings.budget);
    const auto result = search::optimize(options_.output, settings, k0, hooks_of(progress, options_.workers));
    return conclude(options_.output, result, json_);
  }

  static std::filesystem::path absolute(const std::string& path) { return std::filesystem::absolute(path); }

  const OptimizeOptions& options_;
  bool json_;
};

struct ResumeOptions {
  std::string folder, budget;
  uint64_t attempts = 0;
  unsigned workers = 0;
};

Result<Answer> resume(const ResumeOptions& options, bool json) {
  ASMEVO_TRY(const auto budget, budget_of(options.budget, options.attempts));
  if (search::Batch::is_there(options.folder))
    return resume_batch(options.folder, budget, options.workers, json);
  OptimizeProgress progress(std::filesystem::path(options.folder).filename().string(),
                            budget.value_or(search::Budget{}));
  const auto result = search::resume(options.folder, budget, hooks_of(progress, options.workers));
  return conclude(options.folder, result, json);
}

} // namespace

void add_optimize(Context& context) {
  auto options = std::make_shared<OptimizeOptions>();
  Verb* verb =
      add_verb(context, "optimize", "search for a faster object that does the same, verified at every step",
               "asmevo optimize kernel.co --launch launch.toml --budget 3m -o run");
  search::OptimizationSettings& s = options->settings;
  verb->add_option("K0", options->file, "code object, a file that holds one, or a folder of them")
      ->required();
  verb->add_option("-o,--output", options->output,
                   "folder of the run, which must not be there yet; of a folder: of all runs, "
                   "where the batch goes on if it is there")
      ->type_name("RUN")
      ->required();
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md); none: it is inferred")
      ->type_name("FILE");
  verb->add_option("--capture", options->capture, "recorded dispatch (docs/captures.md)")->type_name("DIR");
  verb->add_option("--budget", options->budget,
                   "time of the search, of each kernel: 90s, 3m, 1h (default: 3m)")
      ->type_name("TIME");
  verb->add_option("--attempts", options->attempts, "end after so many attempts on a kernel")
      ->check(Range(1, 100'000'000));
  verb->add_option("--workers", options->workers, "candidates judged at once; 0: one a core")
      ->check(Range(0, 1024))
      ->capture_default_str();
  verb->add_option("--driver", s.driver, "what proposes: mixed, rules, schedule, stochastic, replay")
      ->capture_default_str();
  verb->add_option("--rules", s.rules, "only these transformations (rules)")
      ->type_name("NAME")
      ->delimiter(',');
  verb->add_option("--proposals", s.proposals, "file of proposals (replay)")->type_name("FILE");
  verb->add_option(
          "--kernel", s.setup.kernel,
          "edit only this kernel; launched in place of the launch's own, where that does not launch it")
      ->type_name("NAME");
  verb->add_option("--target", options->target, "the object for this target id, where the file holds several")
      ->type_name("ID");
  verb->add_option("--only", options->only, "of a folder: only files called like this ('level1_*')")
      ->type_name("PATTERN");
  verb->add_option("--model", s.setup.model, "machine model: mi308x, ..., or a file (docs/timing.md)")
      ->type_name("NAME|FILE");
  verb->add_option("--shape", s.setup.shape, "sizes that times are taken at (default: full)")
      ->type_name("NAME");
  verb->add_option("--rule", s.setup.rule, "of comparison: scaled, paper")->capture_default_str();
  verb->add_option("--members", s.setup.members, "models of the ensemble")
      ->check(Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--timing-effort", s.setup.effort, "instructions to simulate for each model, about")
      ->check(Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  verb->add_option("--width", s.width, "proposals of a round, whatever the number of workers")
      ->check(Range(1, 1024))
      ->capture_default_str();
  verb->add_option(
          "--patience", s.patience,
          "rounds without a commit before the search is redirected, and after four times as many ends")
      ->check(Range(1, 1'000'000))
      ->capture_default_str();
  verb->add_option("--mode", options->mode, "team: directions are shared out; single")
      ->check(OneOf{{"team", "single"}})
      ->capture_default_str();
  Option* memory =
      verb->add_option("--memory", options->memory,
                       "begin with what this file remembers of other searches, and add nothing to it "
                       "(default: the user's own, to which is added)");
  memory->type_name("FILE");
  verb->add_flag("--no-memory", options->no_memory, "begin with nothing, and keep nothing")->excludes(memory);
  verb->add_option("--seed", s.setup.seed, "mixed into the seeds of random buffers")->capture_default_str();
  verb->callback([&context, options] {
    context.action = [&context, options] { return Optimize(*options, context.json).run(); };
  });
}

void add_resume(Context& context) {
  auto options = std::make_shared<ResumeOptions>();
  Verb* verb = add_verb(context, "resume",
                        "go on with a run, or a batch of runs, that was interrupted, or give it more time",
                        "asmevo resume run --budget 10m");
  verb->add_option("RUN", options->folder, "folder of the run")->required();
  verb->add_option("--budget", options->budget, "time of the search in all, what is over counted")
      ->type_name("TIME");
  verb->add_option("--attempts", options->attempts, "end after so many attempts in all")
      ->check(Range(1, 100'000'000));
  verb->add_option("--workers", options->workers, "candidates judged at once; 0: one a core")
      ->check(Range(0, 1024))
      ->capture_default_str();
  verb->callback([&context, options] {
    context.action = [&context, options] { return resume(*options, context.json); };
  });
}

} // namespace asmevo::cli
