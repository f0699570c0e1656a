// Memory instructions of one wave, sixteen in a row in a loop: how many a second.
#include "emulator/conformance/snippet.h"
#include "emulator/interpreter.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

using namespace asmevo;
using namespace asmevo::emulator;

namespace {

// v0: the lane's number times `stride`, from the start of LDS or of a buffer at s[2:3].
void loop(benchmark::State& state, const char* text, unsigned stride) {
  std::string body = "s_mov_b32 s0, 1000\n";
  for (unsigned n = 0; n < 16; ++n) body += std::string(text) + "\n";
  // Every one of them is two dwords; the branch counts from the instruction behind it.
  constexpr int back = -(16 * 2 + 3);
  body += fmt::format("s_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 {}", back & 0xffff);
  const isa::Target target = *isa::Target::from_id("gfx942");
  auto snippet = conformance::Snippet::assemble(target, body);
  if (!snippet) return state.SkipWithError(snippet.error().message.c_str());
  constexpr uint64_t bytes = 1 << 20;
  if (!snippet->memory().map({"buffer", conformance::Snippet::memory_address, bytes}))
    return state.SkipWithError("no memory");
  for (unsigned l = 0; l < lanes; ++l) snippet->v(0, l) = l * stride;
  snippet->s(2) = static_cast<uint32_t>(conformance::Snippet::memory_address);
  snippet->s(3) = static_cast<uint32_t>(conformance::Snippet::memory_address >> 32);
  Wave& wave = snippet->wave();
  const uint64_t start = wave.pc;
  uint64_t instructions = 0;
  for (auto _ : state) {
    wave.pc = start;
    run_wave(wave, snippet->code(), 1 + 1000 * (16 + 3));
    instructions += 16000;
  }
  if (wave.fault) return state.SkipWithError(wave.fault.text.c_str());
  state.counters["memory_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

#define LOOP(text, stride) BENCHMARK_CAPTURE(loop, text, text, stride)->Unit(benchmark::kMicrosecond)

LOOP("ds_read_b32 v4, v0", 4);
LOOP("ds_read_b128 v[4:7], v0", 16);
LOOP("ds_read2_b32 v[4:5], v0 offset1:64", 4);
LOOP("ds_write_b32 v0, v4", 4);
LOOP("ds_write_b64 v0, v[4:5]", 8);
LOOP("ds_bpermute_b32 v4, v0, v5", 4);
LOOP("global_load_dword v4, v0, s[2:3]", 4);
LOOP("global_load_dwordx4 v[4:7], v0, s[2:3]", 16);
LOOP("global_load_ushort v4, v0, s[2:3]", 2);
LOOP("global_load_dword v4, v0, s[2:3]", 4096);
LOOP("global_store_dword v0, v4, s[2:3]", 4);
LOOP("global_store_dwordx4 v0, v[4:7], s[2:3]", 16);
LOOP("global_atomic_add v0, v4, s[2:3]", 4);

} // namespace
