// Convolutions of KernelBench's level 2 in double precision: plain and slow.
#pragma once

#include "reference/suite_level2.h"
#include "reference/suite_parts.h"

#include <array>

namespace asmevo::reference {

/// [batch][inputs][sizes] to [batch][outputs][...]; two dimensions are three of which the first is 1.
struct Convolution {
  size_t batch, inputs, outputs;
  std::array<size_t, 3> sizes, kernel;
  size_t stride = 1, padding = 0, output_padding = 0; // of the transposed one, where the size is not 1

  std::array<size_t, 3> out_sizes(bool transposed) const {
    std::array<size_t, 3> out{};
    for (size_t i = 0; i < 3; ++i)
      out[i] = !transposed      ? sizes[i] - kernel[i] + 1
               : kernel[i] == 1 ? sizes[i]
                                : (sizes[i] - 1) * stride - 2 * padding + kernel[i] + output_padding;
    return out;
  }
};

/// Calls f(x's place, weights' place in one kernel, result's place in its volume) for every product of a pair
/// of channels.
template <class F>
void each_product(const Convolution& c, bool transposed, const F& f) {
  const auto out = c.out_sizes(transposed);
  auto along = [&](size_t dimension, const auto& g) {
    for (size_t k = 0; k < c.kernel[dimension]; ++k)
      for (size_t i = 0; i < c.sizes[dimension]; ++i) {
        const bool strided = transposed && c.kernel[dimension] != 1;
        const size_t o = !transposed ? i - k : strided ? c.stride * i + k - c.padding : i;
        if (o < out[dimension]) g(i, k, o); // what is below 0 is very large
      }
  };
  along(0, [&](size_t z, size_t kz, size_t oz) {
    along(1, [&](size_t y, size_t ky, size_t oy) {
      along(2, [&](size_t x, size_t kx, size_t ox) {
        f((z * c.sizes[1] + y) * c.sizes[2] + x, (kz * c.kernel[1] + ky) * c.kernel[2] + kx,
          (oz * out[1] + oy) * out[2] + ox);
      });
    });
  });
}

inline size_t volume(const std::array<size_t, 3>& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

/// Weights are [outputs][inputs][kernel], transposed [inputs][outputs][kernel].
inline Linear convolve(const Convolution& c, bool transposed, const Numbers& x, const Numbers& w,
                       const Numbers& b) {
  const size_t in_volume = volume(c.sizes), taps = volume(c.kernel),
               out_volume = volume(c.out_sizes(transposed));
  Numbers sums(c.batch * c.outputs * out_volume), magnitudes(sums.size()), squares(sums.size());
  for (size_t at = 0; at < sums.size(); ++at) {
    sums[at] = b[at / out_volume % c.outputs];
    magnitudes[at] = std::abs(sums[at]);
    squares[at] = sums[at] * sums[at];
  }
  for (size_t n = 0; n < c.batch; ++n)
    for (size_t o = 0; o < c.outputs; ++o)
      for (size_t i = 0; i < c.inputs; ++i)
        each_product(c, transposed, [&](size_t from, size_t tap, size_t to) {
          const size_t pair = transposed ? i * c.outputs + o : o * c.inputs + i;
          const double product = x[(n * c.inputs + i) * in_volume + from] * w[pair * taps + tap];
          const size_t at = (n * c.outputs + o) * out_volume + to;
          sums[at] += product;
          magnitudes[at] += std::abs(product);
          squares[at] += product * product;
        });
  Linear z{Numbers(sums.size())};
  for (size_t at = 0; at < sums.size(); ++at) z.set(at, sums[at], magnitudes[at], squares[at]);
  return z;
}

/// Planes of height by width (as many as there are) in windows of `side` by `side`, one beside another; what
/// is left over is dropped. `of` makes one number of a window's.
template <class F>
Numbers pooled(const Numbers& planes, size_t height, size_t width, size_t side, const F& of) {
  Numbers results;
  for (size_t plane = 0; plane < planes.size() / (height * width); ++plane)
    for (size_t y = 0; y + side <= height; y += side)
      for (size_t x = 0; x + side <= width; x += side) {
        Numbers window;
        for (size_t v = 0; v < side; ++v)
          for (size_t u = 0; u < side; ++u)
            window.push_back(planes[(plane * height + y + v) * width + x + u]);
        results.push_back(of(window));
      }
  return results;
}

inline double mish(double z) {
  return z * std::tanh(std::log1p(std::exp(z)));
}

struct Convolved {
  Convolution shape;
  Linear z;
  double error; // of each element as a kernel computes it
  size_t results() const { return z.values.size() / (shape.batch * shape.outputs); }
};
inline Convolved convolved(Convolution shape, bool transposed, const Numbers& x, const Numbers& w,
                           const Numbers& b) {
  Linear z = convolve(shape, transposed, x, w, b);
  const double error = z.error(shape.inputs * volume(shape.kernel));
  return {shape, std::move(z), error};
}
inline Convolved convolved(const SuiteInputs& in, const Convolution& shape, bool transposed,
                           const Numbers& x) {
  return convolved(shape, transposed, x, in.values("weights"), in.values("b"));
}
/// Where the same rectangle of each of some planes lies.
inline std::vector<size_t> indices_in_planes(size_t height, size_t width, const Block& part,
                                             size_t first_plane, size_t planes) {
  std::vector<size_t> all;
  for (size_t plane = first_plane; plane < first_plane + planes; ++plane) {
    const std::vector<size_t> own = indices_of(width, part, plane * height * width);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

} // namespace asmevo::reference
