// KernelBench's level 2: transposed convolutions with what is fused to them. Bounds are made as in
// suite_level2_matmul.cpp.
#include "reference/suite_convolution.h"

#include <numeric>
#include <optional>

namespace asmevo::reference {

namespace {

/// z has all channels of some positions, which lie `step` apart and start at neighbouring places.
void softmax_sigmoid(double* first, size_t channels, size_t step, const Numbers& a) {
  Numbers z(channels);
  for (size_t c = 0; c < channels; ++c) z[c] = first[c * step];
  softmax(z.data(), channels);
  for (size_t c = 0; c < channels; ++c) first[c * step] = sigmoid(2 * (z[c] + a[c]));
}
// The softmax's relative error is twice that of z, its values are below 1, and sigmoid(2v)' is at most 1/2.
Expected convtranspose_softmax_sigmoid(const SuiteInputs& in) {
  const Convolution shape{
      in.size("batch"), in.size("ci"), in.size("co"), {1, in.size("h"), in.size("w")}, {1, 4, 4}, 2, 1, 1};
  Convolved c = convolved(in, shape, true, in.values("x"));
  const Numbers a = in.values("a");
  for (size_t n = 0; n < shape.batch; ++n)
    for (size_t p = 0; p < c.results(); ++p)
      softmax_sigmoid(&c.z.values[n * shape.outputs * c.results() + p], shape.outputs, c.results(), a);
  return {{{.buffer = "out", .values = std::move(c.z.values), .relative = few, .absolute = c.error + few}}};
}

/// Some results of a transposed convolution with stride 2 and padding 1, of which in each dimension result o
/// has tap k of input (o + 1 - k) / 2 where that is a whole number. `x(channel, place)` is an input, 0 where
/// there is none.
struct Transposed {
  size_t inputs, outputs;              // channels
  std::array<size_t, 3> sizes, kernel; // a kernel of 1: that dimension is not there
  std::array<size_t, 3> first, count;  // of the results

  std::optional<std::array<size_t, 3>> input_of(const std::array<size_t, 3>& result, size_t tap) const {
    const std::array<size_t, 3> k{tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1],
                                  tap % kernel[2]};
    std::array<size_t, 3> from{};
    for (size_t i = 0; i < 3; ++i) {
      if (kernel[i] == 1) continue;
      if (result[i] + 1 < k[i] || (result[i] + 1 - k[i]) % 2 != 0) return std::nullopt;
      from[i] = (result[i] + 1 - k[i]) / 2;
      if (from[i] >= sizes[i]) return std::nullopt;
    }
    return from;
  }
};
template <class X>
Convolved transposed_part(const Transposed& t, const Numbers& w, const Numbers& b, const X& x) {
  const size_t results = volume(t.count), taps = volume(t.kernel);
  Convolved c{{1, t.inputs, t.outputs, t.sizes, t.kernel}, Linear{Numbers(t.outputs * results)}, 0};
  for (size_t r = 0; r < results; ++r) {
    const std::array<size_t, 3> at{t.first[0] + r / (t.count[1] * t.count[2]),
                                   t.first[1] + r / t.count[2] % t.count[1], t.first[2] + r % t.count[2]};
    Numbers sums = b, magnitudes(t.outputs), squares(t.outputs);
    for (size_t o = 0; o < t.outputs; ++o) {
      magnitudes[o] = std::abs(b[o]);
      squares[o] = b[o] * b[o];
    }
    for (size_t tap = 0; tap < taps; ++tap) {
      const auto from = t.input_of(at, tap);
      if (!from) continue;
      for (size_t input = 0; input < t.inputs; ++input) {
        const double value = x(input, *from);
        for (size_t o = 0; o < t.outputs; ++o) {
          const double product = value * w[(input * t.outputs + o) * taps + tap];
          sums[o] += product;
          magnitudes[o] += std::abs(product);
          squares[o] += product * product;
        }
      }
    }
    for (size_t o = 0; o < t.outputs; ++o) c.z.set(o * results + r, sums[o], magnitudes[o], squares[o]);
  }
  c.error = c.z.error(t.inputs * taps);
  return c;
}

/// Four rows and 64 columns of all channels.
Sample convtranspose_softmax_sigmoid_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t ci = in.size("ci"), co = in.size("co"), h = in.size("h"), w = in.size("w");
  const Block tile = block_of(at[1] * 4, at[0] * 64, 4, 64, 2 * h + 1, 2 * w + 1);
  const Numbers x = in.values("x", at[2] * ci * h * w, ci * h * w), a = in.values("a");
  Convolved c = transposed_part(
      {ci, co, {1, h, w}, {1, 4, 4}, {0, tile.row, tile.column}, {1, tile.rows, tile.columns}},
      in.values("weights"), in.values("b"), [&](size_t input, const std::array<size_t, 3>& from) {
        return x[(input * h + from[1]) * w + from[2]];
      });
  for (size_t p = 0; p < c.results(); ++p) softmax_sigmoid(&c.z.values[p], co, c.results(), a);
  return {{{{.buffer = "out",
             .values = std::move(c.z.values),
             .relative = few,
             .absolute = c.error + few,
             .indices = indices_in_planes(2 * h + 1, 2 * w + 1, tile, at[2] * co, co)}}}};
}

Expected convtranspose3d_softmax(const SuiteInputs& in) {
  const Convolution shape{in.size("batch"),
                          in.size("ci"),
                          in.size("co"),
                          {in.size("d"), in.size("h"), in.size("w")},
                          {3, 3, 3},
                          2,
                          1,
                          1};
  const Numbers s = in.values("s");
  const size_t height = 2 * shape.sizes[1], width = 2 * shape.sizes[2], plane = height * width / 4;
  const Numbers squares = pooled(in.values("x"), height, width, 2, [](const Numbers& window) {
    return std::accumulate(window.begin(), window.end(), 0.0) / 8;
  });
  Numbers blocks(squares.size() / 2);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const double* from = &squares[i / plane * 2 * plane + i % plane];
    blocks[i] = from[0] + from[plane];
  }
  Convolved c = convolved(in, shape, true, blocks);
  const size_t positions = c.results();
  size_t between = 0;
  for (double& v : c.z.values) {
    between += v > 0 && v < 1;
    v = std::clamp(v, 0.0, 1.0);
  }
  for (size_t at = 0; at < c.z.values.size(); at += positions) softmax(&c.z.values[at], positions);
  for (size_t i = 0; i < c.z.values.size(); ++i) c.z.values[i] *= s[i / positions % shape.outputs];
  // The averages have eight roundings too; a sum has at most 8 + 5 + parts / 64 + 6 behind one another.
  Expected expected{{{.buffer = "out",
                      .values = std::move(c.z.values),
                      .relative = 2 * (c.error + 8 * rounding_f32 * c.z.magnitude) + 3 * few}}};
  if (between <= expected.outputs[0].values.size() / 2)
    expected.doubts.emplace_back("most results are clamped");
  return expected;
}
/// What a softmax is made of: e^z of two slices, four rows and 64 columns of 64 channels in `out`, and sums
/// for each pair of slices, pair of rows and 64 columns: [batch][parts][co].
Sample convtranspose_exp_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t ci = in.size("ci"), co = in.size("co"), d = in.size("d"), h = in.size("h"), w = in.size("w");
  const size_t tiles = in.size("column_tiles"), channel_tiles = in.size("ceil_div(co, 64)");
  const size_t image = at[2] / channel_tiles, channel = at[2] % channel_tiles * 64;
  const size_t channels = std::min<size_t>(64, co - channel);
  const Block tile = block_of(at[0] / tiles * 4, at[0] % tiles * 64, 4, 64, 2 * h, 2 * w);
  Numbers weights;
  for (size_t c = 0; c < ci; ++c) {
    const Numbers own = in.values("weights", (c * co + channel) * 27, channels * 27);
    weights.insert(weights.end(), own.begin(), own.end());
  }
  Sample sample;
  std::vector<size_t>& averages = sample.before["average_blocks"];
  std::map<size_t, double> pooled_values; // those that were asked for
  const auto average = [&](size_t input, const std::array<size_t, 3>& from) {
    const size_t plane = image * ci + input, place = ((plane * d + from[0]) * h + from[1]) * w + from[2];
    const auto [found, fresh] = pooled_values.try_emplace(place, 0);
    if (!fresh) return found->second;
    averages.push_back(place / 256);
    for (size_t row = 0; row < 4; ++row) {
      const size_t slice = plane * 2 * d + 2 * from[0] + row / 2, y = 2 * from[1] + row % 2;
      const Numbers two = in.values("x", (slice * 2 * h + y) * 2 * w + 2 * from[2], 2);
      found->second += (two[0] + two[1]) / 8;
    }
    return found->second;
  };
  Convolved c = transposed_part(
      {ci, channels, {d, h, w}, {3, 3, 3}, {2 * at[1], tile.row, tile.column}, {2, tile.rows, tile.columns}},
      weights, in.values("b", channel, channels), average);
  std::sort(averages.begin(), averages.end());
  averages.erase(std::unique(averages.begin(), averages.end()), averages.end());

  const double relative = 2 * (c.error + 8 * rounding_f32 * c.z.magnitude) + few;
  Output out{.buffer = "out", .values = std::move(c.z.values), .relative = relative};
  for (double& v : out.values) v = std::exp(std::clamp(v, 0.0, 1.0));
  const size_t part =
      at[1] * in.size("row_pairs") * tiles * 2 + at[0] / tiles * tiles * 2 + at[0] % tiles * 2;
  for (size_t o = 0; o < channels; ++o)
    for (size_t z = 0; z < 2; ++z) {
      const size_t slice = (image * co + channel + o) * 2 * d + 2 * at[1] + z;
      const std::vector<size_t> own = indices_of(2 * w, tile, slice * 4 * h * w);
      out.indices.insert(out.indices.end(), own.begin(), own.end());
    }
  const size_t row_pairs = tile.rows / 2;
  Output sums{.buffer = "partial", .values = Numbers(row_pairs * channels), .relative = relative + few};
  for (size_t i = 0; i < out.values.size(); ++i)
    sums.values[i / tile.columns % tile.rows / 2 * channels + i / (2 * tile.rows * tile.columns)] +=
        out.values[i];
  for (size_t pair = 0; pair < row_pairs; ++pair)
    for (size_t o = 0; o < channels; ++o)
      sums.indices.push_back((image * in.size("parts") + part + pair) * co + channel + o);
  sample.expected.outputs = {std::move(out), std::move(sums)};
  return sample;
}

} // namespace

std::vector<SuiteKernel> level2_transposed_kernels() {
  return {
      {"level2_38_convtranspose3d_softmax", "convtranspose_exp", convtranspose3d_softmax,
       convtranspose_exp_part},
      {"level2_91_convtranspose_softmax_sigmoid", "convtranspose_softmax_sigmoid",
       convtranspose_softmax_sigmoid, convtranspose_softmax_sigmoid_part},
  };
}

} // namespace asmevo::reference
