#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/defect_report.h"
#include "cli/load.h"
#include "cli/run_report.h"
#include "cli/unimplemented.h"
#include "device/emulated_device.h"
#include "emulator/trace.h"
#include "oracle/capture.h"
#include "oracle/verify.h"
#include "sanitizer/delayed_results.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace asmevo::cli {

namespace {

constexpr uint64_t default_head = 8;
constexpr uint64_t most_printed = 1'000'000; // elements
constexpr uint64_t most_dump_bytes = uint64_t{1} << 32;
constexpr size_t most_workgroups = 1'000'000;

struct RunOptions {
  std::string file, launch, shape, target, kernel, workgroups, dump, capture, trace_pc;
  std::vector<std::string> print;
  uint64_t seed = 0, schedule = 0, max_steps = uint64_t{1} << 32, trace_most = 100'000;
  unsigned threads = 0;
  double time_limit = 0;
  uint64_t capture_launch = 1;
  bool sanitize = false, delay = false, trace = false, list_unimplemented = false, capture_after = false;
  std::optional<uint64_t> trace_workgroup;
  std::optional<uint32_t> trace_wave;
  std::optional<unsigned> trace_lane;
};

std::optional<uint64_t> number_in(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// "7" or "7-9"
std::optional<std::pair<uint64_t, uint64_t>> range_in(std::string_view text, int base) {
  const size_t dash = text.find('-');
  const auto first = number_in(text.substr(0, dash), base);
  const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1), base);
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

Result<std::vector<uint64_t>> parse_workgroups(std::string_view text) {
  std::vector<uint64_t> list;
  for (bool more = !text.empty(); more;) {
    const size_t comma = text.find(',');
    const auto range = range_in(text.substr(0, comma), 10);
    if (!range)
      return bad_input("--workgroups: '{}' is not like 0,5,10-20", printable(text.substr(0, comma)));
    if (range->second - range->first >= most_workgroups - list.size())
      return bad_input("--workgroups: more than {}", most_workgroups);
    for (uint64_t w = range->first; w <= range->second; ++w) list.push_back(w);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  std::vector<uint64_t> sorted = list;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return bad_input("--workgroups: {} is there twice", *twice);
  return list;
}

Result<std::vector<BufferHead>> parse_heads(const RunOptions& options, const oracle::LaunchPlan& plan) {
  std::vector<BufferHead> heads;
  uint64_t printed = 0;
  if (options.print.empty())
    for (size_t i = 0; i < plan.buffers.size(); ++i)
      if (plan.buffers[i].written()) heads.push_back({i, default_head});
  for (const std::string& text : options.print) {
    const size_t colon = text.find(':');
    const auto count =
        colon == std::string::npos ? default_head : number_in(std::string_view(text).substr(colon + 1), 10);
    const auto buffer = plan.find(std::string_view(text).substr(0, colon));
    if (!buffer)
      return bad_input("--print: {} has no buffer '{}'", plan.spec.file, printable(text.substr(0, colon)));
    if (!count)
      return bad_input("--print: '{}' is not like {}:16", printable(text), plan.buffers[*buffer].name);
    const uint64_t elements = std::min(*count, plan.buffers[*buffer].layout.count());
    if (elements > most_printed - printed)
      return bad_input("--print: '{}': more than {} elements in all; --dump writes whole buffers",
                       printable(text), most_printed);
    printed += elements;
    heads.push_back({*buffer, elements});
  }
  return heads;
}

Result<emulator::TraceOptions> trace_options(const RunOptions& options) {
  emulator::TraceOptions trace;
  trace.workgroup = options.trace_workgroup;
  trace.wave = options.trace_wave;
  trace.lane = options.trace_lane;
  trace.most = options.trace_most;
  if (options.trace_pc.empty()) return trace;
  const auto range = range_in(options.trace_pc, 16);
  if (!range) return bad_input("--trace-pc: '{}' is not like 1e00-1e40", printable(options.trace_pc));
  std::tie(trace.first_pc, trace.last_pc) = *range;
  return trace;
}

// Before anything runs: a dump that cannot be written must not cost hours.
Status check_dump(const oracle::LaunchPlan& plan) {
  uint64_t bytes = 0;
  for (const oracle::PlannedBuffer& b : plan.buffers) {
    if (!b.written()) continue;
    if (b.bytes > most_dump_bytes - bytes)
      return unsupported("--dump: with the {} bytes of buffer '{}' more than {} in all", b.bytes, b.name,
                         most_dump_bytes);
    bytes += b.bytes;
  }
  return {};
}

Status dump(const oracle::LaunchMemory& memory, const std::string& folder) {
  ASMEVO_CHECK(make_folder(folder));
  const auto& buffers = memory.plan().buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].written()) continue;
    Bytes bytes(buffers[i].bytes);
    ASMEVO_CHECK(memory.read(i, 0, bytes));
    ASMEVO_CHECK(write_file(std::filesystem::path(folder) / (buffers[i].name + ".bin"), bytes));
  }
  return {};
}

// A launch of the file as a capture, in place of running it.
Result<Answer> save_capture(const RunOptions& options, bool json) {
  ASMEVO_TRY(const auto k0, load_subject(options.file, options.target));
  ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(options.launch));
  ASMEVO_CHECK(spec.check_target(k0->object().target(), options.file));
  ASMEVO_TRY(const oracle::LaunchPlan plan,
             oracle::LaunchPlan::make(std::move(spec), options.shape, options.seed));
  oracle::LowerOptions lower;
  lower.kernel = options.kernel;
  lower.threads = options.threads;
  lower.most_instructions = options.max_steps;
  lower.most_cases = options.capture_launch;
  ASMEVO_TRY(std::vector<oracle::Case> cases, oracle::lower(plan, oracle::object_of(k0), lower));
  if (cases.size() < options.capture_launch)
    return bad_input("--capture-launch: {}; {} launches {} kernels", options.capture_launch, options.launch,
                     cases.size());
  oracle::Case& chosen = cases.back();
  if (options.capture_after) ASMEVO_CHECK(oracle::record_after(chosen, k0, options.threads));
  ASMEVO_CHECK(oracle::write_capture(chosen, options.capture));
  if (json)
    print_json({{"written", options.capture},
                {"kernel", chosen.kernel},
                {"launch", options.capture_launch},
                {"regions", chosen.before->regions().size()},
                {"views", chosen.views.size()},
                {"after", options.capture_after}});
  else
    fmt::print("{}: launch {}, kernel {}, {} buffers{}\n", options.capture, options.capture_launch,
               printable(chosen.kernel), chosen.views.size(),
               options.capture_after ? ", and what it left" : "");
  return Answer::Yes;
}

// One run: the device with its observers, the memory, the report.
class Run {
 public:
  Run(const RunOptions& options, bool json) : options_(options), json_(json) {}

  Result<Answer> run() {
    ASMEVO_TRY(codeobject::CodeObject loaded, load_code_object(options_.file, options_.target));
    const auto object = std::make_shared<const codeobject::CodeObject>(std::move(loaded));
    ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(options_.launch));
    ASMEVO_CHECK(spec.check_target(object->target(), options_.file));
    ASMEVO_TRY(const oracle::LaunchPlan plan,
               oracle::LaunchPlan::make(std::move(spec), options_.shape, options_.seed));
    ASMEVO_TRY(const std::vector<BufferHead> heads, parse_heads(options_, plan));
    if (!options_.dump.empty()) ASMEVO_CHECK(check_dump(plan));
    ASMEVO_CHECK(make_device(object->target()));
    ASMEVO_TRY(const auto module, device_->load(object));
    ASMEVO_TRY(const auto memory, oracle::LaunchMemory::create(plan, *device_));
    oracle::LaunchRunOptions run_options;
    run_options.kernel = options_.kernel;
    run_options.starting = [this](const std::string& kernel, const device::LaunchShape& shape) {
      start(kernel, shape);
    };
    ASMEVO_TRY(const oracle::LaunchReport report, oracle::run_launch(plan, *memory, *module, run_options));
    progress_.reset();
    if (sanitizer_) ASMEVO_CHECK(sanitizer_->finish());
    if (!options_.dump.empty()) ASMEVO_CHECK(dump(*memory, options_.dump));
    ASMEVO_CHECK(print(*memory, report, heads));
    return report.outcome.completed() && (!sanitizer_ || sanitizer_->clean()) ? Answer::Yes : Answer::No;
  }

 private:
  Status make_device(const isa::Target& target) {
    device::EmulatorOptions emulator;
    // Lines of several threads would mix.
    emulator.threads = options_.trace ? 1 : options_.threads;
    emulator.seed = options_.schedule;
    emulator.most_instructions = options_.max_steps;
    emulator.most_seconds = options_.time_limit;
    ASMEVO_TRY(emulator.workgroups, parse_workgroups(options_.workgroups));
    emulator.progress = [this](uint64_t) {
      if (progress_) progress_->step();
    };
    if (options_.trace) {
      ASMEVO_TRY(const emulator::TraceOptions trace, trace_options(options_));
      std::FILE* const to = json_ ? stderr : stdout;
      ASMEVO_TRY(trace_, emulator::Trace::create(
                             target, trace, [to](std::string_view line) { fmt::print(to, "{}\n", line); }));
      emulator.observer = [this](size_t) { return trace_.get(); };
    }
    if (options_.sanitize) {
      sanitizer_ = std::make_unique<LaunchSanitizer>(target);
      emulator.observer = [this](size_t slot) { return sanitizer_->observer(slot); };
    }
    if (options_.delay) {
      delayed_ = std::make_unique<sanitizer::DelayedResults>(target);
      emulator.observer = delayed_->observers();
    }
    ASMEVO_TRY(device_, device::EmulatedDevice::create(target, std::move(emulator)));
    return {};
  }

  void start(const std::string& kernel, const device::LaunchShape& shape) {
    if (sanitizer_) sanitizer_->start(kernel, device_->options().workgroups);
    const size_t chosen = device_->options().workgroups.size();
    progress_ = std::make_unique<Progress>(printable(kernel), chosen != 0 ? chosen : shape.workgroup_count());
  }

  Status print(const oracle::LaunchMemory& memory, const oracle::LaunchReport& report,
               const std::vector<BufferHead>& heads) const {
    if (trace_ && trace_->left_out() != 0)
      fmt::print(stderr, "trace: {} more instructions (--trace-most)\n", trace_->left_out());
    if (!json_) {
      if (sanitizer_) sanitizer_->print();
      return print_run(options_.file, memory, report, heads);
    }
    ASMEVO_TRY(nlohmann::ordered_json document, run_as_json(options_.file, memory, report, heads));
    if (sanitizer_) document["defects"] = sanitizer_->as_json();
    print_json(document);
    return {};
  }

  const RunOptions& options_;
  bool json_;
  std::unique_ptr<emulator::Trace> trace_;
  std::unique_ptr<LaunchSanitizer> sanitizer_;
  std::unique_ptr<sanitizer::DelayedResults> delayed_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<device::EmulatedDevice> device_;
};

Result<Answer> run(const RunOptions& options, bool json) {
  if (options.list_unimplemented) return list_unimplemented(options.file, options.target, json);
  if (options.file.empty()) return bad_input("run: K is required");
  if (options.launch.empty()) return bad_input("run: --launch is required");
  if (!options.capture.empty()) return save_capture(options, json);
  return Run(options, json).run();
}

void add_trace_options(Verb& verb, RunOptions& options) {
  Option* const trace = verb.add_flag("--trace", options.trace,
                                      "print every instruction with the registers it reads and changes");
  Option* const sanitize =
      verb.add_flag("--sanitize", options.sanitize,
                    "look for missing waits, missing wait states, races and reads of what nobody has written")
          ->excludes(trace);
  verb.add_flag("--delay-results", options.delay,
                "let what memory brings and takes arrive as late as the waits allow, and noise until then")
      ->excludes(trace)
      ->excludes(sanitize);
  verb.add_option("--trace-workgroup", options.trace_workgroup, "only of this workgroup (linear index)")
      ->needs(trace);
  verb.add_option("--trace-wave", options.trace_wave, "only of this wave of the workgroup")->needs(trace);
  verb.add_option("--trace-pc", options.trace_pc, "only from here to there, as 1e00-1e40")
      ->type_name("A-B")
      ->needs(trace);
  verb.add_option("--trace-lane", options.trace_lane, "the lane of vector registers to show")
      ->check(Range(0, 63))
      ->needs(trace);
  verb.add_option("--trace-most", options.trace_most, "the most instructions to print")
      ->capture_default_str()
      ->needs(trace);
}

} // namespace

void add_run(Context& context) {
  auto options = std::make_shared<RunOptions>();
  Verb* verb = add_verb(context, "run", "run kernels on the emulator, as a launch file says",
                        "asmevo run kernel.co --launch launch.toml --print out:16");
  verb->add_option("K", options->file, "code object, or a file that holds one");
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md)")->type_name("FILE");
  verb->add_option("--shape", options->shape, "set of sizes in the launch file")->type_name("NAME");
  verb->add_option("--target", options->target, "the object for this target id, where the file holds several")
      ->type_name("ID");
  verb->add_option("--kernel", options->kernel, "kernel to run, in place of the launch file's")
      ->type_name("NAME");
  verb->add_option("--print", options->print, "buffer to print, and how many elements; may be given again")
      ->type_name("BUFFER[:N]");
  verb->add_option("--dump", options->dump, "write out and inout buffers into this folder")->type_name("DIR");
  Option* const capture =
      verb->add_option("--save-capture", options->capture,
                       "write a launch as a capture into this new folder, in place of running it")
          ->type_name("DIR");
  verb->add_option("--capture-launch", options->capture_launch, "which launch of the file, from 1")
      ->check(Range(1, 100'000))
      ->capture_default_str()
      ->needs(capture);
  verb->add_flag("--capture-after", options->capture_after, "with what the kernel leaves")->needs(capture);
  verb->add_option("--seed", options->seed, "mixed into the seeds of random buffers")->capture_default_str();
  verb->add_option("--schedule", options->schedule, "seed of the waves' interleaving; 0: in turn")
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "threads; 0: one a core")->capture_default_str();
  verb->add_option("--max-steps", options->max_steps,
                   "instructions of a workgroup before it counts as hanging")
      ->capture_default_str();
  verb->add_option("--time-limit", options->time_limit, "seconds for each launch; 0: no limit")
      ->capture_default_str();
  verb->add_option("--workgroups", options->workgroups, "only these, by linear index, as 0,5,10-20")
      ->type_name("LIST");
  add_trace_options(*verb, *options);
  verb->add_flag("--list-unimplemented", options->list_unimplemented,
                 "the instructions the emulator does not know: of K, or of all there are");
  verb->callback(
      [&context, options] { context.action = [&context, options] { return run(*options, context.json); }; });
}

} // namespace asmevo::cli
