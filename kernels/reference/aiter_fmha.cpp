// AITer's attention over whole sequences, forward.
#include "reference/aiter_attention.h"

namespace asmevo::reference {

namespace {

constexpr size_t value_width = 128;

/// One head of [tokens][heads][width], from element `first` on.
Numbers head_of(const SuiteInputs& in, const std::string& buffer, size_t first, size_t tokens, size_t heads,
                size_t head, size_t width, double scale) {
  const Numbers all = in.values(buffer, first, tokens * heads * width);
  Numbers rows(tokens * width);
  for (size_t t = 0; t < tokens; ++t)
    for (size_t d = 0; d < width; ++d) rows[t * width + d] = all[(t * heads + head) * width + d] * scale;
  return rows;
}
std::vector<size_t> indices_of_head(size_t first, size_t tokens, size_t heads, size_t head, size_t width) {
  std::vector<size_t> indices;
  for (size_t t = 0; t < tokens; ++t)
    for (size_t d = 0; d < width; ++d) indices.push_back(first + (t * heads + head) * width + d);
  return indices;
}

/// The causal fp8 kernel computes two tiles of 256 queries one after the other, the first and the last of
/// those left, and multiplies the scales of q and k into a register for each of them: for the second they are
/// in there already. Rows from `first` on are those of `again`.
void replace_rows(AttentionOutputs& outputs, const AttentionOutputs& again, size_t first) {
  for (size_t row = first; row < outputs.log_sum.values.size(); ++row) {
    outputs.log_sum.values[row] = again.log_sum.values[row];
    for (size_t i = row * value_width; i < (row + 1) * value_width; ++i) {
      outputs.out.values[i] = again.out.values[i];
      outputs.out.own[i] = again.out.own[i];
    }
  }
}

struct Form {
  size_t width; // of queries and keys
  bool scaled;
  AttentionErrors errors;
};

Expected forward(const SuiteInputs& in, const Form& form) {
  const size_t queries = in.size("queries"), keys = in.size("keys"), heads = in.size("heads"),
               kv_heads = in.size("kv_heads"), width = form.width;
  const Attention size{
      queries, keys, width, 1 / std::sqrt(static_cast<double>(width)), in.size("causal") != 0, value_width};
  Expected expected;
  for (size_t batch = 0; batch < in.size("batch"); ++batch)
    for (size_t head = 0; head < heads; ++head) {
      const size_t kv_head = head / (heads / kv_heads);
      const auto scale = [&](const char* buffer) {
        return form.scaled ? in.values(buffer, batch * kv_heads + kv_head, 1)[0] : 1.0;
      };
      const size_t row = heads * width, kv_row = kv_heads * width, v_row = kv_heads * value_width;
      const Numbers q =
          head_of(in, "q", batch * queries * row, queries, heads, head, width, scale("q_scales"));
      const Tokens tokens{
          keys, head_of(in, "k", batch * keys * kv_row, keys, kv_heads, kv_head, width, scale("k_scales")),
          head_of(in, "v", batch * keys * v_row, keys, kv_heads, kv_head, value_width, scale("v_scales"))};
      AttentionOutputs outputs = attention_outputs(size, q, tokens, form.errors);
      if (form.scaled && size.causal) {
        Attention twice = size;
        twice.scale *= scale("q_scales") * scale("k_scales");
        const size_t tiles = (queries + 255) / 256;
        if (tiles > 1)
          replace_rows(outputs, attention_outputs(twice, q, tokens, form.errors), tiles / 2 * 256);
      }
      outputs.out.indices =
          indices_of_head(batch * queries * heads * value_width, queries, heads, head, value_width);
      outputs.log_sum.indices = run_of((batch * heads + head) * queries, queries);
      expected.outputs.push_back(std::move(outputs.out));
      expected.outputs.push_back(std::move(outputs.log_sum));
    }
  return expected;
}

template <size_t width>
Expected plain(const SuiteInputs& in) {
  return forward(in, {width, false, {.weight = bfloat_rounding, .result = bfloat_rounding}});
}
/// Weights are rounded to fp8.
Expected scaled(const SuiteInputs& in) {
  return forward(in, {128, true, {.weight = 0x1p-4, .result = bfloat_rounding}});
}

} // namespace

std::vector<AiterKernel> aiter_fmha_kernels() {
  const std::string object = "gfx942/fmha_v3_fwd/MI300/fwd_";
  const std::vector<std::string> shapes = {"tiny", "odd", "search"};
  const std::vector<std::string> causal = {"causal.tiny", "causal.odd", "causal.search"};
  return {
      {"fmha_fwd_bf16", object + "hd128_bf16_rtne.co", "fmha_fwd_bf16", plain<128>, shapes},
      {"fmha_fwd_bf16_causal", object + "hd128_bf16_causal_rtne.co", "fmha_fwd_bf16", plain<128>, causal},
      {"fmha_fwd_fp8", object + "hd128_fp8.co", "fmha_fwd_fp8", scaled, shapes},
      {"fmha_fwd_fp8_causal",
       object + "hd128_fp8_causal.co",
       "fmha_fwd_fp8",
       scaled,
       {"causal.tiny", "causal.odd", "causal.search", "causal.scaled"}},
      {"fmha_fwd_bf16_192", object + "hd192x128_bf16_rtne.co", "fmha_fwd_bf16_192", plain<192>, shapes},
      {"fmha_fwd_bf16_192_causal", object + "hd192x128_bf16_causal_rtne.co", "fmha_fwd_bf16_192", plain<192>,
       causal},
  };
}

} // namespace asmevo::reference
