// One instruction of each kind that kernels are full of: time a call of its handler. `limit`: the least that
// a CPU with AVX-512 needs for it, by code that knows the registers and that all lanes are on.
#include "emulator/interpreter.h"
#include "one_instruction.h"

#include <immintrin.h>

namespace {

using asmevo::bench::run_instruction;
using asmevo::emulator::lanes;
using asmevo::emulator::Row;

INSTRUCTION("gfx942", "v_mov_b32_e32 v1, v2", kNanosecond);
INSTRUCTION("gfx942", "v_add_f32_e32 v1, v2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_add_f32_e32 v1, s2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_add_f32_e64 v1, |v2|, -v3", kNanosecond);
INSTRUCTION("gfx942", "v_fma_f32 v1, v2, v3, v4", kNanosecond);
INSTRUCTION("gfx942", "v_fmac_f32_e32 v1, v2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]", kNanosecond);
INSTRUCTION("gfx942", "v_pk_fma_f16 v1, v2, v3, v4", kNanosecond);
INSTRUCTION("gfx942", "v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]", kNanosecond);
INSTRUCTION("gfx942", "v_add_u32_e32 v1, v2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_mul_lo_u32 v1, v2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_mad_u64_u32 v[2:3], vcc, v4, v5, v[6:7]", kNanosecond);
INSTRUCTION("gfx942", "v_lshl_add_u32 v1, v2, 3, v4", kNanosecond);
INSTRUCTION("gfx942", "v_perm_b32 v1, v2, v3, v4", kNanosecond);
INSTRUCTION("gfx942", "v_cmp_lt_f32_e32 vcc, v2, v3", kNanosecond);
INSTRUCTION("gfx942", "v_cndmask_b32_e32 v1, v2, v3, vcc", kNanosecond);
INSTRUCTION("gfx942", "v_cvt_f16_f32_e32 v1, v2", kNanosecond);
INSTRUCTION("gfx942", "v_exp_f32_e32 v1, v2", kNanosecond);
INSTRUCTION("gfx942", "v_rcp_f32_e32 v1, v2", kNanosecond);
INSTRUCTION("gfx942", "v_accvgpr_write_b32 a1, v2", kNanosecond);
INSTRUCTION("gfx942", "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf", kNanosecond);
INSTRUCTION("gfx942",
            "v_add_f32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD",
            kNanosecond);
INSTRUCTION("gfx942", "s_add_u32 s4, s5, s6", kNanosecond);
INSTRUCTION("gfx942", "s_cmp_lt_i32 s4, s5", kNanosecond);
INSTRUCTION("gfx942", "s_waitcnt vmcnt(0)", kNanosecond);
BENCHMARK_CAPTURE(run_instruction, v_add_f32_half_the_lanes, "gfx942", "v_add_f32_e32 v1, v2, v3",
                  0x5555555555555555)
    ->Unit(benchmark::kNanosecond);

// What it takes to get from one instruction to the next: the interpreter's loop over s_nop, whose handler
// does nothing.
void dispatch(benchmark::State& state) {
  using namespace asmevo;
  std::string body;
  constexpr unsigned count = 100; // what a loop of a kernel has
  for (unsigned n = 0; n < count; ++n) body += "s_nop 0\n";
  auto snippet = emulator::conformance::Snippet::assemble(*isa::Target::from_id("gfx942"), body);
  if (!snippet) return state.SkipWithError(snippet.error().message.c_str());
  emulator::Wave& wave = snippet->wave();
  const uint64_t start = wave.pc;
  for (auto _ : state) {
    wave.pc = start;
    emulator::run_wave(wave, snippet->code(), count);
  }
  state.counters["a_instruction"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(dispatch)->Unit(benchmark::kNanosecond);

template <class F>
void limit(benchmark::State& state, F row_of) {
  if (!__builtin_cpu_supports("avx512f")) return state.SkipWithError("no AVX-512 here");
  std::vector<Row> rows(4);
  for (auto _ : state) {
    row_of(rows.data());
    benchmark::ClobberMemory();
  }
}

[[gnu::target("avx512f")]] void move(Row* rows) {
  for (unsigned l = 0; l < lanes; l += 16)
    _mm512_store_ps(rows[0].lane + l, _mm512_load_ps(rows[1].lane + l));
}
[[gnu::target("avx512f")]] void add(Row* rows) {
  for (unsigned l = 0; l < lanes; l += 16)
    _mm512_store_ps(rows[0].lane + l,
                    _mm512_add_ps(_mm512_load_ps(rows[1].lane + l), _mm512_load_ps(rows[2].lane + l)));
}
[[gnu::target("avx512f")]] void multiply_add(Row* rows) {
  for (unsigned l = 0; l < lanes; l += 16)
    _mm512_store_ps(rows[0].lane + l,
                    _mm512_fmadd_ps(_mm512_load_ps(rows[1].lane + l), _mm512_load_ps(rows[2].lane + l),
                                    _mm512_load_ps(rows[3].lane + l)));
}
BENCHMARK_CAPTURE(limit, v_mov_b32, move)->Unit(benchmark::kNanosecond);
BENCHMARK_CAPTURE(limit, v_add_f32, add)->Unit(benchmark::kNanosecond);
BENCHMARK_CAPTURE(limit, v_fma_f32, multiply_add)->Unit(benchmark::kNanosecond);

} // namespace
