// KernelBench 2/52: a = mish(conv3x3(x) + b); out = batchnorm(a): a channel is normalised by its own mean and
// variance over the whole batch, then gamma and beta. x is [batch][ci][h][w], the weights are [co][ci][3][3],
// out is [batch][co][h - 2][w - 2].
//
// K0 is conv_mish: it leaves a in `out` and each wave's sum and sum of squared distances from the wave's own
// mean in moments[part][2][co]. channel_scales makes of these what a channel is to be multiplied with and
// what added; scale_channels goes over `out` in place.
#include "conv_tile.h"
#include "half_wave.h"

using Tile = ConvTile<1, 2, 2, 2>;

/// z * tanh(ln(1 + e^z)) = z * (u^2 + 2u) / (u^2 + 2u + 2) with u = e^z; beyond 20 it is z.
__inline_device__ float mish(float z) {
  const float u = fast_exp(z), v = u * (u + 2.0f);
  return z > 20.0f ? z : z * v * fast_reciprocal(v + 2.0f);
}

/// Part p of the pixels is two rows of 32 columns: p = (image * row_pairs + pair) * column_tiles + tile.
extern "C" __global__ void __workgroup__(256)
    conv_mish(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
              float* __restrict__ out, float* __restrict__ moments, uint inputs, uint outputs, uint height,
              uint width, uint row_pairs, uint column_tiles) {
  __shared__ Tile::Storage lds;
  const uint channel_tiles = (outputs + Tile::channels - 1) / Tile::channels;
  const uint image = group_z() / channel_tiles, first_channel = group_z() % channel_tiles * Tile::channels;
  Tile tile(first_channel, group_y() * 2, group_x() * Tile::columns);
  tile.convolve(lds, x + static_cast<uint64>(image) * inputs * height * width, w, inputs, outputs, height,
                width);
  const uint out_height = height - 2, out_width = width - 2, column = tile.x(), row = group_y() * 2;
  const uint first_column = group_x() * Tile::columns + tile.wave() % 2 * 32;
  if (first_column >= out_width) return;
  const uint columns = out_width - first_column < 32 ? out_width - first_column : 32;
  const float count = static_cast<float>(columns * (row + 1 < out_height ? 2 : 1));
  const bool valid[2] = {column < out_width, column < out_width && row + 1 < out_height};
  const uint part = (image * row_pairs + group_y()) * column_tiles + first_column / 32;
#pragma unroll
  for (uint i = 0; i < 16; ++i) {
    const uint channel = tile.channel(0, i);
    const bool exists = channel < outputs;
    const float bias = exists ? b[channel] : 0;
    float* to =
        out + ((static_cast<uint64>(image) * outputs + channel) * out_height + row) * out_width + column;
    float a[2];
#pragma unroll
    for (uint y = 0; y < 2; ++y) {
      a[y] = mish(tile.sum[0][y][i] + bias);
      if (valid[y] && exists) to[y * out_width] = a[y];
    }
    const float total = half_sum((valid[0] ? a[0] : 0) + (valid[1] ? a[1] : 0)), mean = total / count;
    const float off[2] = {valid[0] ? a[0] - mean : 0, valid[1] ? a[1] - mean : 0};
    const float square = half_sum(off[0] * off[0] + off[1] * off[1]);
    if (wave_lane() % 32 == 0 && exists) {
      moments[static_cast<uint64>(part) * 2 * outputs + channel] = total;
      moments[(static_cast<uint64>(part) * 2 + 1) * outputs + channel] = square;
    }
  }
}

/// How many pixels part p has.
__inline_device__ float part_count(uint part, uint out_height, uint out_width, uint row_pairs,
                                   uint column_tiles) {
  const uint column = part % column_tiles * 32, row = part / column_tiles % row_pairs * 2;
  const uint columns = out_width - column < 32 ? out_width - column : 32;
  return static_cast<float>(columns * (row + 1 < out_height ? 2 : 1));
}

/// A workgroup a channel.
extern "C" __global__ void __workgroup__(256)
    channel_scales(const float* __restrict__ moments, const float* __restrict__ gamma,
                   const float* __restrict__ beta, float* __restrict__ scales, uint outputs, uint out_height,
                   uint out_width, uint row_pairs, uint column_tiles, uint parts) {
  __shared__ float shared[2][4];
  const uint channel = group_x();
  const float pixels =
      static_cast<float>(parts / (row_pairs * column_tiles)) * static_cast<float>(out_height * out_width);
  float total = 0, square = 0;
  for (uint part = lane_x(); part < parts; part += 256)
    total += moments[static_cast<uint64>(part) * 2 * outputs + channel];
  const float mean = block_reduce<4>(total, Sum{}, shared[0]) / pixels;
  for (uint part = lane_x(); part < parts; part += 256) {
    const float* of = moments + static_cast<uint64>(part) * 2 * outputs + channel;
    const float count = part_count(part, out_height, out_width, row_pairs, column_tiles);
    const float off = of[0] / count - mean;
    square += of[outputs] + off * off * count;
  }
  square = block_reduce<4>(square, Sum{}, shared[1]);
  if (lane_x() != 0) return;
  const float scale = gamma[channel] * __builtin_amdgcn_rsqf(square / pixels + 1e-5f);
  scales[channel] = scale;
  scales[outputs + channel] = beta[channel] - mean * scale;
}

/// A plane of `pixels` for each image and channel; grid is (ceil(pixels / 1024), channels, images).
extern "C" __global__ void __workgroup__(256)
    scale_channels(float* __restrict__ out, const float* __restrict__ scales, uint outputs, uint pixels) {
  const uint channel = group_y(), at = (group_x() * 256 + lane_x()) * 4;
  const float scale = scales[channel], shift = scales[outputs + channel];
  const int64 left = static_cast<int64>(pixels) - at;
  float* from = out + (static_cast<uint64>(group_z()) * outputs + channel) * pixels + at;
  store4(from, load4(from, left, 0) * scale + shift, left);
}
