// Kernels of language models that are no plain matrix products.
#include "reference/attention.h"
#include "reference/suite_llm.h"
#include "suite/suite_fixture.h"

#include <functional>

namespace asmevo::suite {
namespace {

using Numbers = std::vector<double>;

constexpr double epsilon = 0x1p-24, half_rounding = 0x1p-11, least_half = 0x1p-14;

void on_all(const std::string& name, const std::function<void(const SuiteRun&, bool flushes)>& check) {
  on(name, all_targets,
     [&](const SuiteRun& run, const Place& place) { check(run, std::string(place.target) == "gfx90a"); });
}

Numbers part(const Numbers& all, size_t first, size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// What the buffers that a kernel changes hold at first: -2 and 509 steps of 1/128, over and over.
double steps(size_t index) {
  return -2 + static_cast<double>(index % 509) / 128;
}

/// The most that scores of 128 products can be off, by the Cauchy-Schwarz inequality for their magnitudes: as
/// float sums, and by what the matrix cores cut.
double score_error(const Numbers& q, const Numbers& k) {
  double largest_q = 0, largest_k = 0; // of a row, by the Euclidean norm
  for (size_t at = 0; at < q.size(); at += 128) largest_q = std::max(largest_q, reference::norm(&q[at], 128));
  for (size_t at = 0; at < k.size(); at += 128) largest_k = std::max(largest_k, reference::norm(&k[at], 128));
  return 2 * 130 * 2 * epsilon * largest_q * largest_k / std::sqrt(128.0);
}

TEST(Llm, Attention) {
  on_all("llm_attention", [](const SuiteRun& run, bool flushes) {
    const Numbers q = run.values("q"), k = run.values("k"), v = run.values("v");
    const reference::Attention size{run.size("queries"), run.size("keys"), 128, 1 / std::sqrt(128.0),
                                    run.size("causal") != 0};
    const size_t heads = run.size("heads"), kv_heads = run.size("kv_heads");
    Numbers expected;
    for (size_t head = 0; head < run.size("batch") * heads; ++head) {
      const size_t kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);
      const Numbers own = reference::attention(size, part(q, head * size.queries * 128, size.queries * 128),
                                               part(k, kv_head * size.keys * 128, size.keys * 128),
                                               part(v, kv_head * size.keys * 128, size.keys * 128));
      expected.insert(expected.end(), own.begin(), own.end());
    }
    // Weights add up to 1 or more and values are at most 1: a weight's relative error (twice a score's, and a
    // rounding to half precision) is the result's absolute one; weights below half precision's least normal
    // number are rounded to its denormals or, on gfx90a, to 0.
    const double lost = static_cast<double>(size.keys) * (flushes ? least_half : least_half * half_rounding);
    expect_close(run, "out", expected, half_rounding * 1.01,
                 2 * score_error(q, k) + 2 * half_rounding + lost);
  });
}

TEST(Llm, PagedAttention) {
  on_all("llm_paged_attention", [](const SuiteRun& run, bool) {
    const Numbers q = run.values("q"), k = run.values("k"), v = run.values("v"),
                  tables = run.values("tables"), lengths = run.values("lengths");
    const size_t heads = run.size("heads"), kv_heads = run.size("kv_heads"), pages = run.size("most_pages");
    Numbers expected;
    for (size_t row = 0; row < run.size("sequences") * heads; ++row) {
      const auto length = static_cast<size_t>(lengths[row / heads]);
      const size_t kv_head = row % heads / (heads / kv_heads);
      Numbers keys, values;
      for (size_t token = 0; token < length; ++token) {
        const auto page = static_cast<size_t>(tables[row / heads * pages + token / 16]);
        const size_t at = ((page * 16 + token % 16) * kv_heads + kv_head) * 128;
        const Numbers key = part(k, at, 128), value = part(v, at, 128);
        keys.insert(keys.end(), key.begin(), key.end());
        values.insert(values.end(), value.begin(), value.end());
      }
      const Numbers own = reference::attention({1, length, 128, 1 / std::sqrt(128.0), false},
                                               part(q, row * 128, 128), keys, values);
      expected.insert(expected.end(), own.begin(), own.end());
    }
    // All in float, but for the result. A weight is corrected at most 16 + 16 + parts times.
    const double corrections = static_cast<double>(64 + run.size("most_parts")) * 4 * epsilon;
    expect_close(run, "out", expected, half_rounding * 1.01,
                 2 * score_error(q, k) + corrections + least_half * half_rounding);
  });
}

TEST(Llm, Rope) {
  on_all("llm_rope", [](const SuiteRun& run, bool) {
    const Numbers positions = run.values("position"), table = run.values("table");
    const size_t heads = run.size("heads"), rows = run.size("tokens") * heads;
    Numbers expected(rows * 128);
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < 64; ++i) {
        const size_t angle = static_cast<size_t>(positions[row / heads]) * 128 + i;
        const double a = steps(row * 128 + i), b = steps(row * 128 + 64 + i);
        expected[row * 128 + i] = a * table[angle] - b * table[angle + 64];
        expected[row * 128 + 64 + i] = b * table[angle] + a * table[angle + 64];
      }
    // Two products of at most 2, in float, rounded to half precision.
    expect_close(run, "x", expected, half_rounding * 1.01, 12 * epsilon + least_half * half_rounding);
  });
}

TEST(Llm, LayernormResidual) {
  on_all("llm_layernorm_residual", [](const SuiteRun& run, bool) {
    const Numbers x = run.values("x"), gamma = run.values("gamma"), beta = run.values("beta");
    const size_t n = run.size("n");
    Numbers sums(x.size()), out(x.size());
    for (size_t i = 0; i < x.size(); ++i) sums[i] = x[i] + steps(i);
    for (size_t first = 0; first < x.size(); first += n) {
      double mean = 0, variance = 0;
      for (size_t i = 0; i < n; ++i) mean += sums[first + i] / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i)
        variance += (sums[first + i] - mean) * (sums[first + i] - mean) / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i)
        out[first + i] = (sums[first + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
    }
    expect_close(run, "residual", sums, half_rounding * 1.01, 8 * epsilon + least_half * half_rounding);
    // Sums in float have fewer than 64 roundings one behind another; numbers are below 16.
    expect_close(run, "out", out, half_rounding * 1.01, 16 * 64 * epsilon + least_half * half_rounding);
  });
}

TEST(Llm, MoeTopk) {
  on_all("llm_moe_topk", [](const SuiteRun& run, bool) {
    const Numbers scores = run.values("scores");
    const size_t experts = run.size("experts"), chosen = run.size("chosen");
    Numbers expected_experts, weights;
    bool ties = false;
    for (size_t token = 0; token < run.size("tokens"); ++token) {
      std::vector<size_t> order(experts);
      for (size_t e = 0; e < experts; ++e) order[e] = e;
      const double* row = &scores[token * experts];
      std::sort(order.begin(), order.end(),
                [&](size_t a, size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
      double total = 0;
      for (size_t c = 0; c < chosen; ++c) total += std::exp(row[order[c]] - row[order[0]]);
      for (size_t c = 0; c < chosen; ++c) {
        ties |= c > 0 && row[order[c]] == row[order[c - 1]];
        expected_experts.push_back(static_cast<double>(order[c]));
        weights.push_back(std::exp(row[order[c]] - row[order[0]]) / total);
      }
    }
    EXPECT_TRUE(ties);
    expect_close(run, "expert", expected_experts, 0);
    // The exponent, at most 41 * log2(e), is rounded twice before it is one.
    expect_close(run, "weight", weights, 41 * 4 * epsilon + 16 * epsilon);
  });
}

} // namespace
} // namespace asmevo::suite
