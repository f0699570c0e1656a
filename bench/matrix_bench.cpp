// One matrix instruction on random operands: time a call of its handler.
#include "emulator/conformance/snippet.h"
#include "emulator/translate.h"
#include "isa/codec.h"

#include <benchmark/benchmark.h>

#include <random>

using namespace asmevo;
using namespace asmevo::emulator;

namespace {

// Random signs and fractions, exponents near zero: no Inf, NaN or subnormals in any format of 8 or more bits.
uint32_t moderate(std::mt19937& random, bool wide) {
  const auto bits = static_cast<uint32_t>(random());
  return wide ? (bits & 0x807fffff) | 0x3f800000 : (bits & 0x87878787) | 0x38383838;
}

void run_instruction(benchmark::State& state, const char* gpu, const char* text) {
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
  Wave& wave = snippet->wave();
  for (auto _ : state) op.run(wave, op);
  if (wave.fault) state.SkipWithError(wave.fault.text.c_str());
}

#define INSTRUCTION(gpu, text)                                                                               \
  BENCHMARK_CAPTURE(run_instruction, text, gpu, text)->Unit(benchmark::kMicrosecond)

INSTRUCTION("gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[64:65], v[66:67], v[16:31]");
INSTRUCTION("gfx942", "v_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[66:67], v[16:19]");
INSTRUCTION("gfx942", "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[16:19]");
INSTRUCTION("gfx942", "v_mfma_f32_32x32x8_bf16 v[0:15], v[64:65], v[66:67], v[16:31]");
INSTRUCTION("gfx942", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[64:65], v[66:67], v[16:31]");
INSTRUCTION("gfx942", "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[64:65], v[66:67], v[16:19]");
INSTRUCTION("gfx942", "v_mfma_f32_32x32x4_xf32 v[0:15], v[64:65], v[66:67], v[16:31]");
INSTRUCTION("gfx942", "v_mfma_f32_32x32x2_f32 v[0:15], v64, v66, v[16:31]");
INSTRUCTION("gfx942", "v_mfma_f32_16x16x4_f32 v[0:3], v64, v66, v[16:19]");
INSTRUCTION("gfx942", "v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], v[16:23]");
INSTRUCTION("gfx942", "v_mfma_i32_32x32x16_i8 v[0:15], v[64:65], v[66:67], v[16:31]");
INSTRUCTION("gfx942", "v_mfma_i32_16x16x32_i8 v[0:3], v[64:65], v[66:67], v[16:19]");
INSTRUCTION("gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[64:65], v[66:69], v80");
INSTRUCTION("gfx950", "v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[16:19]");
INSTRUCTION("gfx950", "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[16:31]");
INSTRUCTION("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[72:79], v[16:19]");
INSTRUCTION("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[72:79], v[16:19] cbsz:1 blgp:1");
INSTRUCTION("gfx950", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[64:67], v[68:71], v[16:31] cbsz:4 blgp:4");
INSTRUCTION("gfx90a", "v_mfma_f32_32x32x8f16 v[0:15], v[64:65], v[66:67], v[16:31]");

} // namespace
