// What the references of AITer's attention kernels share. For the files of kernels/reference/ only.
#pragma once

#include "reference/aiter_parts.h"
#include "reference/attention.h"

namespace asmevo::reference {

/// Where a head's rows are in [tokens][heads][width], which begins at element `first` of a buffer.
struct HeadPlace {
  size_t first, tokens, heads, head, width;

  Numbers values(const SuiteInputs& in, const std::string& buffer) const {
    const Numbers all = in.values(buffer, first, tokens * heads * width);
    Numbers rows(tokens * width);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = all[(i / width * heads + head) * width + i % width];
    return rows;
  }
  std::vector<size_t> indices() const {
    std::vector<size_t> list(tokens * width);
    for (size_t i = 0; i < list.size(); ++i) list[i] = first + (i / width * heads + head) * width + i % width;
    return list;
  }
};

/// A head's keys and values, token by token.
struct Tokens {
  size_t count = 0;
  Numbers k, v;
};

/// Relative roundings: of a weight before it is multiplied with a value, and of a result.
struct AttentionErrors {
  double weight, result;
};

/// The largest root of the sum of squares of a score's products.
inline double score_wander(const Attention& size, const Numbers& q, const Numbers& k) {
  double most = 0;
  for (size_t i = 0; i < size.queries; ++i)
    for (size_t j = 0; j < size.keys; ++j) {
      double squares = 0;
      for (size_t d = 0; d < size.width; ++d) {
        const double product = q[i * size.width + d] * k[j * size.width + d];
        squares += product * product;
      }
      most = std::max(most, squares);
    }
  return std::sqrt(most) * size.scale;
}

/// The queries of one head: their results, and the logarithms of their sums of weights. Weights are rounded
/// independently of each other, so that results are off like a sum that wanders about zero; `own` takes five
/// times the usual. What a score is off changes its weight by as much.
struct AttentionOutputs {
  Output out, log_sum;
};
inline AttentionOutputs attention_outputs(const Attention& size, const Numbers& q, const Tokens& tokens,
                                          const AttentionErrors& errors) {
  AttentionSpread spread;
  Numbers values = attention(size, q, tokens.k, tokens.v, &spread);
  const double wander = score_wander(size, q, tokens.k);
  const double sum = step_error * static_cast<double>(size.width) * 4 * wander; // a score's error
  AttentionOutputs outputs{
      {.buffer = "out",
       .values = std::move(values),
       .relative = errors.result * 1.01 + 2 * sum,
       .own = std::move(spread.wander)},
      {.buffer = "lse", .values = std::move(spread.log_sum), .relative = few, .absolute = sum / 16 + few}};
  for (double& own : outputs.out.own) own *= 2.5 * (errors.weight + sum);
  return outputs;
}

} // namespace asmevo::reference
