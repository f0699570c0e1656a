// softmax(Q * K^T * scale) * V for one head, in double precision: samples/attention.hip.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace asmevo::reference {

struct Attention {
  size_t queries, keys, width;
  double scale;
  bool causal;
};

/// `wander`, if it is asked for: of each result the root of the sum of squares of what it is a sum of, which
/// is what independent relative errors of the weights grow with.
inline std::vector<double> attention(const Attention& size, const std::vector<double>& q,
                                     const std::vector<double>& k, const std::vector<double>& v,
                                     std::vector<double>* wander = nullptr) {
  std::vector<double> out(size.queries * size.width, 0.0), scores(size.keys);
  if (wander != nullptr) wander->assign(out.size(), 0.0);
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
    for (size_t j = 0; j < seen; ++j) {
      const double weight = std::exp(scores[j] - most) / total;
      for (size_t d = 0; d < size.width; ++d) {
        const double product = weight * v[j * size.width + d];
        out[i * size.width + d] += product;
        if (wander != nullptr) (*wander)[i * size.width + d] += product * product;
      }
    }
  }
  if (wander != nullptr)
    for (double& squares : *wander) squares = std::sqrt(squares);
  return out;
}

} // namespace asmevo::reference
