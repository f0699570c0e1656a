// The kernels of KernelBench's level 1. Values are of the order of 1 unless said otherwise.
#include "reference/suite_level1.h"

#include "reference/suite_parts.h"

namespace asmevo::reference {

namespace {

constexpr double epsilon = 1e-5; // of the norms
constexpr double ulp = ulp_f32;

Expected y_is(Numbers values, double relative, double absolute = 0, std::vector<size_t> indices = {}) {
  return {{{.buffer = "y",
            .values = std::move(values),
            .relative = relative,
            .absolute = absolute,
            .indices = std::move(indices)}}};
}

double relu_of(double x) {
  return x < 0 ? 0 : x; // a NaN stays one
}

// Elementwise kernels: a workgroup has 4096 elements.
template <double (*f)(double)>
Expected elementwise(const Numbers& x, std::vector<size_t> indices = {}) {
  const bool exact = f == relu_of;
  return y_is(map(x, f), exact ? 0 : 16 * ulp, exact ? 0 : 1e-12, std::move(indices));
}
template <double (*f)(double)>
Expected elementwise_all(const SuiteInputs& in) {
  return elementwise<f>(in.values("x"));
}
template <double (*f)(double)>
Sample elementwise_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t first = at[0] * 4096, count = std::min<size_t>(4096, in.size("rows * columns") - first);
  return {elementwise<f>(in.values("x", first, count), run_of(first, count))};
}

// Matrix products. Every element is a sum of positive numbers, and an f32 sum of them in parts is good to a
// few digits' worth of the square root of its length.
double product_error(size_t k) {
  return 4 * ulp * std::sqrt(static_cast<double>(k));
}
Expected c_is(Numbers values, size_t k, std::vector<size_t> indices = {}) {
  return {{{.buffer = "c",
            .values = std::move(values),
            .relative = product_error(k),
            .indices = std::move(indices)}}};
}

Expected matmul_all(const SuiteInputs& in) {
  const size_t k = in.size("k");
  return c_is(matmul(in.values("a"), in.values("b"), in.size("m"), in.size("n"), k), k);
}

/// Workgroups go through eight rows of tiles column by column.
Sample matmul_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t m = in.size("m"), n = in.size("n"), k = in.size("k");
  const size_t tile_rows = in.size("ceil_div(m, 128)"), band = 8 * in.size("ceil_div(n, 128)");
  const size_t first = at[0] / band * 8, height = std::min<size_t>(8, tile_rows - first);
  const Block tile =
      block_of((first + at[0] % band % height) * 128, at[0] % band / height * 128, 128, 128, m, n);
  const Numbers a = read_block(in, "a", k, {tile.row, 0, tile.rows, k});
  const Numbers b = read_block(in, "b", n, {0, tile.column, k, tile.columns});
  return {c_is(matmul(a, b, tile.rows, tile.columns, k), k, indices_of(n, tile))};
}

Sample matmul_split_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t m = in.size("m"), n = in.size("n"), k = in.size("k"), k_part = in.size("k_part");
  const Block tile = block_of(at[2] * 64, at[1] * 64, 64, 64, m, n);
  const size_t start = std::min(at[0] * k_part, k), count = std::min(k_part, k - start);
  const Numbers a = read_block(in, "a", k, {tile.row, start, tile.rows, count});
  const Numbers b = read_block(in, "b", n, {start, tile.column, count, tile.columns});
  return {{{{.buffer = "parts",
             .values = matmul(a, b, tile.rows, tile.columns, count),
             .relative = product_error(count),
             .indices = indices_of(n, tile, at[0] * m * n)}}}};
}

Expected matmul_upper_all(const SuiteInputs& in) {
  const size_t n = in.size("n");
  return c_is(matmul(upper(in.values("a"), n), upper(in.values("b"), n), n, n, n), n);
}

/// The tiles furthest from the diagonal come first.
Sample matmul_upper_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t n = in.size("n");
  const Block tile = block_of(at[1] * 128, (in.size("ceil_div(n, 128)") - 1 - at[0]) * 128, 128, 128, n, n);
  Numbers c(tile.rows * tile.columns);
  if (tile.column >= tile.row) {
    const size_t k = tile.column + tile.columns - tile.row;
    Numbers a = read_block(in, "a", n, {tile.row, tile.row, tile.rows, k});
    Numbers b = read_block(in, "b", n, {tile.row, tile.column, k, tile.columns});
    for (size_t i = 0; i < a.size(); ++i)
      if (i % k < i / k) a[i] = 0;
    for (size_t i = 0; i < b.size(); ++i)
      if (tile.column + i % tile.columns < tile.row + i / tile.columns) b[i] = 0;
    c = matmul(a, b, tile.rows, tile.columns, k);
  }
  return {c_is(std::move(c), n, indices_of(n, tile))};
}

Expected softmax_all(const SuiteInputs& in) {
  return y_is(softmax(in.values("x"), in.size("columns")), 16 * ulp);
}
/// At the full shape sums are of 400,000 numbers.
Sample softmax_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t columns = in.size("columns"), first = at[0] * columns;
  return {y_is(softmax(in.values("x", first, columns), columns), 32 * ulp, 0, run_of(first, columns))};
}

Expected rms_norm_all(const SuiteInputs& in) {
  return y_is(
      rms_norm(in.values("x"), in.size("batch"), in.size("channels"), in.size("height * width"), epsilon),
      8 * ulp);
}
/// 256 pixels of all channels.
Sample rms_norm_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t channels = in.size("channels"), pixels = in.size("height * width");
  const Block part = block_of(0, at[0] * 256, channels, 256, channels, pixels);
  const size_t start = at[1] * channels * pixels;
  return {y_is(rms_norm(read_block(in, "x", pixels, part, start), 1, channels, part.columns, epsilon),
               8 * ulp, 0, indices_of(pixels, part, start))};
}

Expected norm_of(Numbers x, const Numbers& gamma, const Numbers& beta, size_t run,
                 std::vector<size_t> indices = {}) {
  return y_is(affine(std::move(x), gamma, beta, run), 32 * ulp, 32 * ulp, std::move(indices));
}
Expected group_norm_all(const SuiteInputs& in) {
  return norm_of(normalised(in.values("x"), in.size("group_size"), epsilon), in.values("gamma"),
                 in.values("beta"), in.size("height * width"));
}
Expected layer_norm_all(const SuiteInputs& in) {
  return norm_of(normalised(in.values("x"), in.size("size"), epsilon), in.values("gamma"), in.values("beta"),
                 1);
}

/// Elements `from` to `to` - 1 of a run of `size` numbers, normalised by all of the run.
Numbers normalised_part(const SuiteInputs& in, size_t start, size_t size, size_t from, size_t to) {
  const Numbers all = normalised(in.values("x", start, size), size, epsilon);
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// 8192 pixels of a channel, and before that the statistics of its group.
Sample group_norm_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t pixels = in.size("height * width"), group_size = in.size("group_size");
  const size_t channels = in.size("channels"), group = at[1] / in.size("channels / groups");
  const size_t first = at[0] * 8192, count = std::min<size_t>(8192, pixels - first);
  const size_t start = at[1] * pixels + first, parts = in.size("part_count");
  Numbers x = normalised_part(in, group * group_size, group_size, start - group * group_size,
                              start + count - group * group_size);
  return {norm_of(std::move(x), in.values("gamma", at[1] % channels, 1),
                  in.values("beta", at[1] % channels, 1), 1, run_of(start, count)),
          {{"group_norm_parts", run_of(group * parts, parts)}, {"group_norm_factors", {group}}}};
}

/// 2048 elements of every sample, of which the first and the last sample are looked at: statistics of all
/// would take the emulator too long.
Sample layer_norm_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t size = in.size("size"), batch = in.size("batch"), parts = in.size("part_count");
  const size_t first = at[0] * 2048, count = std::min<size_t>(2048, size - first);
  const Numbers gamma = in.values("gamma", first, count), beta = in.values("beta", first, count);
  Sample sample;
  for (const size_t of : batch == 1 ? std::vector<size_t>{0} : std::vector<size_t>{0, batch - 1}) {
    Expected own = norm_of(normalised_part(in, of * size, size, first, first + count), gamma, beta, 1,
                           run_of(of * size + first, count));
    sample.expected.outputs.push_back(std::move(own.outputs.front()));
    const std::vector<size_t> own_parts = run_of(of * parts, parts);
    auto& before = sample.before["layer_norm_parts"];
    before.insert(before.end(), own_parts.begin(), own_parts.end());
    sample.before["layer_norm_moments"].push_back(of);
  }
  return sample;
}

// Planes, of which a workgroup has a rectangle of 64 rows and 256 columns.
Sample plane_part(const Workgroup& at, const Numbers& plane, size_t height, size_t width, double error) {
  const Block part = block_of(at[1] * 64, at[0] * 256, 64, 256, height, width);
  Numbers values;
  for (const size_t i : indices_of(width, part)) values.push_back(plane[i]);
  return {y_is(std::move(values), error, error, indices_of(width, part, at[2] * height * width))};
}

Expected max_pool_all(const SuiteInputs& in) {
  return y_is(max_pool(in.values("x"), in.size("batch * channels"), in.size("height"), in.size("width")), 0);
}
Sample max_pool_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t height = in.size("height"), width = in.size("width");
  const Numbers y = max_pool(in.values("x", at[2] * height * width, height * width), 1, height, width);
  return plane_part(at, y, height - 1, width - 1, 0);
}

Expected depthwise_conv_all(const SuiteInputs& in) {
  return y_is(depthwise_conv(in.values("x"), in.values("w"), in.size("batch * channels"), in.size("channels"),
                             in.size("height"), in.size("width")),
              4 * ulp, 4 * ulp);
}
Sample depthwise_conv_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t height = in.size("height"), width = in.size("width");
  const Numbers w = in.values("w", at[2] % in.size("channels") * 9, 9);
  const Numbers y =
      depthwise_conv(in.values("x", at[2] * height * width, height * width), w, 1, 1, height, width);
  return plane_part(at, y, height - 2, width - 2, 4 * ulp);
}

Expected average_pool_all(const SuiteInputs& in) {
  return y_is(average_pool(in.values("x"), in.size("length")), 2 * ulp, 2 * ulp);
}
Sample average_pool_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t length = in.size("length"), first = at[0] * 2048;
  const Numbers row = average_pool(in.values("x", at[1] * length, length), length);
  const size_t end = std::min(first + 2048, row.size());
  return {
      y_is({row.begin() + static_cast<std::ptrdiff_t>(first), row.begin() + static_cast<std::ptrdiff_t>(end)},
           2 * ulp, 2 * ulp, run_of(at[1] * row.size() + first, end - first))};
}

// Reductions over the middle dimension. A workgroup has 256 columns.
using OverRows = Numbers (*)(const Values&, size_t batch, size_t rows, size_t columns);

template <OverRows f>
Expected over_rows_all(const SuiteInputs& in) {
  const double error = f == &sum_rows ? 16 * ulp : 0;
  return y_is(f(in.values("x"), in.size("batch"), in.size("rows"), in.size("columns")), error, error);
}
template <OverRows f>
Sample over_rows_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t rows = in.size("rows"), columns = in.size("columns");
  const Block part = block_of(0, at[0] * 256, rows, 256, rows, columns);
  const double error = f == &sum_rows ? 16 * ulp : 0;
  return {y_is(f(read_block(in, "x", columns, part, at[1] * rows * columns), 1, rows, part.columns), error,
               error, run_of(at[1] * columns + part.column, part.columns))};
}

Output losses_are(Numbers values, std::vector<size_t> indices = {}) {
  return {.buffer = "losses",
          .values = std::move(values),
          .relative = 8 * ulp,
          .absolute = 8 * ulp,
          .indices = std::move(indices)};
}
Expected cross_entropy_all(const SuiteInputs& in) {
  Numbers losses = row_losses(in.values("z"), in.values("targets"), in.size("columns"));
  double sum = 0;
  for (const double loss : losses) sum += loss;
  const double mean = sum / static_cast<double>(losses.size());
  return {{losses_are(std::move(losses)), {.buffer = "mean", .values = {mean}, .relative = 8 * ulp}}};
}
/// Four rows.
Sample cross_entropy_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t columns = in.size("columns"), first = at[0] * 4;
  const size_t rows = std::min<size_t>(4, in.size("rows") - first);
  Numbers losses =
      row_losses(in.values("z", first * columns, rows * columns), in.values("targets", first, rows), columns);
  return {{{losses_are(std::move(losses), run_of(first, rows))}}};
}

SuiteKernel level1(const std::string& name, std::string k0, Expected (*launch)(const SuiteInputs&),
                   Sample (*workgroup)(const SuiteInputs&, const Workgroup&), bool trap = true) {
  SuiteKernel kernel{.name = "level1_" + name, .k0 = std::move(k0), .launch = launch, .workgroup = workgroup};
  if (trap) kernel.shapes.emplace_back("trap");
  return kernel;
}

} // namespace

std::vector<SuiteKernel> level1_kernels() {
  return {
      level1("1_matmul", "matmul", matmul_all, matmul_part, false),
      level1("6_matmul_large_k", "matmul_split", matmul_all, matmul_split_part, false),
      level1("14_matmul_upper", "matmul_upper", matmul_upper_all, matmul_upper_part, false),
      level1("19_relu", "relu", elementwise_all<relu_of>, elementwise_part<relu_of>),
      level1("23_softmax", "softmax", softmax_all, softmax_part),
      level1("35_group_norm", "group_norm_apply", group_norm_all, group_norm_part),
      level1("36_rms_norm", "rms_norm", rms_norm_all, rms_norm_part),
      level1("40_layer_norm", "layer_norm_apply", layer_norm_all, layer_norm_part),
      level1("42_max_pool", "max_pool", max_pool_all, max_pool_part),
      level1("44_average_pool", "average_pool", average_pool_all, average_pool_part),
      level1("47_sum_rows", "sum_rows", over_rows_all<sum_rows>, over_rows_part<sum_rows>),
      level1("51_argmax_rows", "argmax_rows", over_rows_all<argmax_rows>, over_rows_part<argmax_rows>),
      level1("84_depthwise_conv", "depthwise_conv", depthwise_conv_all, depthwise_conv_part),
      level1("88_new_gelu", "new_gelu", elementwise_all<new_gelu>, elementwise_part<new_gelu>),
      level1("95_cross_entropy", "row_losses", cross_entropy_all, cross_entropy_part),
  };
}

} // namespace asmevo::reference
