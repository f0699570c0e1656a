// How many instructions of a wave (64 lanes) the emulator runs in a second.
#include "base/files.h"
#include "device/emulated_device.h"
#include "oracle/launch_run.h"
#include "sanitizer/sanitizer.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

namespace {

using namespace asmevo;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::cerr << result.error().message << '\n';
    std::exit(1);
  }
  return *std::move(result);
}

// kernels/samples/valu_mix.hip: vector integer and float arithmetic, comparisons, selections, in a loop.
// `range(1)`: under the sanitizer.
void valu_mix(benchmark::State& state) {
  device::EmulatorOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  const auto target = must(isa::Target::from_id("gfx942"));
  const auto device = must(device::EmulatedDevice::create(target, options));
  const auto object = std::make_shared<const codeobject::CodeObject>(
      must(codeobject::CodeObject::parse(must(read_file(ASMEVO_BINARY_DIR "/kernels/valu_mix.gfx942.co")))));
  const auto module = must(device->load(object));
  constexpr uint32_t groups = 64, items = 256, rounds = 400;
  const uint64_t out = must(device->allocate("out", groups * items * sizeof(float)));
  device::LaunchArguments arguments;
  arguments.kernarg.resize(12);
  std::memcpy(arguments.kernarg.data(), &out, 8);
  std::memcpy(arguments.kernarg.data() + 8, &rounds, 4);
  const device::LaunchShape shape{{groups * items, 1, 1}, {items, 1, 1}, 0};
  uint64_t instructions = 0;
  for (auto _ : state) {
    sanitizer::Session session(target);
    if (state.range(1) != 0) device->options().observer = session.observers();
    const device::LaunchOutcome outcome = must(device->launch(*module, "valu_mix", shape, arguments));
    if (!outcome.completed()) {
      state.SkipWithError(outcome.text.c_str());
      return;
    }
    instructions += outcome.instructions;
  }
  state.counters["wave_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
BENCHMARK(valu_mix)
    ->ArgNames({"threads", "sanitized"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({1, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// A kernel of the suite at its search shape, on one thread: matrix instructions, LDS, global memory.
void suite_kernel(benchmark::State& state, const char* name) {
  const std::string object_file = std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + ".gfx942.co";
  const auto object = std::make_shared<const codeobject::CodeObject>(
      must(codeobject::CodeObject::parse(must(read_file(object_file)))));
  const auto spec =
      must(oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml"));
  const oracle::LaunchPlan plan = must(oracle::LaunchPlan::make(spec, "search"));
  device::EmulatorOptions options;
  options.threads = 1;
  const auto device = must(device::EmulatedDevice::create(object->target(), options));
  const auto module = must(device->load(object));
  uint64_t instructions = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto memory = must(oracle::LaunchMemory::create(plan, *device));
    sanitizer::Session session(object->target());
    if (state.range(0) != 0) device->options().observer = session.observers();
    state.ResumeTiming();
    instructions += must(oracle::run_launch(plan, *memory, *module, {})).outcome.instructions;
  }
  state.counters["wave_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
#define SUITE_KERNEL(name)                                                                                   \
  BENCHMARK_CAPTURE(suite_kernel, name, #name)                                                               \
      ->ArgName("sanitized")                                                                                 \
      ->Arg(0)                                                                                               \
      ->Arg(1)                                                                                               \
      ->Unit(benchmark::kMillisecond)
SUITE_KERNEL(level1_1_matmul);
SUITE_KERNEL(level1_23_softmax);
SUITE_KERNEL(llm_gemm_f16);

} // namespace
