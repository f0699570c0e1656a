// Convolutions of level 2 at their full shapes, of which the last workgroup of K0 runs: the far end of
// buffers of gigabytes. Bounds are made as in level2_convolution_test.cpp.
#include "reference/suite_convolution.h"
#include "suite/suite_fixture.h"

#include <numeric>

namespace asmevo::suite {
namespace {

using reference::Numbers;

constexpr double epsilon = 0x1p-24, few = 16 * epsilon;

/// The last two rows of the last image, from column `first` on, for the last 64 channels.
class LastCorner {
 public:
  static constexpr size_t first = 64, channels = 64;

  explicit LastCorner(const std::string& name, const std::string& workgroups)
      : run_({.name = name,
              .shape = "full",
              .change = [](oracle::LaunchSpec& spec) { spec.steps.resize(1); },
              .workgroups = {"(" + workgroups + ") - 1"}}) {
    EXPECT_TRUE(run_.completed()) << run_.label() << ": " << run_.error();
    const size_t batch = run_.size("batch"), ci = run_.size("ci"), co = run_.size("co"), h = run_.size("h"),
                 w = run_.size("w");
    Numbers x;
    for (size_t c = 0; c < ci; ++c)
      for (size_t row = h - 4; row < h; ++row)
        for (const double v : run_.values("x", (((batch - 1) * ci + c) * h + row) * w + first, w - first))
          x.push_back(v);
    z_ = reference::convolve({1, ci, channels, {1, 4, w - first}, {1, 3, 3}}, false, x,
                             run_.values("weights", (co - channels) * ci * 9, channels * ci * 9),
                             run_.values("b", co - channels, channels));
    error_ = static_cast<double>(ci * 9 + 2) * epsilon * z_.magnitude;
  }

  Numbers& z() { return z_.values; }
  double error() const { return error_; }
  size_t columns() const { return run_.size("w") - 2 - first; }
  /// Compares rows from `row` and columns from `column` on of the last channels' planes of `out`.
  void expect_out(const Numbers& expected, size_t height, size_t width, size_t row, size_t column,
                  double absolute) const {
    Numbers got;
    for (size_t c = run_.size("batch") * run_.size("co") - channels; c < run_.size("batch") * run_.size("co");
         ++c)
      for (size_t y = row; y < height; ++y)
        for (const double v : run_.values("out", (c * height + y) * width + column, width - column))
          got.push_back(v);
    expect_close(run_.label(), got, expected, few, absolute);
  }

 private:
  SuiteRun run_;
  reference::Linear z_;
  double error_ = 0;
};

TEST(Level2Full, ConvTanhAvgpool) {
  LastCorner corner("level2_46_conv_tanh_avgpool",
                    "ceil_div(w - 2, 64) * ((h - 2) / 2) * batch * ceil_div(co, 64)");
  for (double& v : corner.z()) v = std::tanh(v - 0.5) - 0.2;
  const Numbers out = reference::pooled(corner.z(), 2, corner.columns(), 2, [](const Numbers& window) {
    return std::accumulate(window.begin(), window.end(), 0.0) / 4;
  });
  corner.expect_out(out, 63, 63, 62, LastCorner::first / 2, corner.error() + few);
}

TEST(Level2Full, ConvMish) {
  LastCorner corner("level2_52_conv_mish_batchnorm",
                    "ceil_div(w - 2, 64) * row_pairs * batch * ceil_div(co, 64)");
  for (double& v : corner.z()) v = reference::mish(v);
  corner.expect_out(corner.z(), 126, 126, 124, LastCorner::first, 1.09 * corner.error() + few);
}

// The last result of each channel is of one input and one tap.
TEST(Level2Full, ConvtransposeSoftmaxSigmoid) {
  const SuiteRun run({.name = "level2_91_convtranspose_softmax_sigmoid",
                      .shape = "full",
                      .workgroups = {"ceil_div(w + 1, 32) * ceil_div(h + 1, 2) * batch - 1"}});
  ASSERT_TRUE(run.completed()) << run.label() << ": " << run.error();
  const size_t batch = run.size("batch"), ci = run.size("ci"), co = run.size("co"),
               pixels = run.size("h * w"), results = run.size("(2 * h + 1) * (2 * w + 1)");
  const Numbers weights = run.values("weights"), a = run.values("a");
  Numbers z = run.values("b"), got;
  double magnitude = 0;
  for (size_t c = 0; c < ci; ++c) {
    const double x = run.values("x", ((batch - 1) * ci + c + 1) * pixels - 1, 1)[0];
    for (size_t o = 0; o < co; ++o) z[o] += x * weights[(c * co + o) * 16 + 15];
    magnitude += std::abs(x);
  }
  reference::softmax(z.data(), co);
  for (size_t o = 0; o < co; ++o) {
    z[o] = reference::sigmoid(2 * (z[o] + a[o]));
    got.push_back(run.values("out", ((batch - 1) * co + o + 1) * results - 1, 1)[0]);
  }
  // Weights are below 1.
  expect_close(run.label(), got, z, few, static_cast<double>(ci + 2) * epsilon * magnitude + few);
}

} // namespace
} // namespace asmevo::suite
