// AITer's attention over paged caches, one query a sequence.
#include "reference/aiter_attention.h"

namespace asmevo::reference {

namespace {

constexpr size_t width = 128, page = 16; // of heads; tokens

/// How a page holds a head's keys and values: groups of 16 bytes, of the width and of the tokens.
struct Cache {
  size_t group;
  bool scaled;
};

Tokens tokens_of(const SuiteInputs& in, const Cache& cache, size_t sequence, size_t head) {
  const size_t kv_heads = in.size("kv_heads"), most_pages = in.size("most_pages"), group = cache.group;
  const auto length = static_cast<size_t>(in.values("lengths", sequence, 1)[0]);
  const Numbers table = in.values("tables", sequence * most_pages, most_pages);
  Tokens tokens{length, Numbers(length * width), Numbers(length * width)};
  for (size_t first = 0; first < length; first += page) {
    const size_t block = static_cast<size_t>(table[first / page]) * kv_heads + head;
    const Numbers k = in.values("k", block * page * width, page * width);
    const Numbers v = in.values("v", block * page * width, page * width);
    const Numbers ones(page, 1.0);
    const Numbers k_scales = cache.scaled ? in.values("k_scales", block * page, page) : ones;
    const Numbers v_scales = cache.scaled ? in.values("v_scales", block * page, page) : ones;
    for (size_t t = 0; t < std::min(page, length - first); ++t)
      for (size_t d = 0; d < width; ++d) {
        const size_t at = (first + t) * width + d;
        tokens.k[at] = k[(d / group * page + t) * group + d % group] * k_scales[t];
        tokens.v[at] = v[(t / group * width + d) * group + t % group] * v_scales[t];
      }
  }
  return tokens;
}

Expected paged(const SuiteInputs& in, const Cache& cache, const AttentionErrors& errors) {
  const size_t group = in.size("group"), kv_heads = in.size("kv_heads");
  Expected expected;
  for (size_t sequence = 0; sequence < in.size("sequences"); ++sequence)
    for (size_t head = 0; head < kv_heads; ++head) {
      const Tokens tokens = tokens_of(in, cache, sequence, head);
      const size_t first = (sequence * kv_heads + head) * group * width;
      Numbers q = in.values("q", first, group * width);
      if (cache.scaled) q = rounded_to_fp8(std::move(q), width);
      AttentionOutputs outputs =
          attention_outputs({group, tokens.count, width, 1 / std::sqrt(128.0), false}, q, tokens, errors);
      outputs.out.indices = run_of(first, group * width);
      expected.outputs.push_back(std::move(outputs.out));
    }
  return expected;
}

Expected plain(const SuiteInputs& in) {
  return paged(in, {8, false}, {.weight = bfloat_rounding, .result = bfloat_rounding});
}
/// Queries and weights are rounded to fp8.
Expected scaled(const SuiteInputs& in) {
  return paged(in, {16, true}, {.weight = 0x1p-4, .result = bfloat_rounding});
}

} // namespace

std::vector<AiterKernel> aiter_paged_kernels() {
  const std::string object = "gfx942/pa/pa_bf16_";
  return {
      {"pa_bf16_gqa16", object + "noquant_gqa16_1tg_4w.co", "pa_bf16", plain, {"tiny", "odd", "search"}},
      {"pa_bf16_gqa8", object + "noquant_gqa8_1tg_4w.co", "pa_bf16", plain, {"eight.odd"}},
      {"pa_fp8_gqa16", object + "pertokenFp8_gqa16_2tg_4w.co", "pa_fp8", scaled, {"tiny", "odd", "search"}},
      {"pa_fp8_gqa8", object + "pertokenFp8_gqa8_2tg_4w.co", "pa_fp8", scaled, {"eight.odd"}},
  };
}

} // namespace asmevo::reference
