// Kernels of language models in double precision: plain and slow. Matrices are row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace asmevo::reference {

/// Values, and of each the sum of the magnitudes it is made of: what a float result's error grows with.
struct Measured {
  std::vector<double> values, magnitudes;
};

/// x * w^T of [m][k] and [n][k]; `factor(i, j, l)` is what the product x[i][l] * w[j][l] is multiplied with.
template <class Factor>
Measured scaled_product(size_t m, size_t n, size_t k, const std::vector<double>& x,
                        const std::vector<double>& w, const Factor& factor) {
  Measured p{std::vector<double>(m * n), std::vector<double>(m * n)};
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < k; ++l) {
        const double product = x[i * k + l] * w[j * k + l] * factor(i, j, l);
        p.values[i * n + j] += product;
        p.magnitudes[i * n + j] += std::abs(product);
      }
  return p;
}

inline double norm(const double* first, size_t count) {
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += first[i] * first[i];
  return std::sqrt(squares);
}

} // namespace asmevo::reference
