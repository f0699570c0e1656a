// The matrix products of level 2 at their full shapes, of which the last workgroup of K0 runs: the far end of
// buffers of gigabytes. Its last row is compared. Bounds are made as in level2_test.cpp.
#include "reference/suite_level2.h"
#include "suite/suite_fixture.h"

namespace asmevo::suite {
namespace {

using reference::Numbers;

constexpr double epsilon = 0x1p-24, few = 16 * epsilon;

/// The last row of x * w^T + b, as far as the last workgroup has columns of it.
class LastRow {
 public:
  LastRow(const std::string& name, size_t columns, const std::string& workgroups)
      : run_({.name = name,
              .shape = "full",
              .change = [](oracle::LaunchSpec& spec) { spec.steps.resize(1); },
              .workgroups = {"(" + workgroups + ") - 1"}}),
        columns_(columns) {
    EXPECT_TRUE(run_.completed()) << run_.label() << ": " << run_.error();
    const size_t m = run_.size("m"), n = run_.size("n"), k = run_.size("k");
    z_ = reference::linear({1, columns, k}, run_.values("x", (m - 1) * k, k),
                           run_.values("w", (n - columns) * k, columns * k), vector("b"));
    error_ = static_cast<double>(k + 2) * epsilon * z_.magnitude;
  }

  Numbers& z() { return z_.values; }
  double error() const { return error_; }
  const SuiteRun& run() const { return run_; }
  /// What a vector of n has for these columns.
  Numbers vector(const std::string& buffer) const {
    return run_.values(buffer, run_.size("n") - columns_, columns_);
  }
  void expect_out(double absolute) const {
    const size_t end = run_.size("m") * run_.size("n");
    expect_close(run_.label(), run_.values("out", end - columns_, columns_), z_.values, few, absolute);
  }
  /// Groups of `width` columns; returns how far normalised numbers can be off.
  double normalise(size_t width, double error) {
    return 1.5 * (error + few) *
           reference::group_norm(z_.values, columns_, width, vector("gamma"), vector("beta"));
  }

 private:
  SuiteRun run_;
  size_t columns_;
  reference::Linear z_;
  double error_ = 0;
};

constexpr const char* square_tiles = "ceil_div(n, 128) * ceil_div(m, 128)";

TEST(Level2Full, MatmulScaleLeaky) {
  LastRow row("level2_12_matmul_scale_leaky", 128, square_tiles);
  for (double& v : row.z()) v = 2 * v < 0 ? 0.2 * v : 2 * v;
  row.expect_out(2 * row.error());
}

TEST(Level2Full, MatmulSwishSumGroupnorm) {
  LastRow row("level2_37_matmul_swish_sum_groupnorm", 128, square_tiles);
  const Numbers a = row.vector("a");
  for (size_t i = 0; i < a.size(); ++i) row.z()[i] = reference::swish(row.z()[i]) + a[i];
  row.expect_out(row.normalise(64, 1.1 * row.error()));
}

TEST(Level2Full, MatmulGroupnormSwish) {
  LastRow row("level2_88_matmul_groupnorm_swish", 128, square_tiles);
  const double error = row.normalise(32, row.error());
  const Numbers multiplier = row.vector("multiplier");
  double largest = 1;
  for (size_t i = 0; i < multiplier.size(); ++i) {
    largest = std::max(largest, std::abs(multiplier[i]));
    row.z()[i] = reference::swish(reference::swish(row.z()[i]) * multiplier[i]);
  }
  row.expect_out(1.21 * largest * error);
}

TEST(Level2Full, MatmulGroupnormHardtanh) {
  LastRow row("level2_30_matmul_groupnorm_hardtanh", 512, "n / 512 * ceil_div(m, 64)");
  const double error = row.normalise(512, row.error());
  for (double& v : row.z()) v = std::clamp(v, -2.0, 2.0);
  row.expect_out(error);
}

TEST(Level2Full, MatmulGelu) {
  LastRow row("level2_99_matmul_gelu_softmax", 128, square_tiles);
  for (double& v : row.z()) v = reference::gelu(v);
  row.expect_out(1.13 * row.error());
}

TEST(Level2Full, MatmulBias) {
  const LastRow row("level2_28_matmul_instancenorm_residual", 128, square_tiles);
  row.expect_out(row.error());
}

TEST(Level2Full, MatmulColumnMoments) {
  const LastRow row("level2_41_matmul_batchnorm_gelu_relu", 128, square_tiles);
  row.expect_out(row.error());
}

TEST(Level2Full, MatmulSigmoidSum) {
  LastRow row("level2_56_matmul_sigmoid_sum", 128, square_tiles);
  double sum = 0;
  for (size_t i = 64; i < 128; ++i) sum += reference::sigmoid(row.z()[i]);
  const size_t last = row.run().size("strips") * row.run().size("m") - 1;
  expect_close(row.run().label(), row.run().values("partial", last, 1), {sum}, 32 * epsilon + few,
               64 * row.error() / 4);
}

} // namespace
} // namespace asmevo::suite
