// What the level 1 kernels of the suite compute, in double precision and written as the definition reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace asmevo::reference {

using Values = std::vector<double>;

/// f(x) for each element.
template <class F>
Values map(const Values& x, F f) {
  Values y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), f);
  return y;
}

inline double new_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// x [planes][height][width], w [channels][3][3].
inline Values depthwise_conv(const Values& x, const Values& w, size_t planes, size_t channels, size_t height,
                             size_t width) {
  Values y;
  for (size_t plane = 0; plane < planes; ++plane)
    for (size_t i = 0; i + 2 < height; ++i)
      for (size_t j = 0; j + 2 < width; ++j) {
        double sum = 0;
        for (size_t u = 0; u < 3; ++u)
          for (size_t v = 0; v < 3; ++v)
            sum += x[(plane * height + i + u) * width + j + v] * w[(plane % channels * 3 + u) * 3 + v];
        y.push_back(sum);
      }
  return y;
}

/// Over the middle dimension of x [batch][channels][pixels].
inline Values rms_norm(const Values& x, size_t batch, size_t channels, size_t pixels, double epsilon) {
  Values y(x.size());
  for (size_t n = 0; n < batch; ++n)
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      const size_t start = n * channels * pixels + pixel;
      double sum = 0;
      for (size_t c = 0; c < channels; ++c) sum += x[start + c * pixels] * x[start + c * pixels];
      const double root = std::sqrt(sum / static_cast<double>(channels) + epsilon);
      for (size_t c = 0; c < channels; ++c) y[start + c * pixels] = x[start + c * pixels] / root;
    }
  return y;
}

/// C [m][n] = A [m][k] * B [k][n].
inline Values matmul(const Values& a, const Values& b, size_t m, size_t n, size_t k) {
  Values c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t at = 0; at < k; ++at)
      for (size_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + at] * b[at * n + j];
  return c;
}

/// [n][n] row by row, with what lies below the diagonal cleared.
inline Values upper(Values a, size_t n) {
  for (size_t i = 0; i < n; ++i) std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(i * n), i, 0.0);
  return a;
}

/// Over rows of x.
inline Values softmax(const Values& x, size_t columns) {
  Values y(x.size());
  for (size_t start = 0; start < x.size(); start += columns) {
    const double* row = &x[start];
    const double largest = *std::max_element(row, row + columns);
    double sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += std::exp(row[i] - largest);
    for (size_t i = 0; i < columns; ++i) y[start + i] = std::exp(row[i] - largest) / sum;
  }
  return y;
}

/// Each run of `size` elements less its mean and over its deviation.
inline Values normalised(const Values& x, size_t size, double epsilon) {
  Values y(x.size());
  const double count = static_cast<double>(size);
  for (size_t start = 0; start < x.size(); start += size) {
    double sum = 0, square = 0;
    for (size_t i = start; i < start + size; ++i) sum += x[i];
    const double mean = sum / count;
    for (size_t i = start; i < start + size; ++i) square += (x[i] - mean) * (x[i] - mean);
    const double deviation = std::sqrt(square / count + epsilon);
    for (size_t i = start; i < start + size; ++i) y[i] = (x[i] - mean) / deviation;
  }
  return y;
}

/// x * gamma + beta, where element i has number i / run % gamma.size() of both.
inline Values affine(Values x, const Values& gamma, const Values& beta, size_t run) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = x[i] * gamma[i / run % gamma.size()] + beta[i / run % beta.size()];
  return x;
}

/// 4x4 windows, stride 1, one row and column of padding around x [planes][height][width].
inline Values max_pool(const Values& x, size_t planes, size_t height, size_t width) {
  Values y;
  for (size_t plane = 0; plane < planes; ++plane)
    for (size_t i = 0; i + 1 < height; ++i)
      for (size_t j = 0; j + 1 < width; ++j) {
        double largest = -std::numeric_limits<double>::infinity();
        for (size_t row = i == 0 ? 0 : i - 1; row < std::min(i + 3, height); ++row)
          for (size_t column = j == 0 ? 0 : j - 1; column < std::min(j + 3, width); ++column)
            largest = std::max(largest, x[(plane * height + row) * width + column]);
        y.push_back(largest);
      }
  return y;
}

/// 8 neighbours, stride 1, 4 zeros before and behind each row.
inline Values average_pool(const Values& x, size_t length) {
  Values y;
  for (size_t start = 0; start < x.size(); start += length)
    for (size_t i = 0; i <= length; ++i) {
      double sum = 0;
      for (size_t at = i; at < i + 8; ++at)
        if (at >= 4 && at - 4 < length) sum += x[start + at - 4];
      y.push_back(sum / 8);
    }
  return y;
}

/// Over the middle dimension of x [batch][rows][columns].
inline Values sum_rows(const Values& x, size_t batch, size_t rows, size_t columns) {
  Values y(batch * columns);
  for (size_t i = 0; i < x.size(); ++i) y[i / (rows * columns) * columns + i % columns] += x[i];
  return y;
}

/// The first row with the largest element, or with a NaN, of each column of x [batch][rows][columns].
inline Values argmax_rows(const Values& x, size_t batch, size_t rows, size_t columns) {
  Values y(batch * columns);
  for (size_t n = 0; n < batch; ++n)
    for (size_t column = 0; column < columns; ++column) {
      const auto at = [&](size_t row) { return x[(n * rows + row) * columns + column]; };
      size_t best = 0;
      for (size_t row = 1; row < rows && !std::isnan(at(best)); ++row)
        if (at(row) > at(best) || std::isnan(at(row))) best = row;
      y[n * columns + column] = static_cast<double>(best);
    }
  return y;
}

/// log(sum of e^z) - z[target], for each row.
inline Values row_losses(const Values& z, const Values& targets, size_t columns) {
  Values losses;
  for (size_t row = 0; row < targets.size(); ++row) {
    const double* at = &z[row * columns];
    const double largest = *std::max_element(at, at + columns);
    double sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += std::exp(at[i] - largest);
    losses.push_back(std::log(sum) + largest - at[static_cast<size_t>(targets[row])]);
  }
  return losses;
}

} // namespace asmevo::reference
