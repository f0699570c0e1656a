// How many wave instructions a second the cycle model simulates on one core: traces are recorded before.
#include "base/files.h"
#include "oracle/launch_time.h"

#include <benchmark/benchmark.h>

namespace {

using namespace asmevo;

Result<oracle::LaunchTraces> traces_of(const std::string& folder, const std::string& name,
                                       const std::string& shape, const timing::Machine& machine) {
  const bool pair = folder == "pairs"; // of two kernels
  const std::string kernels = "/kernels/" + folder + "/" + name;
  ASMEVO_TRY(Bytes bytes, read_file(ASMEVO_BINARY_DIR + kernels + ".gfx942.co"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(ASMEVO_SOURCE_DIR + kernels + ".toml"));
  ASMEVO_TRY(const oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), shape));
  oracle::LaunchTraceOptions options;
  options.trace.effort = 1'000'000;
  if (pair) options.kernel = "fast";
  return oracle::trace_launches(plan, std::make_shared<const codeobject::CodeObject>(std::move(object)),
                                machine, options);
}

void simulate(benchmark::State& state, const std::string& folder, const std::string& name,
              const std::string& shape) {
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const auto traces = traces_of(folder, name, shape, machine);
  if (!traces) return state.SkipWithError(traces.error().message.c_str());
  uint64_t instructions = 0;
  for (auto _ : state)
    for (const timing::KernelTime& k : oracle::launch_time(*traces, machine).each)
      instructions += k.simulation.instructions;
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

void record(benchmark::State& state, const std::string& folder, const std::string& name,
            const std::string& shape) {
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  uint64_t instructions = 0;
  for (auto _ : state) {
    const auto traces = traces_of(folder, name, shape, machine);
    if (!traces) return state.SkipWithError(traces.error().message.c_str());
    for (const oracle::TracedLaunch& l : traces->launches) instructions += l.trace.executed;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

BENCHMARK_CAPTURE(simulate, vectoradd, "mi300a", "vectoradd", "n67108864")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, fir, "mi300a", "fir", "n262144_taps32")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, matmul, "mi300a", "matrixmultiplication", "n1024")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, transpose, "mi300a", "matrixtranspose", "w6144")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, mfma, "pairs", "mfma_valu_interleaved", "full")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, atax, "mi300a", "atax", "n1536")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(record, matmul, "mi300a", "matrixmultiplication", "n1024")->Unit(benchmark::kMillisecond);

} // namespace
