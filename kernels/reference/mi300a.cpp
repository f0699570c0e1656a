#include "reference/mi300a.h"

#include "reference/suite_level1.h"
#include "reference/suite_parts.h"

namespace asmevo::reference {
namespace {

Expected vectoradd(const SuiteInputs& in) {
  Numbers a = in.values("b");
  const Numbers c = in.values("c");
  for (size_t i = 0; i < a.size(); ++i) a[i] += c[i];
  return {{{"a", a, rounding_f32}}};
}

Expected relu(const SuiteInputs& in) {
  return {{{"out", map(in.values("in"), [](double x) { return std::max(x, 0.0); })}}};
}

Expected memcopy(const SuiteInputs& in) {
  return {{{"to", in.values("from")}}};
}

Expected matrixtranspose(const SuiteInputs& in) {
  const size_t w = in.size("w");
  const Numbers from = in.values("in");
  Numbers to(w * w);
  for (size_t row = 0; row < w; ++row)
    for (size_t column = 0; column < w; ++column) to[column * w + row] = from[row * w + column];
  return {{{"out", to}}};
}

Expected floydwarshall(const SuiteInputs& in) {
  const size_t n = in.size("n"), first = in.size("first"), passes = in.size("passes");
  Numbers distance = in.values("distance"), predecessor = in.values("predecessor");
  for (size_t over = first; over < first + passes; ++over)
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < n; ++x) {
        const double by = distance[y * n + over] + distance[over * n + x];
        if (by >= distance[y * n + x]) continue;
        distance[y * n + x] = by;
        predecessor[y * n + x] = static_cast<double>(over);
      }
  return {{{"distance", distance}, {"predecessor", predecessor}}};
}

Expected fastwalshtransform(const SuiteInputs& in) {
  const size_t steps = in.size("steps");
  Numbers data = in.values("data");
  double magnitude = 0;
  for (const double x : data) magnitude += std::abs(x);
  for (size_t at = 0; at < steps; ++at)
    for (size_t i = 0; i < data.size(); ++i)
      if ((i >> at & 1) == 0) {
        const size_t other = i + (size_t{1} << at);
        const double a = data[i], b = data[other];
        data[i] = a + b;
        data[other] = a - b;
      }
  return {{{"data", data, 0, static_cast<double>(steps) * rounding_f32 * magnitude}}};
}

Expected fir(const SuiteInputs& in) {
  const size_t n = in.size("n"), taps = in.size("taps");
  const Numbers signal = in.values("in"), history = in.values("history"), weights = in.values("coefficients");
  Numbers out(n);
  for (size_t t = 0; t < n; ++t)
    for (size_t i = 0; i < taps; ++i)
      out[t] += weights[i] * (t >= i ? signal[t - i] : history[taps - (i - t)]);
  return {{{"out", out, static_cast<double>(taps) * rounding_f32}}}; // there is nothing negative in it
}

/// Sums of quarters, which f32 holds.
Expected simpleconvolution(const SuiteInputs& in) {
  const size_t w = in.size("w"), mask = in.size("mask"), pitch = w + mask - 1;
  const Numbers picture = in.values("in"), weights = in.values("weights");
  Numbers out(w * w);
  for (size_t y = 0; y < w; ++y)
    for (size_t x = 0; x < w; ++x) {
      double sum = 0;
      for (size_t j = 0; j < mask; ++j)
        for (size_t i = 0; i < mask; ++i) sum += picture[(y + j) * pitch + x + i] * weights[j * mask + i];
      out[y * w + x] = std::trunc(sum + 0.5);
    }
  return {{{"out", out}}};
}

Expected bitonicsort(const SuiteInputs& in) {
  Numbers data = in.values("data");
  std::sort(data.begin(), data.end());
  return {{{"data", data}}};
}

/// There is nothing negative in it.
Expected atax(const SuiteInputs& in) {
  const size_t n = in.size("n");
  const Numbers a = in.values("a"), x = in.values("x");
  Numbers tmp(n), y(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) tmp[i] += a[i * n + j] * x[j];
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) y[j] += a[i * n + j] * tmp[i];
  const double sum = static_cast<double>(n) * rounding_f32;
  return {{{"tmp", tmp, sum}, {"y", y, 2.01 * sum}}};
}

Expected stencil2d(const SuiteInputs& in) {
  const size_t n = in.size("n"), pitch = in.size("pitch");
  const Numbers from = in.values("in");
  Output out{"out", {}, few};
  for (size_t row = 1; row <= n; ++row)
    for (size_t column = 1; column <= n; ++column) {
      const auto at = [&](size_t down, size_t right) {
        return from[(row + down - 1) * pitch + column + right - 1];
      };
      out.indices.push_back(row * pitch + column);
      out.values.push_back(0.25 * at(1, 1) + 0.15 * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2)) +
                           0.05 * (at(0, 0) + at(0, 2) + at(2, 0) + at(2, 2)));
    }
  return {{out}};
}

Expected matrixmultiplication(const SuiteInputs& in) {
  const size_t n = in.size("n"), k = in.size("k");
  const double terms = static_cast<double>(k);
  Expected expected{
      {{"c", matmul(in.values("a"), in.values("b"), n, n, k), 0, terms * terms * rounding_f32}}};
  if (n != 32) expected.doubts.push_back("more than one workgroup: they race for the scratch memory");
  return expected;
}

Expected conv2d(const SuiteInputs& in) {
  const size_t h = in.size("h"), k = in.size("k"), side = in.size("side"), n = in.size("n");
  const Numbers picture = in.values("in");
  Numbers columns;
  for (size_t i = 0; i < k * k; ++i)
    for (size_t at = 0; at < n; ++at) columns.push_back(picture[(at / side + i / k) * h + at % side + i % k]);
  const Numbers product = matmul(in.values("weights"), columns, 3, n, k * k);
  // The last workgroup of a row may clear the first elements of the next row before or after they are there.
  const size_t unsure = (16 - n % 16) % 16;
  const double terms = static_cast<double>(k * k);
  Output out{"out", {}, 0, terms * terms * rounding_f32};
  for (size_t row = 0; row < 16; ++row)
    for (size_t at = row == 1 || row == 2 ? unsure : 0; at < n; ++at) {
      out.indices.push_back(row * n + at);
      out.values.push_back(row < 3 ? product[row * n + at] : 0);
    }
  return {{{"columns", columns}, out}};
}

} // namespace

const std::vector<Mi300aKernel>& mi300a_kernels() {
  static const std::vector<Mi300aKernel> all = {
      {"atax", atax},
      {"bitonicsort", bitonicsort},
      {"conv2d", conv2d},
      {"fastwalshtransform", fastwalshtransform},
      {"fir", fir},
      {"floydwarshall", floydwarshall},
      {"matrixmultiplication", matrixmultiplication},
      {"matrixtranspose", matrixtranspose},
      {"memcopy", memcopy},
      {"relu", relu},
      {"simpleconvolution", simpleconvolution},
      {"stencil2d", stencil2d},
      {"vectoradd", vectoradd},
  };
  return all;
}

} // namespace asmevo::reference
