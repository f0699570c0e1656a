#include "cli/cli.h"
#include "cli/load.h"
#include "cli/time_report.h"
#include "oracle/capture.h"

#include <algorithm>
#include <memory>

namespace asmevo::cli {

namespace {

struct TimeOptions {
  std::vector<std::string> files;
  std::string launch, capture, shape, target, kernel, model;
  uint64_t effort = 2'000'000, seed = 0, max_steps = timing::TraceOptions().most_instructions;
  unsigned members = 8, threads = 0;
  bool structural = false, explain = false;
};

class Timing {
 public:
  Timing(const TimeOptions& options, bool json) : options_(options), json_(json) {}

  Result<Answer> run() {
    if (options_.launch.empty() == options_.capture.empty())
      return bad_input("time: one of --launch and --capture is required, and not both");
    if (!options_.capture.empty() && !options_.shape.empty())
      return bad_input("time: --shape goes with --launch");
    ASMEVO_TRY(const std::vector<Subject> subjects, load_all());
    ASMEVO_TRY(const auto model,
               timing::MachineModel::for_target(options_.model, subjects.front().object->target()));
    const auto members = options_.structural ? timing::structural_ensemble(model)
                                             : timing::parameter_ensemble(model, options_.members);
    TimeReport report;
    report.model = model.name();
    report.structural = options_.structural;
    for (const timing::EnsembleMember& m : members) report.members.push_back(m.name);
    for (const Subject& subject : subjects) {
      auto timed = time(subject, model, members);
      if (!timed) return failed(timed.error(), subject.named.file);
      report.objects.push_back(*std::move(timed));
    }
    if (json_)
      print_json(as_json(report, options_.explain));
    else
      print(report, options_.explain);
    return Answer::Yes;
  }

 private:
  // A code object, and which of its kernels is launched in place of the launch file's; none: empty.
  struct Subject {
    std::string argument; // as it was given
    FileAndKernel named;
    std::shared_ptr<const codeobject::CodeObject> object;
  };

  Result<std::vector<Subject>> load_all() const {
    std::vector<Subject> all;
    for (const std::string& argument : options_.files) {
      Subject s;
      s.argument = argument;
      ASMEVO_TRY(s.named, split_kernel(argument));
      ASMEVO_TRY(codeobject::CodeObject object, load_code_object(s.named.file, options_.target));
      if (!s.named.kernel.empty()) ASMEVO_CHECK(check_kernel(object, s.named.file, s.named.kernel));
      if (s.named.kernel.empty()) s.named.kernel = options_.kernel;
      if (!all.empty() && object.target().gfx != all.front().object->target().gfx)
        return unsupported("{} is for {}, {} for {}", s.named.file, object.target().name(),
                           all.front().named.file, all.front().object->target().name());
      s.object = std::make_shared<const codeobject::CodeObject>(std::move(object));
      all.push_back(std::move(s));
    }
    return all;
  }

  Result<TimedObject> time(const Subject& subject, const timing::MachineModel& model,
                           const std::vector<timing::EnsembleMember>& members) const {
    TimedObject timed;
    timed.argument = subject.argument, timed.file = subject.named.file;
    ASMEVO_TRY(timed.traces, trace(subject, model.nominal(), 0));
    ASMEVO_TRY(timed.times, oracle::launch_times(timed.traces, members, options_.threads,
                                                 [&](const timing::Machine& machine, uint64_t schedule) {
                                                   return trace(subject, machine, schedule);
                                                 }));
    return timed;
  }

  Result<oracle::LaunchTraces> trace(const Subject& subject, const timing::Machine& machine,
                                     uint64_t schedule) const {
    oracle::LaunchTraceOptions trace;
    trace.kernel = subject.named.kernel;
    trace.trace.effort = options_.effort;
    trace.trace.threads = options_.threads;
    trace.trace.schedule = schedule;
    trace.trace.most_instructions = options_.max_steps;
    if (!options_.capture.empty()) {
      ASMEVO_TRY(const oracle::Case c, oracle::read_capture(options_.capture));
      if (c.target.gfx != subject.object->target().gfx)
        return unsupported("{} is for {}", options_.capture, c.target.name());
      return oracle::trace_case(c, subject.object, machine, trace);
    }
    ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(options_.launch));
    ASMEVO_CHECK(spec.check_target(subject.object->target(), options_.launch));
    ASMEVO_TRY(const oracle::LaunchPlan plan,
               oracle::LaunchPlan::make(std::move(spec), options_.shape, options_.seed));
    return oracle::trace_launches(plan, subject.object, machine, trace);
  }

  const TimeOptions& options_;
  bool json_;
};

} // namespace

void add_time(Context& context) {
  auto options = std::make_shared<TimeOptions>();
  Verb* verb = add_verb(context, "time", "how long launches take on a machine model, and which is faster",
                        "asmevo time k0.co candidate.co --launch launch.toml --shape full");
  verb->add_option(
          "K", options->files,
          "code objects; the others are compared with the first. FILE:KERNEL launches that kernel of "
          "the file in place of the launch file's")
      ->required();
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md)")->type_name("FILE");
  verb->add_option("--capture", options->capture, "recorded dispatch (docs/captures.md)")->type_name("DIR");
  verb->add_option("--shape", options->shape, "set of sizes in the launch file")->type_name("NAME");
  verb->add_option("--target", options->target, "the object for this target id, where a file holds several")
      ->type_name("ID");
  verb->add_option("--kernel", options->kernel,
                   "kernel to time of those K that name none, in place of the launch file's")
      ->type_name("NAME");
  verb->add_option("--model", options->model, "machine model: mi300x, ..., or a file (docs/timing.md)")
      ->type_name("NAME|FILE");
  Option* const members =
      verb->add_option("--members", options->members, "models of the ensemble, the nominal one among them")
          ->check(Range(1, 1000))
          ->capture_default_str();
  verb->add_flag("--structural", options->structural,
                 "the ensemble of other arbitration, placement and replacement instead, for final figures")
      ->excludes(members);
  verb->add_option("--timing-effort", options->effort,
                   "instructions to simulate for each object and model, about")
      ->check(Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  verb->add_option("--max-steps", options->max_steps,
                   "instructions of a workgroup before it counts as hanging")
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "mixed into the seeds of random buffers")->capture_default_str();
  verb->add_option("--threads", options->threads, "threads; 0: one a core")->capture_default_str();
  verb->add_flag("--explain", options->explain, "where the cycles went, and what differs");
  verb->callback([&context, options] {
    context.action = [&context, options] { return Timing(*options, context.json).run(); };
  });
}

} // namespace asmevo::cli
