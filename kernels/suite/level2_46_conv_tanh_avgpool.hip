// KernelBench 2/46: out = average over 2x2 pixels of (tanh(conv3x3(x) + b - 0.5) - 0.2). x is
// [batch][ci][h][w], the weights are [co][ci][3][3], out is [batch][co][(h - 2) / 2][(w - 2) / 2]. K0 is
// conv_tanh_avgpool: a wave has two rows of 32 pixels, which are 16 results for each of its channels.
#include "conv_tile.h"

using Tile = ConvTile<1, 2, 2, 2>;

__inline_device__ float tanh_of(float v) {
  // 1 - 2 / (e^2v + 1), which is -1 and 1 where e^2v is 0 and infinite.
  return 1.0f - 2.0f * fast_reciprocal(1.0f + fast_exp(2.0f * v));
}

extern "C" __global__ void __workgroup__(256)
    conv_tanh_avgpool(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                      float* __restrict__ out, uint inputs, uint outputs, uint height, uint width) {
  __shared__ Tile::Storage lds;
  const uint channel_tiles = (outputs + Tile::channels - 1) / Tile::channels;
  const uint image = group_z() / channel_tiles, first_channel = group_z() % channel_tiles * Tile::channels;
  Tile tile(first_channel, group_y() * 2, group_x() * Tile::columns);
  tile.convolve(lds, x + static_cast<uint64>(image) * inputs * height * width, w, inputs, outputs, height,
                width);
  const uint out_height = (height - 2) / 2, out_width = (width - 2) / 2, column = tile.x() / 2;
#pragma unroll
  for (uint i = 0; i < 16; ++i) {
    const uint channel = tile.channel(0, i);
    const float shift = (channel < outputs ? b[channel] : 0) - 0.5f;
    const float own = tanh_of(tile.sum[0][0][i] + shift) + tanh_of(tile.sum[0][1][i] + shift);
    const float both = own + dpp<0xb1>(own); // quad_perm [1, 0, 3, 2]: the neighbour's
    if (wave_lane() % 2 == 0 && channel < outputs && column < out_width)
      out[((static_cast<uint64>(image) * outputs + channel) * out_height + group_y()) * out_width + column] =
          both * 0.25f - 0.2f;
  }
}
