// AITer's choice of experts: the largest probabilities of each token, and whose they are.
#include "reference/aiter_parts.h"

#include <numeric>

namespace asmevo::reference {

namespace {

/// Weights are compared place by place, the kernel sorts them. Scores are within 6 deviations of 0: the
/// exponents are rounded once or twice before they are ones.
Expected topk_softmax(const SuiteInputs& in) {
  const size_t experts = in.size("experts"), chosen = in.size("chosen"), tokens = in.size("tokens");
  const bool renormalize = in.size("renormalize") != 0;
  const Numbers scores = in.values("scores");
  Output expert{.buffer = "expert", .values = {}};
  Output weight{.buffer = "weight", .values = {}, .relative = (12 * 4 + 16) * rounding_f32};
  for (size_t token = 0; token < tokens; ++token) {
    const double* row = &scores[token * experts];
    std::vector<size_t> order(experts);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    double total = 0;
    for (size_t i = 0; i < (renormalize ? chosen : experts); ++i)
      total += std::exp(row[order[i]] - row[order[0]]);
    for (size_t i = 0; i < chosen; ++i) {
      expert.values.push_back(static_cast<double>(order[i]));
      weight.values.push_back(std::exp(row[order[i]] - row[order[0]]) / total);
    }
  }
  return {{std::move(expert), std::move(weight)}};
}

} // namespace

std::vector<AiterKernel> aiter_topk_kernels() {
  const std::string object = "gfx942/topksoftmax/topksoftmax_";
  return {
      {"topk_softmax_4x128x4",
       object + "4x128x4.co",
       "topk_softmax",
       topk_softmax,
       {"tiny", "odd", "plain", "search"}},
      {"topk_softmax_12x256x8", object + "12x256x8.co", "topk_softmax", topk_softmax, {"large.odd"}},
  };
}

} // namespace asmevo::reference
