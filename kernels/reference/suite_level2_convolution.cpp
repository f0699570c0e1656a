// KernelBench's level 2: convolutions with what is fused to them. Bounds are made as in
// suite_level2_matmul.cpp.
#include "reference/suite_convolution.h"

#include <numeric>

namespace asmevo::reference {

namespace {

/// Of numbers that are normalised, which are off by `e`. `moved` is what normalise() says.
double normalised_error(double e, double moved) {
  return (e + few) * moved;
}

Convolved convolved3x3(const SuiteInputs& in) {
  return convolved(
      in, {in.size("batch"), in.size("ci"), in.size("co"), {1, in.size("h"), in.size("w")}, {1, 3, 3}}, false,
      in.values("x"));
}

/// Results of one image that a workgroup has: some rows and columns of some channels.
struct Tile {
  size_t image = 0, channel = 0, channels = 0;
  Block at;
};
/// 64 channels and 64 columns.
Tile tile_of(const SuiteInputs& in, const Workgroup& at, size_t rows) {
  const size_t co = in.size("co"), tiles = in.size("ceil_div(co, 64)"), channel = at[2] % tiles * 64;
  return {at[2] / tiles, channel, std::min<size_t>(64, co - channel),
          block_of(at[1] * rows, at[0] * 64, rows, 64, in.size("h - 2"), in.size("w - 2"))};
}
size_t first_plane(const SuiteInputs& in, const Tile& tile) {
  return tile.image * in.size("co") + tile.channel;
}
/// Results as [channels][rows][columns].
Convolved convolved3x3(const SuiteInputs& in, const Tile& tile) {
  const size_t ci = in.size("ci"), h = in.size("h"), w = in.size("w");
  const Block patch{tile.at.row, tile.at.column, tile.at.rows + 2, tile.at.columns + 2};
  Numbers x;
  for (size_t c = 0; c < ci; ++c) {
    const Numbers plane = read_block(in, "x", w, patch, (tile.image * ci + c) * h * w);
    x.insert(x.end(), plane.begin(), plane.end());
  }
  return convolved({1, ci, tile.channels, {1, patch.rows, patch.columns}, {1, 3, 3}}, false, x,
                   in.values("weights", tile.channel * ci * 9, tile.channels * ci * 9),
                   in.values("b", tile.channel, tile.channels));
}
/// Of `values`, each off by `error`: their sum and the sum of their squared distances from their mean, to
/// places `sum` and `square` of what a kernel leaves for the next.
void add_moments(Output& moments, const Numbers& values, double error, size_t sum, size_t square) {
  const double n = static_cast<double>(values.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  double sizes = 0, squares = 0;
  for (const double v : values) {
    sizes += std::abs(v);
    squares += (v - total / n) * (v - total / n);
  }
  const double sum_error = n * error + 16 * rounding_f32 * sizes, off = error + sum_error / n;
  moments.values.insert(moments.values.end(), {total, squares});
  moments.own.insert(moments.own.end(),
                     {sum_error, 2 * off * std::sqrt(n * squares) + n * off * off + few * squares});
  moments.indices.insert(moments.indices.end(), {sum, square});
}
/// Of `channels` neighbours from `channel` on, columns `column` to `column + 31`.
Numbers strip_of(const Convolved& c, const Tile& tile, size_t channel, size_t channels, size_t column) {
  Numbers values;
  for (size_t i = 0; i < c.z.values.size(); ++i) {
    const size_t own = i % tile.at.columns, of = i / (tile.at.columns * tile.at.rows);
    if (of >= channel && of < channel + channels && own >= column && own < column + 32)
      values.push_back(c.z.values[i]);
  }
  return values;
}

double mean_of(const Numbers& window) {
  return std::accumulate(window.begin(), window.end(), 0.0) / static_cast<double>(window.size());
}

Numbers tanh_averages(Numbers z, size_t height, size_t width) {
  for (double& v : z) v = std::tanh(v - 0.5) - 0.2;
  return pooled(z, height, width, 2, mean_of);
}
Expected conv_tanh_avgpool(const SuiteInputs& in) {
  Convolved c = convolved3x3(in);
  return {{{.buffer = "out",
            .values = tanh_averages(std::move(c.z.values), in.size("h - 2"), in.size("w - 2")),
            .absolute = c.error + few}}};
}
Sample conv_tanh_avgpool_part(const SuiteInputs& in, const Workgroup& at) {
  const Tile tile = tile_of(in, at, 2);
  Convolved c = convolved3x3(in, tile);
  const Block part{at[1], tile.at.column / 2, 1, tile.at.columns / 2};
  return {{{{.buffer = "out",
             .values = tanh_averages(std::move(c.z.values), tile.at.rows, tile.at.columns),
             .absolute = c.error + few,
             .indices = indices_in_planes(in.size("(h - 2) / 2"), in.size("(w - 2) / 2"), part,
                                          first_plane(in, tile), tile.channels)}}}};
}

Expected conv_mish_batchnorm(const SuiteInputs& in) {
  Convolved c = convolved3x3(in);
  const Numbers gamma = in.values("gamma"), beta = in.values("beta");
  const size_t pixels = c.results(), planes = c.shape.outputs;
  double moved = 0;
  for (double& v : c.z.values) v = mish(v);
  for (size_t channel = 0; channel < planes; ++channel) {
    Numbers all;
    for (size_t n = 0; n < c.shape.batch; ++n) {
      const double* plane = &c.z.values[(n * planes + channel) * pixels];
      all.insert(all.end(), plane, plane + pixels);
    }
    moved = std::max(moved, normalise(all.data(), all.size()));
    for (size_t i = 0; i < all.size(); ++i)
      c.z.values[(i / pixels * planes + channel) * pixels + i % pixels] =
          all[i] * gamma[channel] + beta[channel];
  }
  // mish' is at most 1.09, gamma 1.5.
  const double error = 1.5 * normalised_error(1.09 * c.error, moved);
  return {{{.buffer = "out", .values = std::move(c.z.values), .relative = few, .absolute = error}}};
}
/// What is normalised later, and each channel's moments of two rows of 32 columns: [parts][2][co].
Sample conv_mish_part(const SuiteInputs& in, const Workgroup& at) {
  const Tile tile = tile_of(in, at, 2);
  const size_t co = in.size("co"), column_tiles = in.size("column_tiles");
  Convolved c = convolved3x3(in, tile);
  for (double& v : c.z.values) v = mish(v);
  const double error = 1.09 * c.error + few;
  Output moments{.buffer = "moments", .values = {}};
  for (size_t column = 0; column < tile.at.columns; column += 32) {
    const size_t part =
        (tile.image * in.size("row_pairs") + at[1]) * column_tiles + (tile.at.column + column) / 32;
    for (size_t channel = 0; channel < tile.channels; ++channel) {
      const size_t place = part * 2 * co + tile.channel + channel;
      add_moments(moments, strip_of(c, tile, channel, 1, column), error, place, place + co);
    }
  }
  Output out{.buffer = "out",
             .values = std::move(c.z.values),
             .relative = few,
             .absolute = error,
             .indices = indices_in_planes(in.size("h - 2"), in.size("w - 2"), tile.at, first_plane(in, tile),
                                          tile.channels)};
  return {{{std::move(out), std::move(moments)}}};
}

Expected conv_groupnorm_maxpool(const SuiteInputs& in) {
  Convolved c = convolved3x3(in);
  const Numbers gamma = in.values("gamma"), beta = in.values("beta"), s = in.values("s");
  const size_t pixels = c.results();
  double moved = 0;
  for (size_t at = 0; at < c.z.values.size(); at += 4 * pixels)
    moved = std::max(moved, normalise(&c.z.values[at], 4 * pixels));
  for (size_t i = 0; i < c.z.values.size(); ++i) {
    const size_t channel = i / pixels % c.shape.outputs;
    c.z.values[i] = s[channel] * (c.z.values[i] * gamma[channel] + beta[channel]);
  }
  Numbers out = pooled(c.z.values, in.size("h - 2"), in.size("w - 2"), 4, [](const Numbers& window) {
    return std::clamp(*std::max_element(window.begin(), window.end()), 0.0, 1.0);
  });
  const bool between = std::count_if(out.begin(), out.end(), [](double v) { return v > 0 && v < 1; }) > 10;
  Expected expected{{{.buffer = "out",
                      .values = std::move(out),
                      .relative = few,
                      .absolute = 1.5 * 1.5 * normalised_error(c.error, moved)}}};
  if (!between) expected.doubts.emplace_back("hardly any result lies between the bounds");
  return expected;
}
/// Of each 4x4 pixels the one that will be the largest, and groups' moments of four rows of 32 columns:
/// [batch][parts][2][co / 4].
Sample conv_pool_part(const SuiteInputs& in, const Workgroup& at) {
  const Tile tile = tile_of(in, at, 4);
  const size_t groups = in.size("co / 4"), height = in.size("(h - 2) / 4"), width = in.size("(w - 2) / 4");
  const Convolved c = convolved3x3(in, tile);
  const Numbers gamma = in.values("gamma"), s = in.values("s");
  Output out{.buffer = "out", .values = {}, .relative = few, .absolute = c.error};
  if (tile.at.rows == 4) {
    const size_t pixels = c.results();
    for (size_t channel = 0; channel < tile.channels; ++channel) {
      const auto first = c.z.values.begin() + static_cast<std::ptrdiff_t>(channel * pixels);
      const bool least = gamma[tile.channel + channel] * s[tile.channel + channel] < 0;
      const Numbers own = pooled({first, first + static_cast<std::ptrdiff_t>(pixels)}, 4, tile.at.columns, 4,
                                 [&](const Numbers& window) {
                                   return least ? *std::min_element(window.begin(), window.end())
                                                : *std::max_element(window.begin(), window.end());
                                 });
      out.values.insert(out.values.end(), own.begin(), own.end());
    }
    out.indices = indices_in_planes(height, width, {at[1], tile.at.column / 4, 1, tile.at.columns / 4},
                                    first_plane(in, tile), tile.channels);
  }
  Output moments{.buffer = "moments", .values = {}};
  for (size_t column = 0; column < tile.at.columns; column += 32)
    for (size_t channel = 0; channel < tile.channels; channel += 4) {
      const size_t part = at[1] * in.size("column_tiles") + (tile.at.column + column) / 32;
      const size_t place = (tile.image * in.size("parts") + part) * 2 * groups + (tile.channel + channel) / 4;
      add_moments(moments, strip_of(c, tile, channel, 4, column), c.error, place, place + groups);
    }
  Sample sample{{{std::move(moments)}}};
  if (!out.values.empty()) sample.expected.outputs.push_back(std::move(out));
  return sample;
}

Convolution convolution23(const SuiteInputs& in) {
  return {in.size("batch"), 3, in.size("co"), {in.size("d"), in.size("h"), in.size("w")}, {3, 3, 3}};
}
Expected conv3d_groupnorm_mean(const SuiteInputs& in) {
  Convolved c = convolved(in, convolution23(in), false, in.values("x"));
  const Numbers gamma = in.values("gamma"), beta = in.values("beta");
  const size_t pixels = c.results(), width = in.size("width");
  // The most of any group: scale, mean magnitude and mean square; of any channel: mean once normalised.
  double scale = 0, size = 0, square = 0, largest_mean = 0;
  for (size_t at = 0; at < c.z.values.size(); at += width * pixels) {
    const double count = static_cast<double>(width * pixels);
    double sizes = 0, squares = 0, mean = 0;
    for (size_t i = at; i < at + width * pixels; ++i) {
      const double v = c.z.values[i];
      sizes += std::abs(v) / count;
      squares += v * v / count;
      mean += v / count;
    }
    size = std::max(size, sizes);
    square = std::max(square, squares);
    scale = std::max(scale, 1 / std::sqrt(squares - mean * mean + 1e-5));
    normalise(&c.z.values[at], width * pixels);
  }
  Numbers out(c.shape.batch);
  for (size_t plane = 0; plane < c.z.values.size() / pixels; ++plane) {
    const auto first = c.z.values.begin() + static_cast<std::ptrdiff_t>(plane * pixels);
    const double mean = mean_of({first, first + static_cast<std::ptrdiff_t>(pixels)});
    const size_t channel = plane % c.shape.outputs;
    largest_mean = std::max(largest_mean, std::abs(mean));
    out[plane / c.shape.outputs] +=
        (mean * gamma[channel] + beta[channel]) / static_cast<double>(c.shape.outputs);
  }
  // Errors of results go either way, and a mean has few of them left. The kernel's variance is a difference
  // of mean squares, which pass through fewer than 16 + parts additions; its error moves the result by
  // scale^2 / 2 times itself, relative.
  const double additions = static_cast<double>(16 + in.size("parts")) * rounding_f32;
  const double mean_error = c.error * std::min(1.0, 8 / std::sqrt(static_cast<double>(pixels)));
  const double variance = 2 * size * mean_error + 2 * additions * square;
  const double moved =
      2 * scale * (mean_error + additions * size) + largest_mean * variance * scale * scale / 2;
  Expected expected{
      {{.buffer = "out", .values = std::move(out), .relative = few, .absolute = few + 1.5 * moved}}};
  if (moved >= 1e-3) expected.doubts.emplace_back("the bound is so wide that it means nothing");
  return expected;
}
/// Sums of each channel and of its squares over 8 rows of 32 columns of a slice: [batch][parts][2][32].
Sample conv_sums_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t d = in.size("d"), h = in.size("h"), w = in.size("w"), co = in.size("co");
  const size_t tiles = in.size("column_tiles");
  const Block tile = block_of(at[0] / tiles * 8, at[0] % tiles * 32, 8, 32, h - 2, w - 2);
  const Block patch{tile.row, tile.column, tile.rows + 2, tile.columns + 2};
  Numbers x;
  for (size_t plane = 0; plane < 9; ++plane) {
    const size_t slice = (at[2] * 3 + plane / 3) * d + at[1] + plane % 3;
    const Numbers part = read_block(in, "x", w, patch, slice * h * w);
    x.insert(x.end(), part.begin(), part.end());
  }
  const Convolved c = convolved(in, {1, 3, co, {3, patch.rows, patch.columns}, {3, 3, 3}}, false, x);
  const size_t first = (at[2] * in.size("parts") + at[1] * in.size("row_tiles") * tiles + at[0]) * 64;
  Output sums{.buffer = "sums", .values = Numbers(64), .own = Numbers(64), .indices = run_of(first, 64)};
  for (size_t i = 0; i < c.z.values.size(); ++i) {
    const size_t channel = i / c.results();
    const double z = c.z.values[i];
    sums.values[channel] += z;
    sums.values[32 + channel] += z * z;
    sums.own[channel] += c.error + few * std::abs(z);
    sums.own[32 + channel] += 2 * std::abs(z) * c.error + c.error * c.error + few * z * z;
  }
  return {{{std::move(sums)}}};
}

} // namespace

std::vector<SuiteKernel> level2_convolution_kernels() {
  return {
      {"level2_23_conv3d_groupnorm_mean", "conv_sums", conv3d_groupnorm_mean, conv_sums_part},
      {"level2_46_conv_tanh_avgpool", "conv_tanh_avgpool", conv_tanh_avgpool, conv_tanh_avgpool_part},
      {"level2_52_conv_mish_batchnorm", "conv_mish", conv_mish_batchnorm, conv_mish_part},
      {"level2_85_conv_groupnorm_maxpool", "conv_pool", conv_groupnorm_maxpool, conv_pool_part},
  };
}

} // namespace asmevo::reference
