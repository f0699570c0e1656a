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

inline std::vector<double> attention(const Attention& size, const std::vector<double>& q,
                                     const std::vector<double>& k, const std::vector<double>& v) {
  std::vector<double> out(size.queries * size.width, 0.0), scores(size.keys);
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
    for (size_t j = 0; j < seen; ++j)
      for (size_t d = 0; d < size.width; ++d)
        out[i * size.width + d] += std::exp(scores[j] - most) / total * v[j * size.width + d];
  }
  return out;
}

} // namespace asmevo::reference
