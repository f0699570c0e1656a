// Kernels of language models that are no plain matrix products.
#include "reference/suite_llm.h"

#include "reference/attention.h"
#include "reference/suite_parts.h"

#include <numeric>

namespace asmevo::reference {

namespace {

constexpr double half_rounding = 0x1p-11, least_half = 0x1p-14;
constexpr size_t width = 128; // of heads
const double score_scale = 1 / std::sqrt(128.0);

/// The most that scores of 128 products can be off, by the Cauchy-Schwarz inequality for their magnitudes: as
/// float sums, and by what the matrix cores cut.
double score_error(const Numbers& q, const Numbers& k) {
  double largest_q = 0, largest_k = 0; // of a row, by the Euclidean norm
  for (size_t at = 0; at < q.size(); at += width) largest_q = std::max(largest_q, norm(&q[at], width));
  for (size_t at = 0; at < k.size(); at += width) largest_k = std::max(largest_k, norm(&k[at], width));
  return 2 * 130 * 2 * rounding_f32 * largest_q * largest_k * score_scale;
}

/// Some queries of one head.
struct Queries {
  size_t batch, head, first, count;
};
Output attention_of(const SuiteInputs& in, const Queries& of) {
  const size_t queries = in.size("queries"), heads = in.size("heads"), kv_heads = in.size("kv_heads");
  const size_t all_keys = in.size("keys"), kv_head = of.batch * kv_heads + of.head / (heads / kv_heads);
  const bool causal = in.size("causal") != 0;
  // What the last of them sees; the others see one less each, as if there were no others.
  const size_t last = of.first + of.count + all_keys;
  const size_t keys = causal ? (last > queries ? std::min(all_keys, last - queries) : 0) : all_keys;
  const size_t start = ((of.batch * heads + of.head) * queries + of.first) * width;
  const Numbers q = in.values("q", start, of.count * width);
  const Numbers k = in.values("k", kv_head * all_keys * width, keys * width);
  const Numbers v = in.values("v", kv_head * all_keys * width, keys * width);
  // A weight is off by twice a score's error, and rounded to half precision. Weights add up to 1 or more and
  // values are at most 1, so that the result is never off by more; but weights are off either way, and many
  // of them make up for each other. Weights below half precision's least normal number are rounded to its
  // denormals or, on gfx90a, to 0, as are denormal inputs there.
  const bool flushes = in.target() == "gfx90a";
  const double flushed = flushes ? 4 * 6 * least_half : 0;
  const double weight = 2 * (score_error(q, k) + flushed * score_scale) + 2 * half_rounding;
  AttentionSpread spread;
  Output out{.buffer = "out",
             .values = attention({of.count, keys, width, score_scale, causal}, q, k, v, &spread),
             .relative = half_rounding * 1.01 + weight,
             .absolute = least_half * (flushes ? 1 : half_rounding),
             .own = Numbers(of.count * width),
             .indices = run_of(start, of.count * width)};
  for (size_t i = 0; i < out.own.size(); ++i) {
    const double small =
        flushes ? spread.small[i / width]
                : static_cast<double>(spread.small_count[i / width]) * least_half * half_rounding;
    out.own[i] = weight * std::min(1.0, 8 * spread.wander[i]) + small;
  }
  return out;
}
Expected attention_all(const SuiteInputs& in) {
  Expected expected;
  for (size_t batch = 0; batch < in.size("batch"); ++batch)
    for (size_t head = 0; head < in.size("heads"); ++head)
      expected.outputs.push_back(attention_of(in, {batch, head, 0, in.size("queries")}));
  return expected;
}
Sample attention_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t first = at[0] * 128, count = std::min<size_t>(128, in.size("queries") - first);
  return {{{attention_of(in, {at[2], at[1], first, count})}}};
}

/// A sequence's keys and values for one of its heads, from token `first` to `end` - 1.
struct Tokens {
  size_t count = 0;
  Numbers k, v;
};
Tokens tokens_of(const SuiteInputs& in, size_t sequence, size_t head, size_t first, size_t end) {
  const size_t kv_heads = in.size("kv_heads"), kv_head = head / (in.size("heads") / kv_heads);
  const Numbers table = in.values("tables", sequence * in.size("most_pages"), in.size("most_pages"));
  Tokens tokens{end - first, {}, {}};
  for (size_t token = first; token < end; ++token) {
    const size_t place = static_cast<size_t>(table[token / 16]) * 16 + token % 16;
    const size_t at = (place * kv_heads + kv_head) * width;
    const Numbers key = in.values("k", at, width), value = in.values("v", at, width);
    tokens.k.insert(tokens.k.end(), key.begin(), key.end());
    tokens.v.insert(tokens.v.end(), value.begin(), value.end());
  }
  return tokens;
}
size_t length_of(const SuiteInputs& in, size_t sequence) {
  return static_cast<size_t>(in.values("lengths", sequence, 1)[0]);
}

Expected paged_attention(const SuiteInputs& in) {
  const size_t heads = in.size("heads");
  // All in float, but for the result. A weight is corrected at most 16 + 16 + parts times.
  const double corrections = static_cast<double>(64 + in.size("most_parts")) * 4 * rounding_f32;
  Expected expected;
  for (size_t row = 0; row < in.size("sequences") * heads; ++row) {
    const Tokens tokens = tokens_of(in, row / heads, row % heads, 0, length_of(in, row / heads));
    const Numbers q = in.values("q", row * width, width);
    expected.outputs.push_back(
        {.buffer = "out",
         .values = attention({1, tokens.count, width, score_scale, false}, q, tokens.k, tokens.v),
         .relative = half_rounding * 1.01,
         .absolute = 2 * score_error(q, tokens.k) + corrections + least_half * half_rounding,
         .indices = run_of(row * width, width)});
  }
  return expected;
}
/// 256 tokens of one head: the sum of weighted values, the largest score (for exponents of 2) and the sum of
/// weights. Behind the sequence's end nothing is written.
Sample paged_attention_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t length = length_of(in, at[2]), first = at[0] * 256, row = at[2] * in.size("heads") + at[1];
  if (first >= length) return {};
  const Tokens tokens = tokens_of(in, at[2], at[1], first, std::min(first + 256, length));
  const Numbers q = in.values("q", row * width, width);
  Numbers scores(tokens.count), sums(width + 2);
  for (size_t t = 0; t < tokens.count; ++t)
    scores[t] = std::inner_product(q.begin(), q.end(), &tokens.k[t * width], 0.0) * score_scale;
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (size_t t = 0; t < tokens.count; ++t) {
    const double weight = std::exp(scores[t] - largest);
    for (size_t i = 0; i < width; ++i) sums[i] += weight * tokens.v[t * width + i];
    sums[width + 1] += weight;
  }
  sums[width] = largest * std::log2(std::exp(1.0));
  // Values are at most 1. A weight goes through fewer than 64 corrections and additions.
  const double score = score_error(q, tokens.k),
               weights = (2 * score + 64 * 4 * rounding_f32) * sums[width + 1];
  Numbers own(width + 2, weights);
  own[width] = 1.5 * score + few * std::abs(sums[width]);
  return {{{{.buffer = "parts",
             .values = std::move(sums),
             .own = std::move(own),
             .indices = run_of((row * in.size("most_parts") + at[0]) * (width + 2), width + 2)}}}};
}

/// Some heads of all tokens' heads in order.
Output rope_of(const SuiteInputs& in, size_t first, size_t count) {
  const size_t heads = in.size("heads");
  Numbers x = in.values("x", first * width, count * width);
  for (size_t row = 0; row < count; ++row) {
    const auto position = static_cast<size_t>(in.values("position", (first + row) / heads, 1)[0]);
    const Numbers table = in.values("table", position * width, width);
    for (size_t i = row * width; i < row * width + 64; ++i) {
      const double a = x[i], b = x[i + 64], cosine = table[i % 64], sine = table[i % 64 + 64];
      x[i] = a * cosine - b * sine;
      x[i + 64] = b * cosine + a * sine;
    }
  }
  // Two products of at most 2, in float, rounded to half precision.
  return {.buffer = "x",
          .values = std::move(x),
          .relative = half_rounding * 1.01,
          .absolute = 12 * rounding_f32 + least_half * half_rounding,
          .indices = run_of(first * width, count * width)};
}
Expected rope_all(const SuiteInputs& in) {
  return {{rope_of(in, 0, in.size("tokens * heads"))}};
}
Sample rope_part(const SuiteInputs& in, const Workgroup& at) {
  return {{{rope_of(in, at[0] * 32, std::min<size_t>(32, in.size("tokens * heads") - at[0] * 32))}}};
}

Expected layernorm_residual(const SuiteInputs& in, size_t first, size_t rows) {
  const size_t n = in.size("n");
  const Numbers x = in.values("x", first * n, rows * n), gamma = in.values("gamma"), beta = in.values("beta");
  Numbers sums = in.values("residual", first * n, rows * n), out(sums.size());
  for (size_t i = 0; i < x.size(); ++i) sums[i] += x[i];
  for (size_t start = 0; start < x.size(); start += n) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; ++i) mean += sums[start + i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      variance += (sums[start + i] - mean) * (sums[start + i] - mean) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      out[start + i] = (sums[start + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
  }
  // Sums in float have fewer than 64 roundings one behind another; numbers are below 16.
  return {{{.buffer = "residual",
            .values = std::move(sums),
            .relative = half_rounding * 1.01,
            .absolute = 8 * rounding_f32 + least_half * half_rounding,
            .indices = run_of(first * n, rows * n)},
           {.buffer = "out",
            .values = std::move(out),
            .relative = half_rounding * 1.01,
            .absolute = 16 * 64 * rounding_f32 + least_half * half_rounding,
            .indices = run_of(first * n, rows * n)}}};
}
Expected layernorm_residual_all(const SuiteInputs& in) {
  return layernorm_residual(in, 0, in.size("rows"));
}
Sample layernorm_residual_part(const SuiteInputs& in, const Workgroup& at) {
  return {layernorm_residual(in, at[0], 1)};
}

Expected moe_topk(const SuiteInputs& in, size_t first, size_t tokens) {
  const size_t experts = in.size("experts"), chosen = in.size("chosen");
  const Numbers scores = in.values("scores", first * experts, tokens * experts);
  // The exponent, at most 41 * log2(e), is rounded twice before it is one.
  Output expert{.buffer = "expert", .values = {}, .indices = run_of(first * chosen, tokens * chosen)};
  Output weight{.buffer = "weight",
                .values = {},
                .relative = (41 * 4 + 16) * rounding_f32,
                .indices = run_of(first * chosen, tokens * chosen)};
  bool ties = false;
  for (size_t token = 0; token < tokens; ++token) {
    std::vector<size_t> order(experts);
    std::iota(order.begin(), order.end(), size_t{0});
    const double* row = &scores[token * experts];
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    double total = 0;
    for (size_t c = 0; c < chosen; ++c) total += std::exp(row[order[c]] - row[order[0]]);
    for (size_t c = 0; c < chosen; ++c) {
      ties |= c > 0 && row[order[c]] == row[order[c - 1]];
      expert.values.push_back(static_cast<double>(order[c]));
      weight.values.push_back(std::exp(row[order[c]] - row[order[0]]) / total);
    }
  }
  Expected expected{{std::move(expert), std::move(weight)}};
  if (!ties) expected.doubts.emplace_back("no two experts that are chosen have the same score");
  return expected;
}
Expected moe_topk_all(const SuiteInputs& in) {
  return moe_topk(in, 0, in.size("tokens"));
}
Sample moe_topk_part(const SuiteInputs& in, const Workgroup& at) {
  return {moe_topk(in, at[0] * 4, std::min<size_t>(4, in.size("tokens") - at[0] * 4))};
}

} // namespace

std::vector<SuiteKernel> llm_kernels() {
  return {
      {"llm_attention", "attention_forward", attention_all, attention_part},
      {"llm_paged_attention", "paged_attention_part", paged_attention, paged_attention_part},
      {"llm_rope", "rope", rope_all, rope_part},
      {"llm_layernorm_residual", "layernorm_residual", layernorm_residual_all, layernorm_residual_part},
      {"llm_moe_topk", "moe_topk", moe_topk_all, moe_topk_part},
  };
}

} // namespace asmevo::reference
