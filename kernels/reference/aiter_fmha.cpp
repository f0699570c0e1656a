// AITer's attention over whole sequences, forward.
#include "reference/aiter_attention.h"

namespace asmevo::reference {

namespace {

constexpr size_t value_width = 128;

Numbers scaled(Numbers values, double scale) {
  for (double& value : values) value *= scale;
  return values;
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
      const Numbers q =
          HeadPlace{batch * queries * heads * width, queries, heads, head, width}.values(in, "q");
      const HeadPlace key{batch * keys * kv_heads * width, keys, kv_heads, kv_head, width};
      const HeadPlace value{batch * keys * kv_heads * value_width, keys, kv_heads, kv_head, value_width};
      const Tokens tokens{keys, scaled(key.values(in, "k"), scale("q_scales") * scale("k_scales")),
                          scaled(value.values(in, "v"), scale("v_scales"))};
      AttentionOutputs outputs = attention_outputs(size, q, tokens, form.errors);
      if (form.scaled && size.causal) {
        Attention twice = size;
        twice.scale *= scale("q_scales") * scale("k_scales");
        const size_t tiles = (queries + 255) / 256;
        if (tiles > 1)
          replace_rows(outputs, attention_outputs(twice, q, tokens, form.errors), tiles / 2 * 256);
      }
      outputs.out.indices =
          HeadPlace{batch * queries * heads * value_width, queries, heads, head, value_width}.indices();
      outputs.log_sum.indices = run_of((batch * heads + head) * queries, queries);
      expected.outputs.push_back(std::move(outputs.out));
      expected.outputs.push_back(std::move(outputs.log_sum));
    }
  return expected;
}

/// Sequences one behind another, in bf16.
Expected group(const SuiteInputs& in) {
  const size_t heads = in.size("heads"), kv_heads = in.size("kv_heads"), width = 128;
  const Numbers queries = in.values("first_queries"), keys = in.values("first_keys");
  Expected expected;
  for (size_t part = 0; part < in.size("sequences") * heads; ++part) {
    const size_t sequence = part / heads, head = part % heads, kv_head = head / (heads / kv_heads);
    const auto first = static_cast<size_t>(queries[sequence]),
               first_key = static_cast<size_t>(keys[sequence]);
    const auto count = static_cast<size_t>(queries[sequence + 1]) - first,
               key_count = static_cast<size_t>(keys[sequence + 1]) - first_key;
    const HeadPlace query{first * heads * width, count, heads, head, width};
    const HeadPlace key{first_key * kv_heads * width, key_count, kv_heads, kv_head, width};
    AttentionOutputs outputs =
        attention_outputs({count, key_count, width, 1 / std::sqrt(128.0), in.size("causal") != 0},
                          query.values(in, "q"), {key_count, key.values(in, "k"), key.values(in, "v")},
                          {.weight = bfloat_rounding, .result = bfloat_rounding});
    outputs.out.indices = query.indices();
    outputs.log_sum.indices = run_of(head * in.size("all_queries") + first, count);
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
Expected fp8(const SuiteInputs& in) {
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
      {"fmha_fwd_bf16_group",
       object + "hd128_bf16_rtne_group.co",
       "fmha_fwd_bf16_group",
       group,
       {"tiny", "odd"}},
      {"fmha_fwd_bf16_group_causal",
       object + "hd128_bf16_causal_rtne_group.co",
       "fmha_fwd_bf16_group",
       group,
       {"causal.tiny", "causal.odd"}},
      {"fmha_fwd_fp8", object + "hd128_fp8.co", "fmha_fwd_fp8", fp8, shapes},
      {"fmha_fwd_fp8_causal",
       object + "hd128_fp8_causal.co",
       "fmha_fwd_fp8",
       fp8,
       {"causal.tiny", "causal.odd", "causal.search", "causal.scaled"}},
      {"fmha_fwd_bf16_192", object + "hd192x128_bf16_rtne.co", "fmha_fwd_bf16_192", plain<192>, shapes},
      {"fmha_fwd_bf16_192_causal", object + "hd192x128_bf16_causal_rtne.co", "fmha_fwd_bf16_192", plain<192>,
       causal},
  };
}

} // namespace asmevo::reference
