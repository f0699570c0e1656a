// KernelBench's level 2 in double precision: plain and slow. Matrices and images are row by row.
#pragma once

#include "reference/suite.h"

#include <algorithm>
#include <cmath>

namespace asmevo::reference {

struct MatrixSizes {
  size_t m, n, k;
};

/// Sums of products, and of all of them the most that the error of a float result grows with: the sum of
/// magnitudes, the root of the sum of squares, which is how far a sum wanders on its way, and the result.
struct Linear {
  Numbers values;
  double magnitude = 0, wander = 0, largest = 0;

  void set(size_t at, double sum, double magnitudes, double squares) {
    values[at] = sum;
    magnitude = std::max(magnitude, magnitudes);
    wander = std::max(wander, std::sqrt(squares));
    largest = std::max(largest, std::abs(sum));
  }
  /// How far a float sum of `count` products can be off: each addition rounds what there is by then. That is
  /// never more than count + 2 roundings of the sum of magnitudes; but roundings go either way, so that
  /// eight times the root of their number, of sums that do not wander off by more than four times what is
  /// usual, is as good a bound, and of a thousand products a much closer one.
  double error(size_t count) const {
    const double n = static_cast<double>(count + 2);
    return 0x1p-24 * std::min(n * magnitude, 8 * std::sqrt(n) * (largest + 4 * wander));
  }
};
/// x * w^T + b.
inline Linear linear(const MatrixSizes& s, const Numbers& x, const Numbers& w, const Numbers& b) {
  Linear z{Numbers(s.m * s.n)};
  for (size_t i = 0; i < s.m; ++i)
    for (size_t j = 0; j < s.n; ++j) {
      double sum = b[j], magnitude = std::abs(b[j]), squares = b[j] * b[j];
      for (size_t k = 0; k < s.k; ++k) {
        const double product = x[i * s.k + k] * w[j * s.k + k];
        sum += product;
        magnitude += std::abs(product);
        squares += product * product;
      }
      z.set(i * s.n + j, sum, magnitude, squares);
    }
  return z;
}

inline double sigmoid(double z) {
  return 1 / (1 + std::exp(-z));
}
inline double swish(double z) {
  return z * sigmoid(z);
}
inline double gelu(double z) {
  return z / 2 * (1 + std::erf(z / std::sqrt(2.0)));
}

/// A run of numbers to mean 0 and variance 1 (of all of them, plus 1e-5). Returns what it was multiplied
/// with.
inline double normalise(double* first, size_t count) {
  double mean = 0, variance = 0;
  for (size_t i = 0; i < count; ++i) mean += first[i];
  mean /= static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) variance += (first[i] - mean) * (first[i] - mean);
  const double scale = 1 / std::sqrt(variance / static_cast<double>(count) + 1e-5);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    first[i] = (first[i] - mean) * scale;
    largest = std::max(largest, std::abs(first[i]));
  }
  return scale * (2 + largest);
}

/// Rows of n in groups of `width` neighbours, then gamma and beta a column. Returns the most of normalise().
inline double group_norm(Numbers& z, size_t n, size_t width, const Numbers& gamma, const Numbers& beta) {
  double largest = 0;
  for (size_t at = 0; at < z.size(); at += width) largest = std::max(largest, normalise(&z[at], width));
  for (size_t i = 0; i < z.size(); ++i) z[i] = z[i] * gamma[i % n] + beta[i % n];
  return largest;
}

/// Columns of an [m][n] matrix, then gamma and beta a column. Returns the most of normalise().
inline double batch_norm(Numbers& z, size_t n, const Numbers& gamma, const Numbers& beta) {
  const size_t m = z.size() / n;
  double largest = 0;
  Numbers column(m);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < m; ++i) column[i] = z[i * n + j];
    largest = std::max(largest, normalise(column.data(), m));
    for (size_t i = 0; i < m; ++i) z[i * n + j] = column[i] * gamma[j] + beta[j];
  }
  return largest;
}

inline void softmax(double* first, size_t count) {
  const double most = *std::max_element(first, first + count);
  double total = 0;
  for (size_t i = 0; i < count; ++i) total += first[i] = std::exp(first[i] - most);
  for (size_t i = 0; i < count; ++i) first[i] /= total;
}

} // namespace asmevo::reference
