// What is true of a kernel of the suite, from its launch file: the arguments of K0, and which bytes of them
// it touches at a shape.
#pragma once

#include "base/files.h"
#include "device/emulated_device.h"
#include "infer/infer.h"
#include "oracle/launch_run.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace asmevo::infer {

struct TrueArgument {
  bool pointer = false;
  std::string buffer, dtype, value; // value: of scalars
  oracle::Role role = oracle::Role::In;
  uint64_t bytes = 0;  // of the buffer at the shape
  int64_t touched = 0; // how far K0 reaches
};

struct SuiteTruth {
  std::shared_ptr<const codeobject::CodeObject> object;
  std::string kernel;
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> workgroup{1, 1, 1};
  std::vector<TrueArgument> arguments;
};

/// Names of kernels/suite, sorted.
inline std::vector<std::string> suite_kernels() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// K0 of the kernels whose first launch is not it, as their launch files' comments say.
inline const std::map<std::string, std::string> k0_not_first{
    {"level2_38_convtranspose3d_softmax", "convtranspose_exp"}};

// How far each buffer is accessed while K0 runs.
class ReachObserver final : public emulator::Observer {
 public:
  struct Buffer {
    uint64_t address = 0, bytes = 0;
    int64_t reach = 0;
  };
  std::vector<Buffer> buffers;
  bool active = false;

  void memory(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent& e) override {
    if (!active || e.space == isa::MemoryKind::Lds || e.space == isa::MemoryKind::Scratch) return;
    uint64_t lanes = e.space == isa::MemoryKind::Scalar ? 1 : e.lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
      const uint64_t at = e.addresses[std::countr_zero(lanes)];
      for (Buffer& b : buffers)
        if (at >= b.address && at < b.address + b.bytes)
          b.reach = std::max(b.reach, static_cast<int64_t>(at + e.bytes - b.address));
    }
  }
};

inline std::array<uint64_t, 3> numbers(const std::vector<oracle::Expression>& list,
                                       const oracle::Scope& sizes) {
  std::array<uint64_t, 3> result{1, 1, 1};
  for (size_t d = 0; d < list.size(); ++d)
    result[d] =
        static_cast<uint64_t>(oracle::evaluate_integer(list[d].text, sizes, 1, int64_t{1} << 40).value());
  return result;
}

inline Result<SuiteTruth> suite_truth(const std::string& name, const std::string& target,
                                      const std::string& shape) {
  SuiteTruth truth;
  ASMEVO_TRY(Bytes bytes,
             read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + "." + target + ".co"));
  ASMEVO_TRY(codeobject::CodeObject parsed, codeobject::CodeObject::parse(std::move(bytes)));
  truth.object = std::make_shared<const codeobject::CodeObject>(std::move(parsed));
  ASMEVO_TRY(oracle::LaunchSpec spec,
             oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml"));
  ASMEVO_TRY(const oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), shape));

  std::vector<const oracle::StepSpec*> launches;
  for (const oracle::StepSpec& s : plan.spec.steps)
    if (s.kind == oracle::StepSpec::Kind::Launch) launches.push_back(&s);
  const auto named = k0_not_first.find(name);
  truth.kernel = named == k0_not_first.end() ? launches.front()->kernel : named->second;
  const auto k0 = std::ranges::find(launches, truth.kernel, &oracle::StepSpec::kernel);
  truth.grid = numbers((*k0)->grid, plan.sizes);
  const auto workgroup = numbers((*k0)->workgroup, plan.sizes);
  for (size_t d = 0; d < 3; ++d) truth.workgroup[d] = static_cast<uint32_t>(workgroup[d]);

  // Runs the launch to see how far K0 reaches.
  ReachObserver reach;
  device::EmulatorOptions emulator;
  emulator.threads = 1;
  emulator.observer = [&](size_t) { return &reach; };
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(truth.object->target(), std::move(emulator)));
  ASMEVO_TRY(const auto module, device->load(truth.object));
  ASMEVO_TRY(const auto memory, oracle::LaunchMemory::create(plan, *device));
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    reach.buffers.push_back({memory->address(b), plan.buffers[b].bytes, 0});
  oracle::LaunchRunOptions run;
  run.starting = [&](const std::string& kernel, const device::LaunchShape&) {
    reach.active = kernel == truth.kernel;
  };
  ASMEVO_TRY(const oracle::LaunchReport report, oracle::run_launch(plan, *memory, *module, run));
  if (!report.outcome.completed()) return internal_error("{}: {}", name, report.outcome.text);

  const auto& arguments = (*k0)->arguments ? *(*k0)->arguments : plan.spec.arguments;
  for (const oracle::ArgumentSpec& a : arguments) {
    TrueArgument t;
    t.pointer = a.kind == oracle::ArgumentSpec::Kind::Buffer;
    t.dtype = a.dtype;
    if (t.pointer) {
      const size_t b = plan.find(a.buffer).value();
      t.buffer = a.buffer;
      t.dtype = oracle::name_of(plan.buffers[b].layout.type());
      t.role = plan.buffers[b].role;
      t.bytes = plan.buffers[b].bytes;
      t.touched = reach.buffers[b].reach;
      // A workspace is K0's output, unless a launch before K0 has filled it.
      if (t.role == oracle::Role::Workspace) {
        const bool filled = std::any_of(launches.begin(), k0, [&](const oracle::StepSpec* s) {
          return s->arguments && std::ranges::any_of(*s->arguments, [&](const oracle::ArgumentSpec& other) {
                   return other.buffer == a.buffer;
                 });
        });
        t.role = filled ? oracle::Role::In : oracle::Role::Out;
      }
    } else {
      const oracle::Number number = oracle::evaluate(a.value.text, plan.sizes).value();
      t.value = std::holds_alternative<int64_t>(number) ? fmt::format("{}", std::get<int64_t>(number))
                                                        : fmt::format("{}", std::get<double>(number));
    }
    truth.arguments.push_back(std::move(t));
  }
  return truth;
}

} // namespace asmevo::infer
