// AITer's gradients of attention, and what goes before and after them.
#include "reference/aiter_attention.h"

namespace asmevo::reference {

namespace {

constexpr size_t width = 128;

/// Of a sum: its value, and the root of the sum of squares of what it is a sum of.
struct Sums {
  Numbers values, squares;

  explicit Sums(size_t count) : values(count), squares(count) {}
  void add(size_t at, double product) {
    values[at] += product;
    squares[at] += product * product;
  }
  /// `rounding`: of each factor that was rounded, either way.
  Output output(std::string buffer, double rounding, double of_result, std::vector<size_t> indices) const {
    Output out{.buffer = std::move(buffer),
               .values = values,
               .relative = of_result * 1.01,
               .own = squares,
               .indices = std::move(indices)};
    for (double& own : out.own) own = 2.5 * rounding * std::sqrt(own);
    return out;
  }
};

struct Head {
  size_t queries, keys;
  Numbers q, k, v, d_out, lse, d;
  bool causal;
};

/// With the weights P = exp(scale * QK^T - lse) and their gradients dS = P * (dO V^T - d): dV = P^T dO,
/// dK = scale * dS^T Q, dQ = scale * dS K. P and dS are rounded to bf16; dS is off, too, by what its scores
/// are.
void add_gradients(Expected& expected, const Head& of, size_t dq_first,
                   const std::vector<size_t>& key_indices) {
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  Sums dq(of.queries * width), dk(of.keys * width), dv(of.keys * width);
  for (size_t i = 0; i < of.queries; ++i)
    for (size_t j = 0; j < (of.causal ? std::min(i + 1, of.keys) : of.keys); ++j) {
      double score = 0, gradient = 0;
      for (size_t x = 0; x < width; ++x) {
        score += of.q[i * width + x] * of.k[j * width + x];
        gradient += of.d_out[i * width + x] * of.v[j * width + x];
      }
      const double weight = std::exp(score * scale - of.lse[i]), ds = weight * (gradient - of.d[i]) * scale;
      for (size_t x = 0; x < width; ++x) {
        dv.add(j * width + x, weight * of.d_out[i * width + x]);
        dk.add(j * width + x, ds * of.q[i * width + x]);
        dq.add(i * width + x, ds * of.k[j * width + x]);
      }
    }
  expected.outputs.push_back(
      dq.output("dq_sums", bfloat_rounding, few, run_of(dq_first, of.queries * width)));
  expected.outputs.push_back(dk.output("dk", bfloat_rounding, bfloat_rounding, key_indices));
  expected.outputs.push_back(dv.output("dv", bfloat_rounding, bfloat_rounding, key_indices));
}

Expected gradients(const SuiteInputs& in) {
  const size_t queries = in.size("queries"), keys = in.size("keys"), heads = in.size("heads"),
               kv_heads = in.size("kv_heads");
  Expected expected;
  for (size_t batch = 0; batch < in.size("batch"); ++batch)
    for (size_t head = 0; head < heads; ++head) {
      const HeadPlace by_query{batch * queries * heads * width, queries, heads, head, width};
      const HeadPlace by_key{batch * keys * kv_heads * width, keys, kv_heads, head / (heads / kv_heads),
                             width};
      const size_t row = (batch * heads + head) * queries;
      add_gradients(expected,
                    {queries, keys, by_query.values(in, "q"), by_key.values(in, "k"), by_key.values(in, "v"),
                     by_query.values(in, "d_out"), in.values("lse", row, queries),
                     in.values("d", row, queries), in.size("causal") != 0},
                    row * width, HeadPlace{batch * keys * heads * width, keys, heads, head, width}.indices());
    }
  return expected;
}

/// Sums of out * d_out, in float.
Expected products(const SuiteInputs& in) {
  const size_t queries = in.size("queries"), heads = in.size("heads");
  const Numbers out = in.values("out"), d_out = in.values("d_out");
  Output d{.buffer = "d",
           .values = Numbers(out.size() / width),
           .relative = few,
           .own = Numbers(out.size() / width)};
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t head = i / width % heads, query = i / width / heads % queries,
                 batch = i / width / heads / queries;
    const size_t at = (batch * heads + head) * queries + query;
    d.values[at] += out[i] * d_out[i];
    d.own[at] += few * std::abs(out[i] * d_out[i]);
  }
  return {{std::move(d)}};
}

Expected converted(const SuiteInputs& in) {
  const size_t queries = in.size("queries"), heads = in.size("heads");
  const Numbers sums = in.values("dq_sums");
  Output dq{.buffer = "dq", .values = Numbers(sums.size())}; // exactly
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t query = i / width % queries, head = i / width / queries % heads,
                 batch = i / width / queries / heads;
    dq.values[((batch * queries + query) * heads + head) * width + i % width] = rounded(bf16, sums[i]);
  }
  return {{std::move(dq)}};
}

} // namespace

std::vector<AiterKernel> aiter_backward_kernels() {
  const std::string object = "gfx942/fmha_v3_bwd/bwd_hd128_";
  const std::vector<std::string> shapes = {"tiny", "odd", "search"};
  return {
      {"fmha_bwd_odo", object + "odo_bf16.co", "fmha_bwd_odo", products, shapes},
      {"fmha_bwd_bf16", object + "bf16_a32_rtne.co", "fmha_bwd_bf16", gradients, {"tiny", "search"}},
      {"fmha_bwd_bf16_causal",
       object + "bf16_causal_a32_rtne.co",
       "fmha_bwd_bf16",
       gradients,
       {"causal.tiny", "causal.search"}},
      {"fmha_bwd_bf16_padded",
       object + "bf16_a32_rtne_psskddv.co",
       "fmha_bwd_bf16",
       gradients,
       {"padded.tiny", "padded.odd"}},
      {"fmha_bwd_bf16_causal_padded",
       object + "bf16_causal_a32_rtne_psskddv.co",
       "fmha_bwd_bf16",
       gradients,
       {"padded_causal.odd"}},
      {"fmha_bwd_dq_convert", object + "dq_convert_bf16_rtne.co", "fmha_bwd_dq_convert", converted, shapes},
  };
}

} // namespace asmevo::reference
