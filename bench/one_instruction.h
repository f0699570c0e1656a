// Times one call of an instruction's handler, without what runs handlers one after another.
#pragma once

#include "emulator/conformance/snippet.h"
#include "emulator/translate.h"
#include "isa/codec.h"

#include <benchmark/benchmark.h>

#include <random>

namespace asmevo::bench {

// Random signs and fractions, exponents near zero: no Inf, NaN or subnormals in any format of 8 or more bits.
inline uint32_t moderate(std::mt19937& random, bool wide) {
  const auto bits = static_cast<uint32_t>(random());
  return wide ? (bits & 0x807fffff) | 0x3f800000 : (bits & 0x87878787) | 0x38383838;
}

/// `exec`: which lanes are on. Scalar registers from s2 on are small numbers.
inline void run_instruction(benchmark::State& state, const char* gpu, const char* text,
                            uint64_t exec = emulator::all_lanes) {
  using namespace emulator;
  const isa::Target target = *isa::Target::from_id(gpu);
  auto codec = isa::Codec::create(target);
  const auto parsed = (*codec)->parse(text);
  if (!parsed) return state.SkipWithError(parsed.error().message.c_str());
  const MicroOp op = translate(*parsed->front().instruction, 0, {.target = target});
  auto snippet = conformance::Snippet::assemble(target, text);
  std::mt19937 random(1);
  const bool wide = std::string_view(text).find("f32 v") != std::string_view::npos ||
                    std::string_view(text).find("f64 v") != std::string_view::npos;
  for (unsigned row = 0; row < 128; ++row)
    for (unsigned lane = 0; lane < lanes; ++lane) snippet->v(row, lane) = moderate(random, wide);
  for (unsigned n = 2; n < 20; ++n) snippet->s(n) = n;
  Wave& wave = snippet->wave();
  wave.set_exec(exec);
  for (auto _ : state) {
    op.run(wave, op);
    benchmark::ClobberMemory();
  }
  if (wave.fault) state.SkipWithError(wave.fault.text.c_str());
}

} // namespace asmevo::bench

#define INSTRUCTION(gpu, text, unit)                                                                         \
  BENCHMARK_CAPTURE(run_instruction, text, gpu, text)->Unit(benchmark::unit)
