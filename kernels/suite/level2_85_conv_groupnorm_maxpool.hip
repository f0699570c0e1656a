// KernelBench 2/85: out = clamp(maxpool4x4(s * groupnorm(conv3x3(x) + b)), 0, 1): groups of four channels of
// an image, gamma, beta and s a channel. x is [batch][ci][h][w], the weights are [co][ci][3][3], out is
// [batch][co][(h - 2) / 4][(w - 2) / 4], co is a multiple of 4.
//
// The norm and s are one multiplication and addition a channel, so the largest of 16 results comes of the
// largest convolution or, where the factor is negative, of the smallest. K0 is conv_pool: it leaves that one
// in `out`, and each wave's sum and sum of squared distances from its own mean in
// moments[image][part][2][groups]. normalise_clamp goes over `out` in place.
#include "conv_tile.h"
#include "half_wave.h"

using Tile = ConvTile<1, 4, 2, 2>;

/// Part p of an image's pixels is four rows of 32 columns: p = row / 4 * column_tiles + tile. `parts` is how
/// many there are.
extern "C" __global__ void __workgroup__(256)
    conv_pool(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
              const float* __restrict__ gamma, const float* __restrict__ s, float* __restrict__ out,
              float* __restrict__ moments, uint inputs, uint outputs, uint height, uint width,
              uint column_tiles, uint parts) {
  __shared__ Tile::Storage lds;
  const uint channel_tiles = (outputs + Tile::channels - 1) / Tile::channels;
  const uint image = group_z() / channel_tiles, first_channel = group_z() % channel_tiles * Tile::channels;
  Tile tile(first_channel, group_y() * 4, group_x() * Tile::columns);
  tile.convolve(lds, x + static_cast<uint64>(image) * inputs * height * width, w, inputs, outputs, height,
                width);
  const uint conv_height = height - 2, conv_width = width - 2, row = group_y() * 4;
  const uint first_column = group_x() * Tile::columns + tile.wave() % 2 * 32;
  if (first_column >= conv_width) return;
  const uint rows = conv_height - row < 4 ? conv_height - row : 4;
  const uint columns = conv_width - first_column < 32 ? conv_width - first_column : 32;
  const float count = static_cast<float>(rows * columns * 4);
  const uint out_height = conv_height / 4, out_width = conv_width / 4, out_column = tile.x() / 4;
  const uint part = group_y() * column_tiles + first_column / 32, groups = outputs / 4;
  const bool inside = tile.x() < conv_width;
#pragma unroll
  for (uint four = 0; four < 4; ++four) {
    const uint channel = tile.channel(0, four * 4); // a lane has a group's channels in neighbouring places
    const bool exists = channel < outputs;
    float total = 0, square = 0;
#pragma unroll
    for (uint c = 0; c < 4; ++c) {
      const float bias = exists ? b[channel + c] : 0;
      const bool least = exists && gamma[channel + c] * s[channel + c] < 0;
      float extreme = -infinity;
#pragma unroll
      for (uint y = 0; y < 4; ++y) {
        const float z = tile.sum[0][y][four * 4 + c] + bias;
        tile.sum[0][y][four * 4 + c] = z;
        total += inside && y < rows ? z : 0;
        extreme = __builtin_fmaxf(extreme, least ? -z : z);
      }
      extreme = __builtin_fmaxf(extreme, dpp<0xb1>(extreme)); // quad_perm: lanes 1, 0, 3, 2
      extreme = __builtin_fmaxf(extreme, dpp<0x4e>(extreme)); // and 2, 3, 0, 1
      if (wave_lane() % 4 == 0 && exists && group_y() < out_height && out_column < out_width)
        out[((static_cast<uint64>(image) * outputs + channel + c) * out_height + group_y()) * out_width +
            out_column] = least ? -extreme : extreme;
    }
    total = half_sum(total);
    const float mean = total / count;
#pragma unroll
    for (uint c = 0; c < 4; ++c)
#pragma unroll
      for (uint y = 0; y < 4; ++y) {
        const float off = inside && y < rows ? tile.sum[0][y][four * 4 + c] - mean : 0;
        square += off * off;
      }
    square = half_sum(square);
    if (wave_lane() % 32 == 0 && exists) {
      float* to = moments + (static_cast<uint64>(image) * parts + part) * 2 * groups + channel / 4;
      to[0] = total;
      to[groups] = square;
    }
  }
}

/// A workgroup a group; grid is (groups, images). `pooled` is how many results a channel has.
extern "C" __global__ void __workgroup__(256)
    normalise_clamp(float* __restrict__ out, const float* __restrict__ moments,
                    const float* __restrict__ gamma, const float* __restrict__ beta,
                    const float* __restrict__ s, uint groups, uint conv_height, uint conv_width,
                    uint column_tiles, uint parts, uint pooled) {
  __shared__ float shared[2][4];
  const uint group = group_x();
  const float* of = moments + static_cast<uint64>(group_y()) * parts * 2 * groups + group;
  const float count = static_cast<float>(conv_height * conv_width * 4);
  float total = 0, square = 0;
  for (uint part = lane_x(); part < parts; part += 256) total += of[static_cast<uint64>(part) * 2 * groups];
  const float mean = block_reduce<4>(total, Sum{}, shared[0]) / count;
  for (uint part = lane_x(); part < parts; part += 256) {
    const uint column = part % column_tiles * 32, row = part / column_tiles * 4;
    const uint columns = conv_width - column < 32 ? conv_width - column : 32;
    const uint rows = conv_height - row < 4 ? conv_height - row : 4;
    const float here = static_cast<float>(rows * columns * 4);
    const float off = of[static_cast<uint64>(part) * 2 * groups] / here - mean;
    square += of[(static_cast<uint64>(part) * 2 + 1) * groups] + off * off * here;
  }
  const float scale = __builtin_amdgcn_rsqf(block_reduce<4>(square, Sum{}, shared[1]) / count + 1e-5f);
#pragma unroll
  for (uint c = 0; c < 4; ++c) {
    const uint channel = group * 4 + c;
    const float factor = s[channel] * gamma[channel] * scale;
    const float shift = s[channel] * beta[channel] - mean * factor;
    float* plane = out + (static_cast<uint64>(group_y()) * groups * 4 + channel) * pooled;
    for (uint at = lane_x(); at < pooled; at += 256)
      plane[at] = __builtin_fminf(__builtin_fmaxf(plane[at] * factor + shift, 0.0f), 1.0f);
  }
}
