// KernelBench's level 2: matrix products with what is fused to them.
//
// How far a float sum of products can be off is passed on through what follows. Values are of the order of 1,
// a few roundings of which are in `few`.
#include "reference/suite_level2.h"
#include "reference/suite_parts.h"

namespace asmevo::reference {

namespace {

/// x * w^T + b, or the rectangle of it that a workgroup has.
struct Product {
  const SuiteInputs& in;
  Block tile;
  bool whole;
  Linear z;
  double error; // of each element as a kernel computes it

  /// The part of a vector of n that belongs to the columns.
  Numbers vector(const std::string& buffer) const { return in.values(buffer, tile.column, tile.columns); }
  std::vector<size_t> indices() const {
    return whole ? std::vector<size_t>{} : indices_of(in.size("n"), tile);
  }
  Expected out_is(double relative, double absolute, std::vector<std::string> doubts = {}) {
    return {{{.buffer = "out",
              .values = std::move(z.values),
              .relative = relative,
              .absolute = absolute,
              .indices = indices()}},
            std::move(doubts)};
  }
};

Product product_of(const SuiteInputs& in, const Block& tile, bool whole) {
  const size_t k = in.size("k");
  Linear z =
      linear({tile.rows, tile.columns, k}, in.values("x", tile.row * k, tile.rows * k),
             in.values("w", tile.column * k, tile.columns * k), in.values("b", tile.column, tile.columns));
  const double error = z.error(k);
  return {in, tile, whole, std::move(z), error};
}
Product whole_product(const SuiteInputs& in) {
  return product_of(in, {0, 0, in.size("m"), in.size("n")}, true);
}
Product tile_product(const SuiteInputs& in, const Workgroup& at, size_t rows, size_t columns) {
  return product_of(in, block_of(at[1] * rows, at[0] * columns, rows, columns, in.size("m"), in.size("n")),
                    false);
}

/// Of kernels that do all in one go: what follows the product is the same for all of it and for a tile.
using Follows = Expected (*)(Product);
template <Follows f>
Expected all_of(const SuiteInputs& in) {
  return f(whole_product(in));
}
template <Follows f, size_t rows = 128, size_t columns = 128>
Sample tile_of(const SuiteInputs& in, const Workgroup& at) {
  return {f(tile_product(in, at, rows, columns))};
}

/// Of numbers that are normalised, which are off by `e`. `moved` is what normalise() says.
double normalised_error(double e, double moved) {
  return (e + few) * moved;
}

Expected scale_leaky(Product p) {
  for (double& v : p.z.values) v = 2 * v < 0 ? 0.2 * v : 2 * v;
  return p.out_is(few, 2 * p.error);
}

Expected swish_sum_groupnorm(Product p) {
  const Numbers a = p.vector("a");
  for (size_t i = 0; i < p.z.values.size(); ++i) p.z.values[i] = swish(p.z.values[i]) + a[i % a.size()];
  const double moved = group_norm(p.z.values, p.tile.columns, 64, p.vector("gamma"), p.vector("beta"));
  // swish' is at most 1.1, gamma 1.5.
  return p.out_is(few, 1.5 * normalised_error(1.1 * p.error, moved));
}

Expected groupnorm_swish(Product p) {
  const double moved = group_norm(p.z.values, p.tile.columns, 32, p.vector("gamma"), p.vector("beta"));
  const Numbers multiplier = p.vector("multiplier");
  double largest = 1;
  for (size_t i = 0; i < p.z.values.size(); ++i) {
    const double factor = multiplier[i % multiplier.size()];
    largest = std::max(largest, std::abs(factor));
    p.z.values[i] = swish(swish(p.z.values[i]) * factor);
  }
  return p.out_is(few, 1.5 * 1.21 * largest * normalised_error(p.error, moved));
}

Expected groupnorm_hardtanh(Product p) {
  const double moved = group_norm(p.z.values, p.tile.columns, 512, p.vector("gamma"), p.vector("beta"));
  bool clamped = false;
  for (double& v : p.z.values) {
    clamped |= std::abs(v) > 2;
    v = std::clamp(v, -2.0, 2.0);
  }
  return p.out_is(few, 1.5 * normalised_error(p.error, moved),
                  clamped ? std::vector<std::string>{} : std::vector<std::string>{"nothing is clamped"});
}

// 99, 28 and 41 finish rows or columns in kernels of their own; K0 leaves what these take up in `out`.
Expected just_gelu(Product p) {
  for (double& v : p.z.values) v = gelu(v);
  return p.out_is(few, 1.13 * p.error);
}
Expected gelu_softmax(const SuiteInputs& in) {
  Product p = whole_product(in);
  for (double& v : p.z.values) v = gelu(v);
  for (size_t i = 0; i < p.tile.rows; ++i) softmax(&p.z.values[i * p.tile.columns], p.tile.columns);
  // gelu' is at most 1.13; both the element and the sum have the exponential's relative error.
  return p.out_is(2 * (1.13 * p.error + few), 0);
}

Expected just_product(Product p) {
  return p.out_is(few, p.error);
}
Expected instancenorm_residual(const SuiteInputs& in) {
  Product p = whole_product(in);
  const Numbers y = in.values("y");
  double moved = 0, largest = 0;
  for (size_t i = 0; i < p.tile.rows; ++i)
    moved = std::max(moved, normalise(&p.z.values[i * p.tile.columns], p.tile.columns));
  for (size_t i = 0; i < p.z.values.size(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    p.z.values[i] = (p.z.values[i] + y[i]) * y[i];
  }
  return p.out_is(few, largest * normalised_error(p.error, moved));
}

Expected batchnorm_gelu_relu(const SuiteInputs& in) {
  Product p = whole_product(in);
  const double moved = batch_norm(p.z.values, p.tile.columns, in.values("gamma"), in.values("beta"));
  for (double& v : p.z.values) v = std::max(gelu(v), 0.0);
  return p.out_is(few, 1.5 * 1.13 * normalised_error(p.error, moved));
}

/// Of `count` numbers a `step` apart that are off by `error`: their sum and the sum of their squared
/// distances from their mean, each with how far a float sum can be off.
struct Moments {
  double sum = 0, sum_error = 0, square = 0, square_error = 0;
};
Moments moments_of(const double* first, size_t count, size_t step, double error) {
  Moments of;
  double sizes = 0;
  for (size_t i = 0; i < count; ++i) {
    of.sum += first[i * step];
    sizes += std::abs(first[i * step]);
  }
  const double n = static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) of.square += std::pow(first[i * step] - of.sum / n, 2);
  of.sum_error = n * error + 8 * rounding_f32 * sizes;
  const double off = error + of.sum_error / n; // of a distance from the mean
  of.square_error = 2 * off * std::sqrt(n * of.square) + n * off * off + few * of.square;
  return of;
}

/// z, and of each column the moments of every 64 rows: [blocks][2][n].
Sample column_moments(const SuiteInputs& in, const Workgroup& at) {
  Product p = tile_product(in, at, 128, 128);
  const size_t n = in.size("n");
  Output moments{.buffer = "moments", .values = {}};
  for (size_t row = 0; row < p.tile.rows; row += 64)
    for (size_t column = 0; column < p.tile.columns; ++column) {
      const Moments of = moments_of(&p.z.values[row * p.tile.columns + column],
                                    std::min<size_t>(64, p.tile.rows - row), p.tile.columns, p.error);
      const size_t place = (p.tile.row + row) / 64 * 2 * n + p.tile.column + column;
      moments.values.insert(moments.values.end(), {of.sum, of.square});
      moments.own.insert(moments.own.end(), {of.sum_error, of.square_error});
      moments.indices.insert(moments.indices.end(), {place, place + n});
    }
  Sample sample{just_product(std::move(p))};
  sample.expected.outputs.push_back(std::move(moments));
  return sample;
}

Expected sigmoid_sum(const SuiteInputs& in) {
  const Product p = whole_product(in);
  Numbers sums(p.tile.rows);
  for (size_t i = 0; i < p.z.values.size(); ++i) sums[i / p.tile.columns] += sigmoid(p.z.values[i]);
  // sigmoid' is at most 1/4. The sum goes through fewer than 32 roundings one behind another.
  return {{{.buffer = "out",
            .values = std::move(sums),
            .relative = 32 * rounding_f32 + few,
            .absolute = static_cast<double>(p.tile.columns) * p.error / 4}}};
}
/// Sums of strips of 64 columns: [strips][m].
Sample sigmoid_strips(const SuiteInputs& in, const Workgroup& at) {
  const Product p = tile_product(in, at, 128, 128);
  Output sums{
      .buffer = "partial", .values = {}, .relative = 32 * rounding_f32 + few, .absolute = 64 * p.error / 4};
  for (size_t first = 0; first < p.tile.columns; first += 64)
    for (size_t row = 0; row < p.tile.rows; ++row) {
      double sum = 0;
      for (size_t column = first; column < std::min(first + 64, p.tile.columns); ++column)
        sum += sigmoid(p.z.values[row * p.tile.columns + column]);
      sums.values.push_back(sum);
      sums.indices.push_back((p.tile.column + first) / 64 * in.size("m") + p.tile.row + row);
    }
  return {{{std::move(sums)}}};
}

Expected row_sum(const SuiteInputs& in) {
  const Product p = whole_product(in);
  Numbers sums(p.tile.rows);
  for (size_t i = 0; i < p.z.values.size(); ++i) sums[i / p.tile.columns] += p.z.values[i];
  // The order is another: of n sums of k products, as if they were one.
  const double n = static_cast<double>(p.tile.columns);
  Linear all{{}, n * p.z.magnitude, std::sqrt(n) * p.z.wander};
  for (const double sum : sums) all.largest = std::max(all.largest, std::abs(sum));
  return {{{.buffer = "out",
            .values = std::move(sums),
            .relative = few,
            .absolute = all.error(p.tile.columns + in.size("k"))}}};
}
/// K0 adds up `rows` rows of w for 1024 columns: partial[blocks][k].
Sample row_sum_parts(const SuiteInputs& in, const Workgroup& at) {
  const size_t n = in.size("n"), k = in.size("k"), rows = in.size("rows");
  const Block part = block_of(at[1] * rows, at[0] * 1024, rows, 1024, n, k);
  const Numbers w = read_block(in, "w", k, part);
  Output sums{.buffer = "partial",
              .values = Numbers(part.columns),
              .own = Numbers(part.columns),
              .indices = run_of(at[1] * k + part.column, part.columns)};
  for (size_t i = 0; i < w.size(); ++i) {
    sums.values[i % part.columns] += w[i];
    sums.own[i % part.columns] += static_cast<double>(part.rows) * rounding_f32 * std::abs(w[i]);
  }
  return {{{std::move(sums)}}};
}

} // namespace

std::vector<SuiteKernel> level2_matmul_kernels() {
  return {
      {"level2_12_matmul_scale_leaky", "matmul_scale_leaky", all_of<scale_leaky>, tile_of<scale_leaky>},
      {"level2_18_matmul_row_sum", "sum_rows", row_sum, row_sum_parts},
      {"level2_28_matmul_instancenorm_residual", "matmul_bias", instancenorm_residual, tile_of<just_product>},
      {"level2_30_matmul_groupnorm_hardtanh", "matmul_groupnorm_hardtanh", all_of<groupnorm_hardtanh>,
       tile_of<groupnorm_hardtanh, 64, 512>},
      {"level2_37_matmul_swish_sum_groupnorm", "matmul_swish_sum_groupnorm", all_of<swish_sum_groupnorm>,
       tile_of<swish_sum_groupnorm>},
      {"level2_41_matmul_batchnorm_gelu_relu", "matmul_column_moments", batchnorm_gelu_relu, column_moments},
      {"level2_56_matmul_sigmoid_sum", "matmul_sigmoid_sum", sigmoid_sum, sigmoid_strips},
      {"level2_88_matmul_groupnorm_swish", "matmul_groupnorm_swish", all_of<groupnorm_swish>,
       tile_of<groupnorm_swish>},
      {"level2_99_matmul_gelu_softmax", "matmul_gelu", gelu_softmax, tile_of<just_gelu>},
  };
}

} // namespace asmevo::reference
