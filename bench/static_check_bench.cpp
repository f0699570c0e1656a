// How long the static check takes: a kernel of the usual size (4,400 instructions) and the worst known
// (33,000).
#include "program/static_check.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

namespace {

using namespace asmevo;

// A loop around tiles of loads, LDS traffic, matrix and vector instructions, all waits and wait states in
// place.
std::string kernel_text(size_t instructions) {
  std::string text = "s_mov_b32 s4, 16\nloop:\n";
  size_t n = 2;
  for (unsigned tile = 0; n < instructions; ++tile) {
    const unsigned v = 64 + tile % 8 * 16;
    for (unsigned k = 0; k < 4; ++k, n += 2) {
      text += fmt::format("buffer_load_dwordx4 v[{}:{}], v0, s[8:11], 0 offen offset:{}\n", v + 4 * k,
                          v + 4 * k + 3, 16 * k);
      text += fmt::format("ds_read_b128 v[{}:{}], v1 offset:{}\n", 192 + 4 * k, 195 + 4 * k, 16 * k);
    }
    text += "s_waitcnt lgkmcnt(0)\n";
    for (unsigned k = 0; k < 16; ++k, ++n)
      text += fmt::format("v_mfma_f32_16x16x16_f16 a[{0}:{1}], v[{2}:{3}], v[194:195], a[{0}:{1}]\n", 4 * k,
                          4 * k + 3, 192 + 2 * (k % 4), 193 + 2 * (k % 4));
    text += "s_waitcnt vmcnt(0)\n";
    for (unsigned k = 0; k < 16; ++k, ++n)
      text += fmt::format("v_add_f32_e32 v{0}, v{1}, v{0}\n", 16 + k, v + k);
    text += fmt::format("s_cmp_eq_u32 s5, {}\ns_cbranch_scc1 next{}\nds_write_b32 v1, v16\nnext{}:\n",
                        tile % 64, tile, tile);
    n += 5;
  }
  return text + "s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm\n";
}

// Text in pieces no longer than the codec takes.
program::Program build(const std::string& text, isa::Codec& codec) {
  program::Program p;
  p.target = codec.target();
  p.pools.push_back(codec.pool());
  std::vector<std::pair<program::Index, std::string>> branches;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.size() - at < 32768 ? text.size() : text.rfind('\n', at + 32768) + 1;
    const std::vector<isa::ParsedLine> lines =
        codec.parse(std::string_view(text).substr(at, end - at)).value();
    for (const isa::ParsedLine& line : lines) {
      const auto here = static_cast<program::Index>(p.entries.size());
      if (line.instruction == nullptr) {
        p.labels.push_back({line.label, here});
        continue;
      }
      if (!line.symbol.empty()) branches.emplace_back(here, line.symbol);
      p.entries.push_back({{0, 4 * here}, program::no_index, line.instruction});
    }
    at = end;
  }
  for (const auto& [at, symbol] : branches) {
    p.entries[at].reference = static_cast<uint32_t>(p.references.size());
    program::Reference& reference = p.references.emplace_back();
    reference.use = isa::SymbolUse::Branch;
    reference.label = p.find_label(symbol).value();
  }
  program::Function& f = p.functions.emplace_back();
  f.name = "f";
  f.kernel = true;
  f.end = f.padding = static_cast<program::Index>(p.entries.size());
  return p;
}

void static_check(benchmark::State& state) {
  const auto codec = isa::Codec::create(isa::Target{}).value();
  const program::Program p = build(kernel_text(static_cast<size_t>(state.range(0))), *codec);
  const program::Cfg cfg = program::Cfg::build(p, p.functions[0]);
  size_t findings = 0;
  for (auto _ : state) {
    program::CheckOptions options;
    options.possible = true;
    findings = program::check(p, p.functions[0], cfg, options).size();
    benchmark::DoNotOptimize(findings);
  }
  state.counters["instructions"] = static_cast<double>(p.entries.size());
  state.counters["findings"] = static_cast<double>(findings);
}
BENCHMARK(static_check)->Arg(4400)->Arg(33000)->Unit(benchmark::kMillisecond);

} // namespace
