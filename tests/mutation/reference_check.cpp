#include "mutation/reference_check.h"

#include "oracle/launch_run.h"

#include <filesystem>

namespace asmevo::mutation {

Result<std::unique_ptr<ReferenceCheck>> ReferenceCheck::make(const std::string& name,
                                                             std::shared_ptr<const oracle::Subject> k0) {
  const reference::SuiteKernel* kernel = reference::find_suite_kernel(name);
  if (kernel == nullptr) return bad_input("'{}' is not in the suite", name);
  auto check = std::make_unique<ReferenceCheck>();
  check->target_ = k0->object().target();
  ASMEVO_TRY(check->spec_, oracle::LaunchSpec::read(std::filesystem::path(ASMEVO_SOURCE_DIR) / "kernels" /
                                                    "suite" / (name + ".toml")));
  for (const std::string& shape : kernel->shapes) {
    if (shape == "full" || shape == "search") continue;
    Shape s;
    s.name = shape;
    ASMEVO_TRY(s.k0, check->run(shape, k0));
    s.expected = kernel->launch(reference::LaunchInputs(*s.k0.memory, std::string(check->target_.name())));
    check->shapes_.push_back(std::move(s));
  }
  return check;
}

Result<ReferenceCheck::Launch>
ReferenceCheck::run(const std::string& shape, const std::shared_ptr<const oracle::Subject>& subject) const {
  Launch launch;
  ASMEVO_TRY(auto plan, oracle::LaunchPlan::make(spec_, shape));
  launch.plan = std::make_unique<oracle::LaunchPlan>(std::move(plan));
  device::EmulatorOptions options;
  options.threads = 1;
  options.initial_state = 1;
  ASMEVO_TRY(launch.device, device::EmulatedDevice::create(target_, options));
  ASMEVO_TRY(const auto module, launch.device->load(oracle::object_of(subject)));
  ASMEVO_TRY(launch.memory, oracle::LaunchMemory::create(*launch.plan, *launch.device));
  ASMEVO_TRY(const auto report, oracle::run_launch(*launch.plan, *launch.memory, *module));
  if (!report.outcome.completed()) return bad_input("{}: {}", shape, report.outcome.text);
  return launch;
}

std::string ReferenceCheck::judge(const std::shared_ptr<const oracle::Subject>& candidate) const {
  for (const Shape& s : shapes_) {
    const auto launch = run(s.name, candidate);
    if (!launch) return launch.error().message;
    for (const reference::Output& output : s.expected.outputs) {
      const auto compared = reference::compare_with_reference(output, *s.k0.memory, *launch->memory);
      if (!compared) return compared.error().message;
      if (!compared->accepted())
        return fmt::format("{}: buffer '{}': {}", s.name, output.buffer, compared->describe());
    }
  }
  return {};
}

} // namespace asmevo::mutation
