// KernelBench's level 2: matrix products with what is fused to them.
//
// A float sum of k products is off by at most (k + 1) / 2^24 of the sum of their magnitudes; tests pass that
// on through what follows. Values are of the order of 1, a few roundings of which are in `few`.
#include "reference/suite_level2.h"
#include "suite/suite_fixture.h"

#include <functional>

namespace asmevo::suite {
namespace {

using reference::Numbers;

constexpr double epsilon = 0x1p-24, few = 16 * epsilon;

class Level2 : public testing::Test {
 protected:
  struct Product {
    reference::MatrixSizes size;
    reference::Linear z;
    double error; // of each element as a kernel computes it
  };
  static Product product(const SuiteRun& run) {
    const reference::MatrixSizes size{run.size("m"), run.size("n"), run.size("k")};
    auto z = reference::linear(size, run.values("x"), run.values("w"), run.values("b"));
    const double error = static_cast<double>(size.k + 2) * epsilon * z.magnitude;
    return {size, std::move(z), error};
  }
};

TEST_F(Level2, MatmulScaleLeaky) {
  on_all("level2_12_matmul_scale_leaky", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    for (double& v : z.values) v = 2 * v < 0 ? 0.2 * v : 2 * v;
    expect_close(run, "out", z.values, few, 2 * error);
  });
}

/// Of numbers that are normalised, which are off by `e`. `moved` is what normalise() says.
double normalised_error(double e, double moved) {
  return (e + few) * moved;
}

TEST_F(Level2, MatmulSwishSumGroupnorm) {
  on_all("level2_37_matmul_swish_sum_groupnorm", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    const Numbers a = run.values("a");
    for (size_t i = 0; i < z.values.size(); ++i) z.values[i] = reference::swish(z.values[i]) + a[i % size.n];
    const double moved = reference::group_norm(z.values, size.n, 64, run.values("gamma"), run.values("beta"));
    // swish' is at most 1.1, gamma 1.5.
    expect_close(run, "out", z.values, few, 1.5 * normalised_error(1.1 * error, moved));
  });
}

TEST_F(Level2, MatmulGroupnormSwish) {
  on_all("level2_88_matmul_groupnorm_swish", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    const double moved = reference::group_norm(z.values, size.n, 32, run.values("gamma"), run.values("beta"));
    const Numbers multiplier = run.values("multiplier");
    double largest = 0;
    for (size_t i = 0; i < z.values.size(); ++i) {
      const double factor = multiplier[i % size.n];
      largest = std::max(largest, std::abs(factor));
      z.values[i] = reference::swish(reference::swish(z.values[i]) * factor);
    }
    expect_close(run, "out", z.values, few,
                 1.5 * 1.21 * std::max(1.0, largest) * normalised_error(error, moved));
  });
}

TEST_F(Level2, MatmulGroupnormHardtanh) {
  on_all("level2_30_matmul_groupnorm_hardtanh", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    const double moved =
        reference::group_norm(z.values, size.n, 512, run.values("gamma"), run.values("beta"));
    size_t clamped = 0;
    for (double& v : z.values) {
      clamped += std::abs(v) > 2;
      v = std::clamp(v, -2.0, 2.0);
    }
    EXPECT_GT(clamped, 0U);
    expect_close(run, "out", z.values, few, 1.5 * normalised_error(error, moved));
  });
}

TEST_F(Level2, MatmulGeluSoftmax) {
  on_all("level2_99_matmul_gelu_softmax", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    for (double& v : z.values) v = reference::gelu(v);
    for (size_t i = 0; i < size.m; ++i) reference::softmax(&z.values[i * size.n], size.n);
    // gelu' is at most 1.13; both the element and the sum have the exponential's relative error.
    expect_close(run, "out", z.values, 2 * (1.13 * error + few));
  });
}

TEST_F(Level2, MatmulInstancenormResidual) {
  on_all("level2_28_matmul_instancenorm_residual", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    const Numbers y = run.values("y");
    double moved = 0, largest = 0;
    for (size_t i = 0; i < size.m; ++i)
      moved = std::max(moved, reference::normalise(&z.values[i * size.n], size.n));
    for (size_t i = 0; i < z.values.size(); ++i) {
      largest = std::max(largest, std::abs(y[i]));
      z.values[i] = (z.values[i] + y[i]) * y[i];
    }
    expect_close(run, "out", z.values, few, largest * normalised_error(error, moved));
  });
}

TEST_F(Level2, MatmulBatchnormGeluRelu) {
  on_all("level2_41_matmul_batchnorm_gelu_relu", [](const SuiteRun& run) {
    auto [size, z, error] = product(run);
    const double moved = reference::batch_norm(z.values, size.n, run.values("gamma"), run.values("beta"));
    for (double& v : z.values) v = std::max(reference::gelu(v), 0.0);
    expect_close(run, "out", z.values, few, 1.5 * 1.13 * normalised_error(error, moved));
  });
}

TEST_F(Level2, MatmulSigmoidSum) {
  on_all("level2_56_matmul_sigmoid_sum", [](const SuiteRun& run) {
    const auto [size, z, error] = product(run);
    Numbers sums(size.m);
    for (size_t i = 0; i < z.values.size(); ++i) sums[i / size.n] += reference::sigmoid(z.values[i]);
    // sigmoid' is at most 1/4. The sum goes through fewer than 32 roundings one behind another.
    expect_close(run, "out", sums, 32 * epsilon + few, static_cast<double>(size.n) * error / 4);
  });
}

TEST_F(Level2, MatmulRowSum) {
  on_all("level2_18_matmul_row_sum", [](const SuiteRun& run) {
    const auto [size, z, error] = product(run);
    Numbers sums(size.m);
    for (size_t i = 0; i < z.values.size(); ++i) sums[i / size.n] += z.values[i];
    // The order is another, but each product still goes through fewer than k + n roundings.
    expect_close(run, "out", sums, few,
                 static_cast<double>(size.n * (size.n + size.k)) * epsilon * z.magnitude);
  });
}

} // namespace
} // namespace asmevo::suite
