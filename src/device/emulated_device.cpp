#include "device/emulated_device.h"

#include "emulator/loaded_object.h"

#include <fmt/format.h>

namespace asmevo::device {

namespace {

class EmulatedModule final : public Module {
 public:
  EmulatedModule(std::unique_ptr<emulator::LoadedObject> loaded) : loaded_(std::move(loaded)) {}
  const codeobject::CodeObject& object() const override { return loaded_->object(); }
  emulator::LoadedObject& loaded() { return *loaded_; }
  uint64_t bias() const { return loaded_->bias(); }

 private:
  std::unique_ptr<emulator::LoadedObject> loaded_;
};

bool same_code(const isa::Target& code, const isa::Target& device) {
  return code.gfx == device.gfx;
}

LaunchOutcome::Kind outcome_kind(const emulator::RunResult& r) {
  using Outcome = emulator::RunResult::Outcome;
  switch (r.outcome) {
  case Outcome::Completed: return LaunchOutcome::Kind::Completed;
  case Outcome::Hang: return LaunchOutcome::Kind::Hang;
  case Outcome::TimeLimit: return LaunchOutcome::Kind::TimeLimit;
  case Outcome::Fault: break;
  }
  return r.fault.kind == emulator::FaultKind::Guard ? LaunchOutcome::Kind::GuardDamaged
                                                    : LaunchOutcome::Kind::Fault;
}

LaunchOutcome outcome_of(const emulator::RunResult& r, uint64_t bias) {
  LaunchOutcome o;
  o.kind = outcome_kind(r);
  o.text = r.describe(bias);
  const bool hang = r.outcome == emulator::RunResult::Outcome::Hang;
  o.pc = r.completed() ? 0 : (hang ? r.loop.first : r.fault.pc) - bias;
  o.address = r.fault.address;
  o.lane = r.fault.lane;
  o.instructions = r.instructions;
  for (size_t f = 0; f <= static_cast<size_t>(isa::Family::Data); ++f)
    if (r.counts[f] != 0)
      o.instructions_by_family.emplace_back(isa::name(static_cast<isa::Family>(f)), r.counts[f]);
  return o;
}

} // namespace

Result<std::unique_ptr<EmulatedDevice>> EmulatedDevice::create(const isa::Target& target,
                                                               EmulatorOptions options) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("f16c"))
    return environment_error("this CPU lacks AVX2, FMA, BMI2 or F16C, which the emulator is compiled for");
  return std::unique_ptr<EmulatedDevice>(new EmulatedDevice(target, std::move(options)));
}

std::string EmulatedDevice::name() const {
  return fmt::format("emulator ({})", target_.name());
}

Result<std::shared_ptr<Module>> EmulatedDevice::load(std::shared_ptr<const codeobject::CodeObject> object) {
  if (!same_code(object->target(), target_))
    return unsupported("the code object is for {}, the device is {}", object->target().name(),
                       target_.name());
  ASMEVO_TRY(auto loaded, emulator::LoadedObject::load(std::move(object), memory_));
  return std::make_shared<EmulatedModule>(std::move(loaded));
}

uint64_t EmulatedDevice::bias(const Module& module) {
  return static_cast<const EmulatedModule&>(module).bias();
}

Result<uint64_t> EmulatedDevice::allocate(std::string_view buffer, uint64_t bytes, uint64_t address) {
  return allocate_filled(buffer, bytes, {}, address);
}

Result<uint64_t> EmulatedDevice::allocate_filled(std::string_view buffer, uint64_t bytes,
                                                 emulator::PageFill fill, uint64_t address,
                                                 emulator::RegionAccess access) {
  constexpr uint64_t alignment = 256; // what hipMalloc promises at least
  if (address == 0) address = memory_.find_free(bytes, alignment);
  ASMEVO_CHECK(memory_.map({std::string(buffer), address, bytes, access}, std::move(fill)));
  return address;
}

void EmulatedDevice::release(uint64_t address) {
  memory_.unmap(address);
}

Status EmulatedDevice::write(uint64_t address, std::span<const uint8_t> bytes) {
  return memory_.write(address, bytes);
}

Status EmulatedDevice::read(uint64_t address, std::span<uint8_t> bytes) {
  return memory_.read(address, bytes);
}

namespace {

// A launch with what the packet processor sets up for it, in memory until it is let go.
class PreparedLaunch {
 public:
  static Result<PreparedLaunch> make(Module& module, std::string_view kernel_name, const LaunchShape& shape,
                                     const LaunchArguments& arguments, emulator::AddressSpace& memory) {
    PreparedLaunch p;
    emulator::LoadedObject& loaded = static_cast<EmulatedModule&>(module).loaded();
    const codeobject::Kernel* kernel = loaded.object().find_kernel(kernel_name);
    if (kernel == nullptr) return bad_input("the code object has no kernel '{}'", kernel_name);
    emulator::LaunchRequest request;
    request.grid = shape.grid;
    request.workgroup = shape.workgroup;
    request.dynamic_lds = shape.dynamic_lds;
    request.kernarg = arguments.kernarg;
    request.keep_hidden = arguments.keep_hidden;
    request.hidden = arguments.hidden;
    request.kernarg_address = arguments.address;
    ASMEVO_TRY(p.code, loaded.code(*kernel));
    p.bias = loaded.bias();
    ASMEVO_TRY(p.launch, emulator::prepare_launch(loaded.object(), *kernel, loaded.bias(), request, memory));
    return p;
  }
  void let_go(emulator::AddressSpace& memory) const {
    for (const uint64_t own : {launch.kernarg_address, launch.packet_address, launch.queue_address})
      memory.unmap(own);
  }

  emulator::Code* code = nullptr;
  emulator::Launch launch;
  uint64_t bias = 0;
};

} // namespace

Result<LaunchOutcome> EmulatedDevice::launch(Module& module, std::string_view kernel,
                                             const LaunchShape& shape, const LaunchArguments& arguments) {
  ASMEVO_TRY(const PreparedLaunch p, PreparedLaunch::make(module, kernel, shape, arguments, memory_));
  for (const uint64_t index : options_.workgroups)
    if (index >= p.launch.workgroup_count())
      return bad_input("workgroup {} of a grid of {}", index, p.launch.workgroup_count());
  const emulator::RunResult result = emulator::run_dispatch(p.launch, *p.code, memory_, options_);
  LaunchOutcome outcome = outcome_of(result, p.bias);
  p.let_go(memory_);
  return outcome;
}

Result<timing::DispatchTrace> EmulatedDevice::trace(Module& module, std::string_view kernel,
                                                    const LaunchShape& shape,
                                                    const LaunchArguments& arguments,
                                                    const timing::Machine& machine,
                                                    const timing::TraceOptions& options) {
  emulator::AddressSpace fork = memory_.fork();
  ASMEVO_TRY(const PreparedLaunch p, PreparedLaunch::make(module, kernel, shape, arguments, fork));
  return timing::trace_dispatch(p.launch, *p.code, fork, p.bias, machine, options);
}

} // namespace asmevo::device
