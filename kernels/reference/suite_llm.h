// Kernels of language models in double precision: plain and slow. Matrices are row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace asmevo::reference {

/// Sums of products, and of each what a float result's error grows with: the sum of magnitudes, and the root
/// of the sum of squares, which is how far a sum wanders on its way.
struct Measured {
  std::vector<double> values, magnitudes, wander;
};

/// x * w^T of [m][k] and [n][k]; `factor(i, j, l)` is what the product x[i][l] * w[j][l] is multiplied with.
template <class Factor>
Measured scaled_product(size_t m, size_t n, size_t k, const std::vector<double>& x,
                        const std::vector<double>& w, const Factor& factor) {
  Measured p{std::vector<double>(m * n), std::vector<double>(m * n), std::vector<double>(m * n)};
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0, squares = 0;
      for (size_t l = 0; l < k; ++l) {
        const double product = x[i * k + l] * w[j * k + l] * factor(i, j, l);
        sum += product;
        magnitude += std::abs(product);
        squares += product * product;
      }
      p.values[i * n + j] = sum;
      p.magnitudes[i * n + j] = magnitude;
      p.wander[i * n + j] = std::sqrt(squares);
    }
  return p;
}

inline double norm(const double* first, size_t count) {
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += first[i] * first[i];
  return std::sqrt(squares);
}

} // namespace asmevo::reference
