// How many instructions of a wave (64 lanes) the emulator runs in a second.
#include "base/files.h"
#include "device/emulated_device.h"

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
void valu_mix(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  device::EmulatorOptions options;
  options.threads = threads;
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
BENCHMARK(valu_mix)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
