// Comparison of large buffers: bytes of K0's buffer a second, where the two are the same and where most
// elements differ in their last places.
#include "oracle/buffer_init.h"
#include "oracle/compare.h"

#include <benchmark/benchmark.h>

#include <cstring>

using namespace asmevo;
using namespace asmevo::oracle;

namespace {

constexpr uint64_t buffer_bytes = 64 << 20;

void compare_buffers(benchmark::State& state, const char* dtype, bool rounded) {
  const ElementType type = *element_type(dtype);
  const Layout layout = *Layout::make(type, {16, buffer_bytes * 8 / type.bits / 16});
  Init init;
  init.kind = InitKind::Uniform;
  init.first = -1, init.second = 1;
  init.seed = 1;
  Bytes k0(layout.bytes());
  fill(init, layout, 0, k0);
  Bytes candidate = k0;
  if (rounded)
    for (size_t i = 0; i < candidate.size(); i += type.bits / 8) candidate[i] ^= 1;
  const auto reader = [](const Bytes& bytes) {
    return [&bytes](uint64_t offset, std::span<uint8_t> into) -> Status {
      std::memcpy(into.data(), bytes.data() + offset, into.size());
      return {};
    };
  };
  Compared what;
  what.k0 = reader(k0), what.candidate = reader(candidate);
  for (auto _ : state) {
    const auto result = compare(layout, what, Rule::Scaled);
    if (!result || !result->scaled) return state.SkipWithError("not equal");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(k0.size()));
}

BENCHMARK_CAPTURE(compare_buffers, f32_same, "f32", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_buffers, f32_rounded, "f32", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_buffers, f16_same, "f16", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_buffers, f16_rounded, "f16", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_buffers, f64_same, "f64", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_buffers, i32_same, "i32", false)->Unit(benchmark::kMillisecond);

} // namespace
