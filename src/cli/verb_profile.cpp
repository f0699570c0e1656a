#include "base/progress.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "oracle/launch_time.h"
#include "profile/import.h"
#include "profile/modelled_report.h"

#include <algorithm>
#include <memory>

namespace asmevo::cli {

namespace {

struct ProfileOptions {
  std::string file, launch, shape, target, kernel, model, import;
  std::optional<uint64_t> dispatch;
  uint64_t seed = 0, effort = timing::TraceOptions().effort;
  uint64_t max_steps = timing::TraceOptions().most_instructions;
  unsigned threads = 0;
  size_t windows = profile::HotWindowOptions().windows, window_lines = 60;
  bool listing = false;
};

// A kernel, its profile, and what was modelled along with it.
struct Modelled {
  oracle::LaunchTraces traces;
  oracle::LaunchTime time;
  profile::KernelProfile profile;
};

// --kernel chooses among the kernels that the launch file launches. One that it does not launch, another
// variant most often, is launched in their place.
Result<Modelled> model_launches(const ProfileOptions& options, const Loaded& loaded,
                                const timing::MachineModel& model) {
  ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(options.launch));
  oracle::LaunchTraceOptions tracing;
  if (!options.kernel.empty() && !spec.launches(options.kernel)) tracing.kernel = options.kernel;
  ASMEVO_TRY(const oracle::LaunchPlan plan,
             oracle::LaunchPlan::make(std::move(spec), options.shape, options.seed));
  tracing.trace.effort = options.effort, tracing.trace.threads = options.threads;
  tracing.trace.most_instructions = options.max_steps;
  std::unique_ptr<Progress> progress;
  tracing.progress = [&](uint64_t, uint64_t all) {
    if (!progress) progress = std::make_unique<Progress>("launches", all);
    progress->step();
  };
  const timing::Machine machine = model.nominal();
  const std::shared_ptr<const codeobject::CodeObject> object(&loaded.original.object, [](const auto*) {});
  Modelled m;
  auto traces = oracle::trace_launches(plan, object, machine, tracing);
  if (!traces) return failed(traces.error(), options.file);
  m.traces = *std::move(traces);
  m.time = oracle::launch_time(m.traces, machine);
  const std::string kernel =
      options.kernel.empty() ? profile::longest_kernel(m.traces, m.time) : options.kernel;
  m.profile = profile::modelled_profile(m.traces, m.time, kernel, model.name());
  if (m.profile.instructions.empty()) return bad_input("{}: nothing is launched", options.launch);
  return m;
}

// The report, or the listing, of a profile whoever made it.
Result<Answer> show(const ProfileOptions& options, bool json, const profile::WindowContext& context,
                    const profile::KernelReport& report) {
  if (json)
    print_json(options.listing ? profile::annotated_listing_json(context) : profile::report_json(report));
  else
    fmt::print("{}", options.listing ? profile::annotated_listing(context)
                                     : profile::report_text(report, options.window_lines));
  return Answer::Yes;
}

Result<Answer> profile_model(const ProfileOptions& options, bool json) {
  Codecs codecs;
  ASMEVO_TRY(const Loaded loaded, load_program(options.file, options.target, codecs));
  ASMEVO_TRY(const timing::MachineModel model,
             timing::MachineModel::for_target(options.model, loaded.original.object.target()));
  ASMEVO_TRY(const Modelled modelled, model_launches(options, loaded, model));
  const std::string& kernel = modelled.profile.kernel;
  ASMEVO_TRY(const auto code, profile::KernelCode::open(loaded.original, kernel,
                                                        profile::start_lanes(modelled.traces, kernel)));
  const profile::ModelledReport modelled_report(*code, *loaded.codec, modelled.traces, modelled.time,
                                                modelled.profile, model, options.windows);
  return show(options, json, modelled_report.context(), modelled_report.report());
}

// --- profiles that were measured

Result<std::string> only_kernel(const ProfileOptions& options, const codeobject::CodeObject& object) {
  if (!options.kernel.empty()) return options.kernel;
  if (object.kernels().size() == 1) return object.kernels().front().name;
  return bad_input("{}: {} kernels: --kernel says of which the profile is", options.file,
                   object.kernels().size());
}

// A summary of units and memory levels needs the cycle model: what was measured goes without.
Result<Answer> profile_import(const ProfileOptions& options, bool json) {
  ASMEVO_TRY(const auto subject, load_subject(options.file, options.target));
  ASMEVO_TRY(const timing::MachineModel model,
             timing::MachineModel::for_target(options.model, subject->object().target()));
  profile::ImportOptions import;
  import.dispatch = options.dispatch;
  ASMEVO_TRY(import.kernel, only_kernel(options, subject->object()));
  ASMEVO_TRY(const profile::ImportedProfile imported,
             profile::import_profile(options.import, *subject, import));
  if (options.listing && imported.bound == profile::BoundBy::Nothing)
    return bad_input("{}: {} has counters, and no times of instructions to list", options.import,
                     profile::describe(imported.format));
  ASMEVO_TRY(const auto code, profile::KernelCode::open(subject->original(), import.kernel));
  const profile::CodePath path(*code, imported.profile);
  const profile::RegisterPressure pressure = profile::register_pressure(*code);
  const profile::WindowContext context{.path = &path,
                                       .profile = &imported.profile,
                                       .pressure = &pressure,
                                       .codec = &subject->codec(),
                                       .model = model.name()};
  profile::KernelReport report;
  report.context = &context;
  report.figures = profile::counter_figures(imported.profile.counters, imported.dispatches);
  const timing::Machine machine = model.nominal();
  report.loops = profile::loop_bounds(path, machine);
  report.windows = profile::hot_windows(path, imported.profile, machine, {.windows = options.windows});
  return show(options, json, context, report);
}

Result<Answer> run(const ProfileOptions& options, bool json) {
  if (options.launch.empty() == options.import.empty())
    return bad_input("profile: one of --launch and --import is required, and not both");
  return options.import.empty() ? profile_model(options, json) : profile_import(options, json);
}

} // namespace

void add_profile(Context& context) {
  auto options = std::make_shared<ProfileOptions>();
  Verb* verb = add_verb(context, "profile", "where a kernel's time goes, and where to edit it",
                        "asmevo profile kernel.co --launch launch.toml --windows 1");
  verb->add_option("K0", options->file, "code object, or a file that holds one")->required();
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md)")->type_name("FILE");
  Option* const import = verb->add_option("--import", options->import,
                                          "what a profiler wrote, file or folder (docs/profiles.md)")
                             ->type_name("PATH");
  verb->add_option("--dispatch", options->dispatch, "only this dispatch of it")->needs(import);
  verb->add_option("--shape", options->shape, "set of sizes in the launch file")->type_name("NAME");
  verb->add_option("--target", options->target, "the object for this target id, where the file holds several")
      ->type_name("ID");
  verb->add_option(
          "--kernel", options->kernel,
          "kernel to look at (default: the one that takes longest); one that the launch file does not "
          "launch is launched in place of its own")
      ->type_name("NAME");
  verb->add_option("--model", options->model,
                   "machine model: a name, or a file (default: mi300x, mi250x or mi355x, by the target)")
      ->type_name("MODEL");
  verb->add_option("--timing-effort", options->effort, "instructions to simulate, about")
      ->check(Range(uint64_t{1000}, uint64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--windows", options->windows, "hot windows to show")
      ->check(Range(0, 1000))
      ->capture_default_str();
  verb->add_option("--window-lines", options->window_lines, "lines of a window, at most; no fewer than 24")
      ->check(Range(24, 100'000))
      ->capture_default_str();
  verb->add_flag("--listing", options->listing, "the instructions instead, each with its issues and stalls");
  verb->add_option("--max-steps", options->max_steps,
                   "instructions of a workgroup before it counts as hanging")
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "mixed into the seeds of random buffers")->capture_default_str();
  verb->add_option("--threads", options->threads, "threads; 0: one a core")->capture_default_str();
  verb->callback(
      [&context, options] { context.action = [&context, options] { return run(*options, context.json); }; });
}

} // namespace asmevo::cli
