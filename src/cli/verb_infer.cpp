#include "base/files.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "device/emulated_device.h"
#include "infer/infer.h"
#include "oracle/launch_run.h"

#include <charconv>
#include <memory>

namespace asmevo::cli {

namespace {

struct InferArguments {
  std::string file, output, kernel, target, grid, workgroup;
  std::vector<std::string> set;
  uint32_t dynamic_lds = 0;
  uint64_t max_steps = 0;
};

// "128", "128,2" or "128,2,1"
template <class T>
Result<std::array<T, 3>> three_numbers(std::string_view option, std::string_view text) {
  std::array<T, 3> numbers{1, 1, 1};
  const std::string_view all = text;
  for (size_t d = 0; d < 3; ++d) {
    const std::string_view digits = text.substr(0, text.find(','));
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, numbers[d]);
    const bool last = digits.size() == text.size();
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end || numbers[d] == 0 ||
        (d == 2 && !last))
      return bad_input("{}: '{}' is not like 16 or 16,2,1", option, printable(all));
    if (last) break;
    text.remove_prefix(digits.size() + 1);
  }
  return numbers;
}

Result<infer::InferOptions> infer_options(const InferArguments& options) {
  infer::InferOptions to;
  to.kernel = options.kernel;
  to.dynamic_lds = options.dynamic_lds;
  to.most_instructions = options.max_steps;
  if (!options.grid.empty()) {
    ASMEVO_TRY(to.grid, three_numbers<uint64_t>("--grid", options.grid));
  }
  if (!options.workgroup.empty()) {
    ASMEVO_TRY(to.workgroup, three_numbers<uint32_t>("--workgroup", options.workgroup));
  }
  for (const std::string& text : options.set) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_input("--set: '{}' is not like n=64", printable(text));
    if (!to.values.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return bad_input("--set: '{}' is given twice", printable(text.substr(0, equals)));
  }
  return to;
}

// The draft as `asmevo run` would run it, of a large grid the workgroups that were probed. Empty: it
// completes.
Result<std::string> try_draft(const std::shared_ptr<const codeobject::CodeObject>& object,
                              const std::string& text, const std::vector<uint64_t>& workgroups) {
  ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::parse(text, "draft"));
  ASMEVO_TRY(const oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), ""));
  device::EmulatorOptions emulator;
  emulator.most_instructions = uint64_t{1} << 26;
  emulator.workgroups = workgroups;
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(object->target(), std::move(emulator)));
  ASMEVO_TRY(const auto module, device->load(object));
  ASMEVO_TRY(const auto memory, oracle::LaunchMemory::create(plan, *device));
  ASMEVO_TRY(const oracle::LaunchReport report, oracle::run_launch(plan, *memory, *module));
  return report.outcome.completed() ? std::string() : report.outcome.text;
}

nlohmann::ordered_json as_json(const infer::InferredArgument& a) {
  nlohmann::ordered_json j{{"name", a.field.name}, {"offset", a.field.offset},
                           {"size", a.field.size}, {"kind", a.field.pointer ? "pointer" : "scalar"},
                           {"dtype", a.dtype},     {"confidence", infer::name(a.confidence)},
                           {"used", !a.unused}};
  if (a.field.pointer) {
    j["role"] = oracle::name(a.role);
    j["atomic"] = a.atomic;
    j["index"] = a.index;
    j["first_byte"] = a.touched.begin;
    j["bytes"] = a.bytes();
  } else {
    j["value"] = a.value;
    j["given"] = a.field.pinned;
  }
  j["evidence"] = a.evidence;
  return j;
}

void print_table(const infer::Inference& inference) {
  fmt::print("kernel {}: grid {} x {} x {}, workgroup {} x {} x {}, {} probe runs\n",
             printable(inference.kernel), inference.grid[0], inference.grid[1], inference.grid[2],
             inference.workgroup[0], inference.workgroup[1], inference.workgroup[2], inference.probes);
  fmt::print("  {:>6}  {:16} {:7} {:14} {:6} {}\n", "offset", "name", "role", "dtype", "sure",
             "bytes or value");
  for (const infer::InferredArgument& a : inference.arguments)
    fmt::print("  {:>6}  {:16} {:7} {:14} {:6} {}{}\n", a.field.offset, printable(a.field.name),
               a.field.pointer ? oracle::name(a.role) : "scalar", a.dtype, infer::name(a.confidence),
               a.field.pointer ? fmt::format("{}", a.bytes()) : a.value, a.unused ? " (unused)" : "");
  for (const std::string& line : inference.notes) fmt::print("  note: {}\n", printable(line, 300));
  for (const std::string& line : inference.missing) fmt::print("  to check: {}\n", printable(line, 300));
}

Result<Answer> run(const InferArguments& options, bool json) {
  ASMEVO_TRY(const infer::InferOptions how, infer_options(options));
  ASMEVO_TRY(codeobject::CodeObject loaded, load_code_object(options.file, options.target));
  const auto object = std::make_shared<const codeobject::CodeObject>(std::move(loaded));
  const auto inferred = infer::infer_launch(object, how);
  if (!inferred) return failed(inferred.error(), options.file);
  std::string text = inferred->text();
  ASMEVO_TRY(const std::string failure, try_draft(object, text, inferred->sample));
  if (!failure.empty()) text.insert(0, fmt::format("# Does not complete: {}\n", printable(failure, 300)));
  if (!options.output.empty()) ASMEVO_CHECK(write_file(options.output, text));
  if (json) {
    nlohmann::ordered_json arguments = nlohmann::ordered_json::array();
    for (const infer::InferredArgument& a : inferred->arguments) arguments.push_back(as_json(a));
    print_json({{"kernel", inferred->kernel},
                {"grid", inferred->grid},
                {"workgroup", inferred->workgroup},
                {"probes", inferred->probes},
                {"sample", inferred->sample},
                {"arguments", arguments},
                {"to_check", inferred->missing},
                {"notes", inferred->notes},
                {"completes", failure.empty()},
                {"outcome", failure},
                {"launch", text}});
  } else {
    print_table(*inferred);
    if (failure.empty())
      fmt::print("  the launch completes{}\n",
                 inferred->sample.empty() ? "" : ", as far as it was run: those workgroups");
    else
      fmt::print("  the launch does not complete: {}\n", printable(failure, 300));
  }
  return failure.empty() ? Answer::Yes : Answer::No;
}

} // namespace

void add_infer(Context& context) {
  Verb* verb = add_verb(context, "infer", "Draft a launch file from the code object and probe runs",
                        "asmevo infer k0.co -o launch.toml --set n=1000 --grid 4");
  auto options = std::make_shared<InferArguments>();
  verb->add_option("K0", options->file, "code object, in any container")->required();
  verb->add_option("-o,--output", options->output, "where to write the launch file");
  verb->add_option("--kernel", options->kernel, "of an object with several kernels");
  verb->add_option("--target", options->target, "of a file with objects for several GPUs");
  verb->add_option("--set", options->set,
                   "NAME=VALUE: value of an argument; of a buffer: of each of its integers")
      ->type_name("NAME=VALUE");
  verb->add_option("--grid", options->grid, "workgroups, as 16 or 16,2,1")->type_name("X[,Y[,Z]]");
  verb->add_option("--workgroup", options->workgroup, "work-items, as 256 or 16,16,1")
      ->type_name("X[,Y[,Z]]");
  verb->add_option("--dynamic-lds", options->dynamic_lds, "bytes beyond the kernel's own");
  verb->add_option("--max-steps", options->max_steps, "instructions a workgroup may run in one probe");
  verb->callback(
      [&context, options] { context.action = [&context, options] { return run(*options, context.json); }; });
}

} // namespace asmevo::cli
