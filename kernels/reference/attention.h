// softmax(Q * K^T * scale) * V for one head, in double precision: samples/attention.hip.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace asmevo::reference {

struct Attention {
  size_t queries, keys, width;
  double scale;
  bool causal;
  size_t value_width = 0; // 0: as of the queries and keys
};

/// What errors of the results grow with.
struct AttentionSpread {
  /// Of each result the root of the sum of squares of what it is a sum of: for errors of weights that are
  /// relative and independent of each other.
  std::vector<double> wander;
  /// Of each query the weights that are less than 2^-13 of its largest: their sum, and how many there are.
  std::vector<double> small;
  std::vector<size_t> small_count;
  /// Of each query the logarithm of the sum of its scores' exponentials.
  std::vector<double> log_sum;
};

inline std::vector<double> attention(const Attention& size, const std::vector<double>& q,
                                     const std::vector<double>& k, const std::vector<double>& v,
                                     AttentionSpread* spread = nullptr) {
  const size_t value_width = size.value_width != 0 ? size.value_width : size.width;
  std::vector<double> out(size.queries * value_width, 0.0), scores(size.keys);
  if (spread != nullptr)
    *spread = {std::vector<double>(out.size()), std::vector<double>(size.queries),
               std::vector<size_t>(size.queries), std::vector<double>(size.queries)};
  for (size_t i = 0; i < size.queries; ++i) {
    size_t seen = size.keys;
    if (size.causal)
      seen = i + size.keys + 1 > size.queries ? std::min(size.keys, i + size.keys + 1 - size.queries) : 0;
    double most = -INFINITY, total = 0;
    for (size_t j = 0; j < seen; ++j) {
      scores[j] = 0;
      for (size_t d = 0; d < size.width; ++d) scores[j] += q[i * size.width + d] * k[j * size.width + d];
      scores[j] *= size.scale;
      most = std::max(most, scores[j]);
    }
    for (size_t j = 0; j < seen; ++j) total += std::exp(scores[j] - most);
    if (spread != nullptr) spread->log_sum[i] = most + std::log(total);
    for (size_t j = 0; j < seen; ++j) {
      const double weight = std::exp(scores[j] - most) / total;
      for (size_t d = 0; d < value_width; ++d) {
        const double product = weight * v[j * value_width + d];
        out[i * value_width + d] += product;
        if (spread != nullptr) spread->wander[i * value_width + d] += product * product;
      }
      if (spread == nullptr || weight * total >= 0x1p-13) continue;
      spread->small[i] += weight;
      ++spread->small_count[i];
    }
  }
  if (spread != nullptr)
    for (double& squares : spread->wander) squares = std::sqrt(squares);
  return out;
}

} // namespace asmevo::reference
