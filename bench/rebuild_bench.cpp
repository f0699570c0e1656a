// What an edit costs: splice, resource scan, layout and file, for a kernel of 4,400 instructions and more.
// With ASMEVO_AITER_DIR set the kernel is AITer's fmoe_fp8_blockscale_g1u1_subGU_256 for gfx942 (4,411
// instructions), else one made of 4,400 instructions of the same kinds.
#include "base/files.h"
#include "program/layout.h"
#include "rebuild/assembly.h"
#include "rebuild/rebuild.h"
#include "rebuild/roundtrip.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <stdexcept>

namespace {

using namespace asmevo;

std::string made_up_kernel() {
  std::string s = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl bench
.p2align 8
.type bench,@function
bench:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
)";
  for (int k = 0; k < 440; ++k)
    s += fmt::format(R"(L{0}:
  global_load_dwordx4 v[{1}:{2}], v0, s[2:3] offset:{3}
  ds_read_b128 v[16:19], v1 offset:{3}
  v_mfma_f32_16x16x16_bf16 v[32:35], v[16:17], v[18:19], v[32:35]
  v_fma_f32 v{1}, v{1}, v2, v3
  v_pk_mul_f32 v[{1}:{4}], v[{1}:{4}], v[36:37]
  s_waitcnt vmcnt({5})
  s_add_u32 s4, s4, 0x{6:x}
  s_cmp_lt_u32 s4, s5
  v_add_u32_e32 v0, s4, v0
  s_cbranch_scc1 L{0}
)",
                     k, 40 + k % 40 * 4, 43 + k % 40 * 4, k % 64 * 16, 41 + k % 40 * 4, k % 16, 1000 + k);
  s += R"(  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel bench
  .amdhsa_next_free_vgpr 208
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 208
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
)";
  return s;
}

Bytes kernel_bytes() {
  if (const char* aiter = std::getenv("ASMEVO_AITER_DIR"))
    return read_file(std::string(aiter) + "/gfx942/fmoe_fp8_blockscale_g1u1_subGU_256.co").value();
  return rebuild::assemble(made_up_kernel(), "bench.s").value();
}

struct Fixture {
  std::unique_ptr<isa::Codec> codec = isa::Codec::create(isa::Target::from_id("gfx942").value()).value();
  Bytes bytes = kernel_bytes();
  rebuild::Original k0 = rebuild::Original::open(bytes, *codec).value();

  // Replaces ten instructions in the middle by eleven.
  program::Edit edit() {
    const program::Program& p = k0.program();
    const program::Function& f = p.functions.front();
    const program::Index middle = (f.begin + f.end) / 2;
    program::Edit e;
    e.kernel = f.name;
    program::Change c{p.entries[middle].id, p.entries[middle + 9].id, {}, "s_nop 0\n"};
    for (program::Index i = middle; i < middle + 10; ++i) c.text += program::print(p, i, *codec) + "\n";
    e.changes.push_back(std::move(c));
    return e;
  }
};

Fixture& fixture() {
  static Fixture f;
  return f;
}

void open_object(benchmark::State& state) {
  Fixture& f = fixture();
  for (auto _ : state) benchmark::DoNotOptimize(rebuild::Original::open(f.bytes, *f.codec));
  state.counters["instructions"] = static_cast<double>(f.k0.program().entries.size());
}
BENCHMARK(open_object)->Unit(benchmark::kMillisecond);

void rebuild_after_edit(benchmark::State& state) {
  Fixture& f = fixture();
  const program::Edit edit = f.edit();
  for (auto _ : state) {
    auto built = rebuild::apply_edit(f.k0, f.k0.program(), edit, 1, *f.codec);
    if (!built) throw std::runtime_error(built.error().message);
    benchmark::DoNotOptimize(built->object.data());
  }
  state.counters["instructions"] = static_cast<double>(f.k0.program().entries.size());
}
BENCHMARK(rebuild_after_edit)->Unit(benchmark::kMillisecond);

void roundtrip(benchmark::State& state, rebuild::Route route) {
  Fixture& f = fixture();
  for (auto _ : state) {
    const auto result = rebuild::roundtrip(f.bytes, route, *f.codec);
    if (!result || !result->identical) throw std::runtime_error("round trip differs");
  }
}
BENCHMARK_CAPTURE(roundtrip, direct, rebuild::Route::Direct)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(roundtrip, assembly, rebuild::Route::Assembly)->Unit(benchmark::kMillisecond);

} // namespace
