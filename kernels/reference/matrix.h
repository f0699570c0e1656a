// D = A * B + C in double precision, with the size of what was added: the measure of a float result's error.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace asmevo::reference {

struct Product {
  std::vector<double> values, magnitudes; // magnitudes: sum of |a * b|, plus |c|
};

/// A is [blocks][m][k], B is [blocks][n][k], C is [blocks][m][n]. Each step is a fused multiply-add, k
/// ascending.
inline Product product(size_t blocks, size_t m, size_t n, size_t k, const std::vector<double>& a,
                       const std::vector<double>& b, const std::vector<double>& c) {
  Product p{c, std::vector<double>(c.size())};
  for (size_t block = 0; block < blocks; ++block)
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        const size_t at = (block * m + i) * n + j;
        p.magnitudes[at] = std::abs(c[at]);
        for (size_t x = 0; x < k; ++x) {
          const double left = a[(block * m + i) * k + x], right = b[(block * n + j) * k + x];
          p.values[at] = std::fma(left, right, p.values[at]);
          p.magnitudes[at] += std::abs(left * right);
        }
      }
  return p;
}

} // namespace asmevo::reference
