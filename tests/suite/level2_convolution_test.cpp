// KernelBench's level 2: convolutions with what is fused to them. Bounds are made as in level2_test.cpp: a
// float sum of k products is off by at most (k + 1) / 2^24 of the sum of their magnitudes, and tests pass
// that on through what follows.
#include "reference/suite_convolution.h"
#include "suite/suite_fixture.h"

#include <functional>
#include <numeric>

namespace asmevo::suite {
namespace {

using reference::Convolution;
using reference::Numbers;

constexpr double epsilon = 0x1p-24, few = 16 * epsilon;

class Level2Convolution : public testing::Test {
 protected:
  struct Product {
    Convolution shape;
    reference::Linear z;
    double error; // of each element as a kernel computes it
  };
  static Product convolved(const SuiteRun& run, Convolution shape, bool transposed, const Numbers& x) {
    auto z = reference::convolve(shape, transposed, x, run.values("weights"), run.values("b"));
    const size_t products = shape.inputs * reference::volume(shape.kernel);
    const double error = static_cast<double>(products + 2) * epsilon * z.magnitude;
    return {shape, std::move(z), error};
  }
  static Product convolved3x3(const SuiteRun& run) {
    return convolved(
        run,
        {run.size("batch"), run.size("ci"), run.size("co"), {1, run.size("h"), run.size("w")}, {1, 3, 3}},
        false, run.values("x"));
  }

  /// Of numbers that are normalised, which are off by `e`. `moved` is what normalise() says.
  static double normalised_error(double e, double moved) { return (e + few) * moved; }
};

TEST_F(Level2Convolution, ConvTanhAvgpool) {
  on_all("level2_46_conv_tanh_avgpool", [](const SuiteRun& run) {
    auto [shape, z, error] = convolved3x3(run);
    for (double& v : z.values) v = std::tanh(v - 0.5) - 0.2;
    const Numbers out =
        reference::pooled(z.values, shape.sizes[1] - 2, shape.sizes[2] - 2, 2, [](const Numbers& window) {
          return std::accumulate(window.begin(), window.end(), 0.0) / 4;
        });
    expect_close(run, "out", out, 0, error + few);
  });
}

TEST_F(Level2Convolution, ConvMishBatchnorm) {
  on_all("level2_52_conv_mish_batchnorm", [](const SuiteRun& run) {
    auto [shape, z, error] = convolved3x3(run);
    const Numbers gamma = run.values("gamma"), beta = run.values("beta");
    const size_t pixels = reference::volume(shape.out_sizes(false)), planes = shape.outputs;
    double moved = 0;
    for (double& v : z.values) v = reference::mish(v);
    for (size_t c = 0; c < planes; ++c) {
      Numbers all;
      for (size_t n = 0; n < shape.batch; ++n)
        all.insert(all.end(), &z.values[(n * planes + c) * pixels],
                   &z.values[(n * planes + c) * pixels] + pixels);
      moved = std::max(moved, reference::normalise(all.data(), all.size()));
      for (size_t i = 0; i < all.size(); ++i)
        z.values[(i / pixels * planes + c) * pixels + i % pixels] = all[i] * gamma[c] + beta[c];
    }
    // mish' is at most 1.09, gamma 1.5.
    expect_close(run, "out", z.values, few, 1.5 * normalised_error(1.09 * error, moved));
  });
}

TEST_F(Level2Convolution, ConvGroupnormMaxpool) {
  on_all("level2_85_conv_groupnorm_maxpool", [](const SuiteRun& run) {
    auto [shape, z, error] = convolved3x3(run);
    const Numbers gamma = run.values("gamma"), beta = run.values("beta"), s = run.values("s");
    const size_t pixels = reference::volume(shape.out_sizes(false));
    double moved = 0;
    for (size_t at = 0; at < z.values.size(); at += 4 * pixels)
      moved = std::max(moved, reference::normalise(&z.values[at], 4 * pixels));
    for (size_t i = 0; i < z.values.size(); ++i) {
      const size_t c = i / pixels % shape.outputs;
      z.values[i] = s[c] * (z.values[i] * gamma[c] + beta[c]);
    }
    const Numbers out =
        reference::pooled(z.values, shape.sizes[1] - 2, shape.sizes[2] - 2, 4, [](const Numbers& window) {
          return std::clamp(*std::max_element(window.begin(), window.end()), 0.0, 1.0);
        });
    EXPECT_GT(std::count_if(out.begin(), out.end(), [](double v) { return v > 0 && v < 1; }), 10);
    expect_close(run, "out", out, few, 1.5 * 1.5 * normalised_error(error, moved));
  });
}

TEST_F(Level2Convolution, ConvtransposeSoftmaxSigmoid) {
  on_all("level2_91_convtranspose_softmax_sigmoid", [](const SuiteRun& run) {
    const Convolution of{run.size("batch"),
                         run.size("ci"),
                         run.size("co"),
                         {1, run.size("h"), run.size("w")},
                         {1, 4, 4},
                         2,
                         1,
                         1};
    auto [shape, z, error] = convolved(run, of, true, run.values("x"));
    const Numbers a = run.values("a");
    const size_t pixels = reference::volume(shape.out_sizes(true));
    for (size_t n = 0; n < shape.batch; ++n)
      for (size_t p = 0; p < pixels; ++p) {
        Numbers channels(shape.outputs);
        auto place = [&](size_t c) -> double& { return z.values[(n * shape.outputs + c) * pixels + p]; };
        for (size_t c = 0; c < shape.outputs; ++c) channels[c] = place(c);
        reference::softmax(channels.data(), channels.size());
        for (size_t c = 0; c < shape.outputs; ++c) place(c) = reference::sigmoid(2 * (channels[c] + a[c]));
      }
    // The softmax's relative error is twice that of z, its values are below 1, and sigmoid(2v)' is at most
    // 1/2.
    expect_close(run, "out", z.values, few, error + few);
  });
}

TEST_F(Level2Convolution, Convtranspose3dSoftmax) {
  on_all("level2_38_convtranspose3d_softmax", [](const SuiteRun& run) {
    const Convolution of{run.size("batch"),
                         run.size("ci"),
                         run.size("co"),
                         {run.size("d"), run.size("h"), run.size("w")},
                         {3, 3, 3},
                         2,
                         1,
                         1};
    const Numbers x = run.values("x"), s = run.values("s");
    const size_t height = 2 * of.sizes[1], width = 2 * of.sizes[2];
    const Numbers squares = reference::pooled(x, height, width, 2, [](const Numbers& window) {
      return std::accumulate(window.begin(), window.end(), 0.0) / 8;
    });
    Numbers blocks(squares.size() / 2);
    const size_t plane = of.sizes[1] * of.sizes[2];
    for (size_t i = 0; i < blocks.size(); ++i)
      blocks[i] =
          squares[i / plane * 2 * plane + i % plane] + squares[i / plane * 2 * plane + plane + i % plane];
    auto [shape, z, error] = convolved(run, of, true, blocks);
    const size_t positions = reference::volume(shape.out_sizes(true));
    size_t between = 0;
    for (double& v : z.values) {
      between += v > 0 && v < 1;
      v = std::clamp(v, 0.0, 1.0);
    }
    EXPECT_GT(between, z.values.size() / 2);
    for (size_t at = 0; at < z.values.size(); at += positions) reference::softmax(&z.values[at], positions);
    for (size_t i = 0; i < z.values.size(); ++i) z.values[i] *= s[i / positions % shape.outputs];
    // The averages have eight roundings too; a sum has at most 8 + 5 + parts / 64 + 6 behind one another.
    expect_close(run, "out", z.values, 2 * (error + 8 * epsilon * z.magnitude) + 3 * few);
  });
}

TEST_F(Level2Convolution, Conv3dGroupnormMean) {
  on_all("level2_23_conv3d_groupnorm_mean", [](const SuiteRun& run) {
    const Convolution of{
        run.size("batch"), 3, run.size("co"), {run.size("d"), run.size("h"), run.size("w")}, {3, 3, 3}};
    auto [shape, z, error] = convolved(run, of, false, run.values("x"));
    const Numbers gamma = run.values("gamma"), beta = run.values("beta");
    const size_t pixels = reference::volume(shape.out_sizes(false)), width = run.size("width");
    // The most of any group: scale, mean magnitude and mean square; of any channel: mean once normalised.
    double scale = 0, size = 0, square = 0, largest_mean = 0;
    for (size_t at = 0; at < z.values.size(); at += width * pixels) {
      const Numbers group(&z.values[at], &z.values[at] + width * pixels);
      double sizes = 0, squares = 0, mean = 0;
      for (const double v : group) {
        sizes += std::abs(v) / static_cast<double>(group.size());
        squares += v * v / static_cast<double>(group.size());
        mean += v / static_cast<double>(group.size());
      }
      size = std::max(size, sizes);
      square = std::max(square, squares);
      scale = std::max(scale, 1 / std::sqrt(squares - mean * mean + 1e-5));
      reference::normalise(&z.values[at], width * pixels);
    }
    Numbers out(shape.batch);
    for (size_t plane = 0; plane < z.values.size() / pixels; ++plane) {
      const auto first = z.values.begin() + static_cast<std::ptrdiff_t>(plane * pixels);
      const double mean = std::accumulate(first, first + static_cast<std::ptrdiff_t>(pixels), 0.0) /
                          static_cast<double>(pixels);
      const size_t c = plane % shape.outputs;
      largest_mean = std::max(largest_mean, std::abs(mean));
      out[plane / shape.outputs] += (mean * gamma[c] + beta[c]) / static_cast<double>(shape.outputs);
    }
    // The kernel's variance is a difference of mean squares, which pass through fewer than 16 + parts
    // additions; its error moves the result by scale^2 / 2 times itself, relative.
    const double additions = static_cast<double>(16 + run.size("parts")) * epsilon;
    const double variance = 2 * size * error + 2 * additions * square;
    const double moved = 2 * scale * (error + additions * size) + largest_mean * variance * scale * scale / 2;
    EXPECT_LT(moved, 1e-3) << "or the comparison means nothing";
    expect_close(run, "out", out, few, few + 1.5 * moved);
  });
}

} // namespace
} // namespace asmevo::suite
