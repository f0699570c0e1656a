#include "base/files.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/optimize_progress.h"
#include "infer/infer.h"

#include <charconv>
#include <memory>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file, output, launch, capture, target, budget;
  uint64_t attempts = 0;
  unsigned workers = 0;
  search::OptimizationSettings settings;
};

// "180", "180s", "3m", "1.5h"
Result<double> seconds_in(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (parsed.ec != std::errc{} || factor == 0 || !(value > 0) || value > 1e6)
    return bad_input("--budget: '{}' is no time like 90s, 3m or 1h", printable(text));
  return value * factor;
}

// Written down before the run's folder is made: a launch that cannot be inferred leaves nothing behind.
Result<std::string> inferred_launch(const Options& options) {
  infer::InferOptions how;
  how.kernel = options.settings.setup.kernel;
  ASMEVO_TRY(codeobject::CodeObject loaded, load_code_object(options.file, options.target));
  const auto inferred =
      infer::infer_launch(std::make_shared<const codeobject::CodeObject>(std::move(loaded)), how);
  if (!inferred) return failed(inferred.error(), options.file);
  if (!inferred->last_outcome.empty())
    return bad_input(
        "{}: no launch given, and the inferred one does not complete: {}; 'asmevo infer' drafts one "
        "to edit",
        options.file, printable(inferred->last_outcome, 300));
  return inferred->text();
}

std::string quoted(const std::string& text) {
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-") ==
      std::string::npos;
  return plain && !text.empty() ? text : "'" + text + "'";
}

// That makes the same run again.
std::string command_of(const Options& o) {
  const search::OptimizationSettings &s = o.settings, standard;
  std::string text = fmt::format("asmevo optimize {}", quoted(o.file));
  const auto add = [&text](std::string_view option, const auto& value) {
    text += fmt::format(" {} {}", option, value);
  };
  if (!o.launch.empty()) add("--launch", quoted(o.launch));
  if (!o.capture.empty()) add("--capture", quoted(o.capture));
  if (!o.target.empty()) add("--target", quoted(o.target));
  if (!s.setup.kernel.empty()) add("--kernel", quoted(s.setup.kernel));
  if (!s.setup.model.empty()) add("--model", quoted(s.setup.model));
  if (!s.setup.shape.empty()) add("--shape", quoted(s.setup.shape));
  if (s.setup.rule != standard.setup.rule) add("--rule", s.setup.rule);
  if (s.setup.members != standard.setup.members) add("--members", s.setup.members);
  if (s.setup.effort != standard.setup.effort) add("--timing-effort", s.setup.effort);
  if (s.setup.seed != standard.setup.seed) add("--seed", s.setup.seed);
  if (s.driver != standard.driver) add("--driver", s.driver);
  if (!s.proposals.empty()) add("--proposals", quoted(s.proposals));
  for (const std::string& rule : s.rules) add("--rules", quoted(rule));
  if (s.width != standard.width) add("--width", s.width);
  if (!o.budget.empty()) add("--budget", o.budget);
  if (o.attempts != 0) add("--attempts", o.attempts);
  return text + " -o RUN";
}

class Optimize {
 public:
  Optimize(const Options& options, bool json) : options_(options), json_(json) {}

  Result<Answer> run() {
    if (!options_.launch.empty() && !options_.capture.empty())
      return bad_input("optimize: --launch and --capture exclude each other");
    if ((options_.settings.driver == "replay") != !options_.settings.proposals.empty())
      return bad_input("optimize: --proposals goes with --driver replay, and is required by it");
    search::OptimizationSettings settings = options_.settings;
    if (!options_.budget.empty()) {
      ASMEVO_TRY(settings.budget.seconds, seconds_in(options_.budget));
    }
    if (options_.attempts != 0) settings.budget.attempts = options_.attempts;
    if (options_.budget.empty() && options_.attempts == 0) settings.budget.seconds = 180;
    settings.command = command_of(options_);
    settings.object = std::filesystem::path(options_.file).filename().string();
    settings.made_by = "asmevo " ASMEVO_VERSION;
    ASMEVO_TRY(const Bytes k0, load_object(options_.file, options_.target));
    if (!options_.capture.empty()) settings.setup.capture = absolute(options_.capture);
    if (!options_.launch.empty()) settings.setup.launch = absolute(options_.launch);
    std::string inferred;
    if (options_.launch.empty() && options_.capture.empty()) {
      ASMEVO_TRY(inferred, inferred_launch(options_));
      settings.setup.launch = absolute(options_.output + ".launch.toml");
      ASMEVO_CHECK(write_file(settings.setup.launch, inferred));
    }
    OptimizeProgress progress(std::filesystem::path(options_.file).stem().string(), settings.budget);
    ASMEVO_TRY(const search::OptimizationResult result,
               search::optimize(options_.output, settings, k0, hooks_of(progress, options_.workers)));
    write_report(options_.output);
    return print_result(options_.output, result, json_);
  }

  static std::filesystem::path absolute(const std::string& path) { return std::filesystem::absolute(path); }

 private:
  const Options& options_;
  bool json_;
};

struct ResumeOptions {
  std::string folder, budget;
  uint64_t attempts = 0;
  unsigned workers = 0;
};

Result<Answer> resume(const ResumeOptions& options, bool json) {
  std::optional<search::Budget> budget;
  if (!options.budget.empty() || options.attempts != 0) budget.emplace();
  if (!options.budget.empty()) {
    ASMEVO_TRY(budget->seconds, seconds_in(options.budget));
  }
  if (options.attempts != 0) budget->attempts = options.attempts;
  OptimizeProgress progress(std::filesystem::path(options.folder).filename().string(),
                            budget.value_or(search::Budget{}));
  ASMEVO_TRY(const search::OptimizationResult result,
             search::resume(options.folder, budget, hooks_of(progress, options.workers)));
  write_report(options.folder);
  return print_result(options.folder, result, json);
}

} // namespace

search::OptimizationHooks hooks_of(OptimizeProgress& progress, unsigned workers) {
  search::OptimizationHooks hooks;
  hooks.workers = workers;
  hooks.interrupted = &interruption();
  hooks.setting_up = [&progress](std::string_view what, size_t done, size_t of) {
    progress.setting_up(what, done, of);
  };
  hooks.set_up = [&progress](const gate::Json& setup) { progress.set_up(setup); };
  hooks.watch = [&progress](const search::Standing& s) { progress.standing(s); };
  return hooks;
}

Result<Answer> print_result(const std::string& folder, const search::OptimizationResult& r, bool json) {
  const std::string device = fmt::format("modelled ({})", r.setup.at("model").get<std::string>());
  if (json) {
    Json outcomes = Json::object();
    for (size_t n = 0; n < gate::outcome_count; ++n)
      if (r.standing.outcomes[n] != 0)
        outcomes[std::string(name(static_cast<gate::Outcome>(n)))] = r.standing.outcomes[n];
    print_json({{"run", folder},
                {"device", device},
                {"speedup", r.best ? r.best->speedup : 1.0},
                {"speedup_structural", r.best ? r.structural.speedup : 1.0},
                {"best", r.best ? Json(folder + "/best.co") : Json(nullptr)},
                {"attempts", r.standing.attempts},
                {"outcomes", outcomes},
                {"nodes", r.standing.nodes},
                {"seconds", r.standing.seconds},
                {"end", name(r.end)},
                {"setup", r.setup},
                {"notes", r.notes}});
  } else {
    if (r.best) {
      fmt::print("{:.3f}x, {}: {}\n", r.best->speedup, device, folder + "/best.co");
      fmt::print(
          "  {:.3f}x ({:.3f} to {:.3f}) on models of another structure, which the search did not see\n",
          r.structural.speedup, r.structural.low, r.structural.high);
      fmt::print("  verified from disk: {} cases, {} held back, rule {}\n", r.setup.at("cases").get<size_t>(),
                 r.setup.at("held_back").get<size_t>(), r.setup.at("rule").get<std::string>());
    } else {
      fmt::print("{}, {}\n", r.end == search::End::Interrupted ? "interrupted" : "nothing faster was found",
                 device);
    }
    fmt::print("  {} in {:.1f} s; {}\n", outcomes_text(r.standing), r.standing.seconds, name(r.end));
    for (const std::string& note : r.notes) fmt::print("  {}\n", note);
    if (r.end == search::End::Interrupted) fmt::print("  'asmevo resume {}' goes on\n", folder);
  }
  return r.best ? Answer::Yes : Answer::No;
}

void add_optimize(Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      add_verb(context, "optimize", "search for a faster object that does the same, verified at every step",
               "asmevo optimize kernel.co --launch launch.toml --budget 3m -o run");
  search::OptimizationSettings& s = options->settings;
  verb->add_option("K0", options->file, "code object, or a file that holds one")->required();
  verb->add_option("-o,--output", options->output, "folder of the run; it must not be there yet")
      ->type_name("RUN")
      ->required();
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md); none: it is inferred")
      ->type_name("FILE");
  verb->add_option("--capture", options->capture, "recorded dispatch (docs/captures.md)")->type_name("DIR");
  verb->add_option("--budget", options->budget, "time of the search: 90s, 3m, 1h (default: 3m)")
      ->type_name("TIME");
  verb->add_option("--attempts", options->attempts, "end after so many attempts")
      ->check(CLI::Range(1, 100'000'000));
  verb->add_option("--workers", options->workers, "candidates judged at once; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->add_option("--driver", s.driver, "what proposes: rules, replay")->capture_default_str();
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
  verb->add_option("--model", s.setup.model, "machine model: mi308x, ..., or a file (docs/timing.md)")
      ->type_name("NAME|FILE");
  verb->add_option("--shape", s.setup.shape, "sizes that times are taken at (default: full)")
      ->type_name("NAME");
  verb->add_option("--rule", s.setup.rule, "of comparison: scaled, paper")->capture_default_str();
  verb->add_option("--members", s.setup.members, "models of the ensemble")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--timing-effort", s.setup.effort, "instructions to simulate for each model, about")
      ->check(CLI::Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  verb->add_option("--width", s.width, "proposals of a round, whatever the number of workers")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_option("--seed", s.setup.seed, "mixed into the seeds of random buffers")->capture_default_str();
  verb->callback([&context, options] {
    context.action = [&context, options] { return Optimize(*options, context.json).run(); };
  });
}

void add_resume(Context& context) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* verb = add_verb(context, "resume", "go on with a run that was interrupted, or give it more time",
                            "asmevo resume run --budget 10m");
  verb->add_option("RUN", options->folder, "folder of the run")->required();
  verb->add_option("--budget", options->budget, "time of the search in all, what is over counted")
      ->type_name("TIME");
  verb->add_option("--attempts", options->attempts, "end after so many attempts in all")
      ->check(CLI::Range(1, 100'000'000));
  verb->add_option("--workers", options->workers, "candidates judged at once; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb->callback([&context, options] {
    context.action = [&context, options] { return resume(*options, context.json); };
  });
}

} // namespace asmevo::cli
