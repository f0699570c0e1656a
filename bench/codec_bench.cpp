// Cost of the steps between a kernel's bytes, its Program and edited bytes, on a made-up kernel as long as
// the production ones (4,400 instructions, 13 % of them distinct).
#include "base/random.h"
#include "isa/codec.h"
#include "program/edit.h"
#include "program/layout.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>

namespace {

using namespace asmevo;

constexpr size_t kernel_instructions = 4400;

isa::Codec& codec() {
  static const std::unique_ptr<isa::Codec> one = *isa::Codec::create(*isa::Target::from_id("gfx942"));
  return *one;
}

std::string random_line(RandomStream& random) {
  const auto v = [&] { return random.below(24) * 2; };
  switch (random.below(8)) {
  case 0: return fmt::format("v_add_f32_e32 v{}, v{}, v{}\n", v(), v(), v());
  case 1: return fmt::format("v_mul_f32_e32 v{}, v{}, v{}\n", v(), v(), v());
  case 2:
    return fmt::format("v_mfma_f32_16x16x16_f16 a[0:3], v[{0}:{1}], v[{2}:{3}], a[0:3]\n", v(), 99, v(), 99);
  case 3: return fmt::format("ds_read_b128 v[{0}:{1}], v1 offset:{2}\n", 4, 7, 16 * random.below(64));
  case 4: return fmt::format("buffer_load_dword v{}, off, s[8:11], 0 offset:{}\n", v(), 4 * random.below(64));
  case 5:
    return fmt::format("s_add_u32 s{}, s{}, {}\n", random.below(32), random.below(32), random.below(64));
  case 6: return "s_waitcnt lgkmcnt(0)\n";
  default: return fmt::format("v_fma_f32 v{}, v{}, v{}, v{}\n", v(), v(), v(), v());
  }
}

program::Program make_kernel() {
  RandomStream random(1);
  program::Program p;
  p.target = codec().target();
  std::vector<const isa::Instruction*> pool;
  while (pool.size() < kernel_instructions * 13 / 100) {
    std::string line = random_line(random);
    // Pairs of registers for the matrix instruction.
    if (line.find(":99]") != std::string::npos)
      line = "v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]\n";
    const auto parsed = codec().parse(line);
    if (!parsed) std::abort();
    pool.push_back((*parsed)[0].instruction);
  }
  uint32_t offset = 0;
  for (size_t k = 0; k < kernel_instructions; ++k) {
    const isa::Instruction* i = pool[random.below(pool.size())];
    p.entries.push_back({{0, offset}, program::no_index, i});
    offset += i->bytes();
  }
  const auto parsed = codec().parse("s_endpgm");
  p.entries.push_back({{0, offset}, program::no_index, (*parsed)[0].instruction});
  const auto count = static_cast<program::Index>(p.entries.size());
  p.functions = {{"kernel", 0, count, true, count}};
  p.pools.push_back(codec().pool());
  return p;
}

const program::Program& kernel() {
  static const program::Program made = make_kernel();
  return made;
}

Bytes kernel_bytes() {
  return program::lay_out(kernel(), 0, [](uint32_t) { return uint64_t{0}; })->bytes;
}

// Seen before: a look-up by words.
void decode_known(benchmark::State& state) {
  const Bytes text = kernel_bytes();
  for (auto _ : state)
    for (ByteSpan rest = text; !rest.empty();) {
      const isa::Instruction* i = codec().decode(rest);
      benchmark::DoNotOptimize(i);
      rest = rest.subspan(i->bytes());
    }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kernel_instructions));
}
BENCHMARK(decode_known)->Unit(benchmark::kMillisecond);

// With a fresh pool: LLVM decodes and encodes every distinct instruction once.
void decode_first_time(benchmark::State& state) {
  const Bytes text = kernel_bytes();
  const auto fresh = *isa::Codec::create(codec().target());
  for (auto _ : state) {
    fresh->renew_pool();
    for (ByteSpan rest = text; !rest.empty();) rest = rest.subspan(fresh->decode(rest)->bytes());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kernel_instructions));
}
BENCHMARK(decode_first_time)->Unit(benchmark::kMillisecond);

void print_all(benchmark::State& state) {
  for (auto _ : state)
    for (const program::Entry& e : kernel().entries) benchmark::DoNotOptimize(codec().print(*e.instruction));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kernel_instructions));
}
BENCHMARK(print_all)->Unit(benchmark::kMillisecond);

void parse_text(benchmark::State& state) {
  RandomStream random(2);
  std::string text;
  for (int64_t k = 0; k < state.range(0); ++k)
    text += fmt::format("v_add_f32_e32 v{}, v{}, v3\n", random.below(64), random.below(64));
  for (auto _ : state) benchmark::DoNotOptimize(codec().parse(text));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(parse_text)->Arg(1)->Arg(20)->Arg(500)->Unit(benchmark::kMicrosecond);

// An edit of ten instructions in three places, spliced and laid out: what happens between a proposal and its
// bytes.
void splice_and_lay_out(benchmark::State& state) {
  program::Edit edit;
  edit.kernel = "kernel";
  for (const size_t at : {100U, 2000U, 4000U})
    edit.changes.push_back({kernel().entries[at].id, kernel().entries[at + 2].id, std::nullopt,
                            "v_add_f32_e32 v0, v1, v2\nv_mul_f32_e32 v3, v0, v2\ns_nop 1\n"});
  for (auto _ : state) {
    const auto edited = program::splice(kernel(), edit, 1, codec());
    if (!edited) std::abort();
    const auto image = program::lay_out(*edited, 0, [](uint32_t) { return uint64_t{0}; });
    benchmark::DoNotOptimize(image->bytes.data());
  }
}
BENCHMARK(splice_and_lay_out)->Unit(benchmark::kMillisecond);

} // namespace
