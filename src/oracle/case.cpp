#include "oracle/case.h"

#include "base/hash.h"
#include "oracle/launch_run.h"
#include "oracle/workgroup_sample.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

bool has_one_launch(const std::vector<StepSpec>& steps) {
  const auto launches = [](const StepSpec& s) { return s.kind == StepSpec::Kind::Launch; };
  const auto loops = [](const StepSpec& s) { return s.kind == StepSpec::Kind::Repeat; };
  return std::ranges::none_of(steps, loops) && std::ranges::count_if(steps, launches) == 1;
}

std::vector<CaseView> views_of(const LaunchMemory& memory) {
  std::vector<CaseView> views;
  const std::vector<PlannedBuffer>& buffers = memory.plan().buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    // Another view of the same memory would judge rounded floats as integers, or the other way round.
    if (buffers[i].alias || buffers[i].bytes == 0) continue;
    views.push_back({buffers[i].name, memory.address(i), buffers[i].layout, buffers[i].role});
  }
  return views;
}

} // namespace

GlobalData loaded_globals(const device::Module& module, const emulator::AddressSpace& memory) {
  GlobalData data;
  data.sections = global_sections(module.object(), device::EmulatedDevice::bias(module));
  if (!data.sections.empty()) data.loaded = std::make_shared<const emulator::AddressSpace>(memory.fork());
  return data;
}

Result<std::vector<Case>> lower(const LaunchPlan& plan, std::shared_ptr<const codeobject::CodeObject> k0,
                                const LowerOptions& options) {
  device::EmulatorOptions emulator;
  emulator.threads = options.threads;
  emulator.most_instructions = options.most_instructions;
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(k0->target(), emulator));
  // Memory before code: buffers lie at the same addresses whatever the size of the code.
  ASMEVO_TRY(const auto memory, LaunchMemory::create(plan, *device, options.known));
  const auto without_code = device->memory().regions();
  ASMEVO_TRY(const auto module, device->load(k0));
  std::vector<uint64_t> code;
  for (const emulator::RegionInfo& r : device->memory().regions())
    if (std::ranges::find(without_code, r.address, &emulator::RegionInfo::address) == without_code.end())
      code.push_back(r.address);

  const GlobalData globals = loaded_globals(*module, device->memory());

  Case common;
  common.target = k0->target();
  common.views = views_of(*memory);
  common.object_hash = content_hash(k0->bytes());
  common.guards = memory->guards();
  const bool only_one = has_one_launch(plan.spec.steps);
  std::vector<Case> cases;
  LaunchRunOptions run;
  run.kernel = options.kernel;
  run.most_touched = options.most_touched;
  run.before_launch = [&](const std::string& kernel, const device::LaunchShape& shape,
                          const device::LaunchArguments& arguments) -> Result<BeforeLaunch> {
    if (cases.size() == options.most_cases) {
      if (options.more != nullptr) *options.more = true;
      return BeforeLaunch::Stop;
    }
    if (options.sample == 0 && options.most_workgroups != 0 &&
        shape.workgroup_count() > options.most_workgroups)
      return bad_input("{} workgroups, more than the {} of a made-up case", shape.workgroup_count(),
                       options.most_workgroups);
    Case& c = cases.emplace_back(common);
    c.name = fmt::format("{}launch {}", options.name.empty() ? "" : options.name + ", ", cases.size());
    c.kernel = kernel;
    c.shape = shape;
    c.arguments = arguments;
    ASMEVO_TRY(c.globals, changed_globals(globals, device->memory()));
    auto before = std::make_shared<emulator::AddressSpace>(device->memory().fork());
    for (const uint64_t address : code) before->unmap(address);
    c.before = std::move(before);
    device->options().workgroups.clear();
    if (options.sample != 0 && shape.workgroup_count() > options.sample)
      device->options().workgroups = sample_workgroups(shape.workgroups(), options.sample, options.seed);
    if (options.most_in_all != 0)
      device->options().most_instructions = std::min(
          options.most_instructions, options.most_in_all / std::max<uint64_t>(1, shape.workgroup_count()));
    return only_one ? BeforeLaunch::Stop : BeforeLaunch::Run;
  };
  ASMEVO_TRY(const LaunchReport report, run_launch(plan, *memory, *module, run));
  if (!report.outcome.completed()) return bad_input("K0 itself: {}", report.outcome.text);
  if (cases.empty()) return bad_input("{}: launches nothing", plan.spec.file);
  return cases;
}

} // namespace asmevo::oracle
