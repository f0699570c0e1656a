// AITer's decoding with a latent cache: all heads of a query share one key and value a token.
#include "reference/aiter_attention.h"

namespace asmevo::reference {

namespace {

constexpr size_t heads = 16, key_width = 576, value_width = 512,
                 block = 64; // tokens that a workgroup takes at a time

/// The tokens of one workgroup: every `splits`-th block.
Tokens tokens_of(const SuiteInputs& in, size_t sequence, size_t split, double scale) {
  const Numbers bounds = in.values("first_tokens", sequence, 2);
  const auto first = static_cast<size_t>(bounds[0]), length = static_cast<size_t>(bounds[1]) - first;
  const Numbers places = in.values("places", first, length);
  Tokens tokens;
  for (size_t t = 0; t < length; ++t) {
    if (t / block % in.size("splits") != split) continue;
    Numbers key = in.values("kv", static_cast<size_t>(places[t]) * key_width, key_width);
    for (double& number : key) number *= scale;
    tokens.k.insert(tokens.k.end(), key.begin(), key.end());
    tokens.v.insert(tokens.v.end(), key.begin(), key.begin() + value_width);
    ++tokens.count;
  }
  return tokens;
}

Expected first_stage(const SuiteInputs& in, double q_scale, double kv_scale, const AttentionErrors& errors) {
  const size_t splits = in.size("splits");
  Expected expected;
  for (size_t part = 0; part < in.size("sequences") * splits; ++part) {
    const Tokens tokens = tokens_of(in, part / splits, part % splits, kv_scale);
    if (tokens.count == 0) continue; // nothing is written
    Numbers q = in.values("q", part / splits * heads * key_width, heads * key_width);
    for (double& number : q) number *= q_scale;
    AttentionOutputs outputs = attention_outputs(
        {heads, tokens.count, key_width, 1 / std::sqrt(static_cast<double>(key_width)), false, value_width},
        q, tokens, errors);
    outputs.out.indices = run_of(part * heads * value_width, heads * value_width);
    outputs.log_sum.indices = run_of(part * heads, heads);
    expected.outputs.push_back(std::move(outputs.out));
    expected.outputs.push_back(std::move(outputs.log_sum));
  }
  return expected;
}

Expected plain(const SuiteInputs& in) {
  return first_stage(in, 1, 1, {.weight = bfloat_rounding, .result = rounding_f32});
}
/// Weights are rounded to fp8.
Expected scaled(const SuiteInputs& in) {
  return first_stage(in, in.values("q_scale")[0], in.values("kv_scale")[0],
                     {.weight = 0x1p-4, .result = rounding_f32});
}

} // namespace

std::vector<AiterKernel> aiter_mla_kernels() {
  const std::string object = "gfx942/mla/mla_";
  return {
      {"mla_decode_bf16",
       object + "dec_stage1_bf16_a16w16_subQ16_mqa16.co",
       "mla_decode_bf16",
       plain,
       {"tiny", "odd", "split", "search"}},
      {"mla_decode_fp8",
       object + "a8w8_qh16_qseqlen1_gqaratio16.co",
       "mla_decode_fp8",
       scaled,
       {"tiny", "odd", "search"},
       true},
  };
}

} // namespace asmevo::reference
