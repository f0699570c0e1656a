// KernelBench 2/91: z = transposed convolution of x (4x4, stride 2, padding 1, output padding 1) + b;
// out = sigmoid(2 * (softmax over z's channels + a)). x is [batch][ci][h][w], the weights are [ci][co][4][4],
// out is [batch][co][2h + 1][2w + 1], co is at most 128. K0 is convtranspose_softmax_sigmoid.
//
// Tap k of a row (or column) adds x[i + shift] to result 2i + side, where taps 0 to 3 have shifts 1, 0, 0, -1
// and sides 1, 0, 1, 0. So a wave computes all four results of 32 neighbours (i, j), for two rows i, as
// matrix products of 32 output channels by input channels by pixels; four waves have all channels.
#include "common.h"

constexpr uint depth = 4, rows = 2, columns = 32, places = rows * 4; // places: (row, side, side) of a pixel
constexpr uint patch_rows = rows + 2, patch_columns = columns + 2;

/// Four input channels, from row `i - 1` and column `j - 1` on; 0 outside the image.
__inline_device__ void load_patch(float (&patch)[depth][patch_rows][patch_columns], const float* x,
                                  uint channel, uint inputs, uint i, uint j, uint height, uint width) {
  constexpr uint total = depth * patch_rows * patch_columns;
#pragma unroll
  for (uint step = 0; step < (total + 255) / 256; ++step) {
    const uint at = step * 256 + lane_x();
    if (at >= total) break;
    const uint c = channel + at / (patch_rows * patch_columns);
    const uint y = i + at / patch_columns % patch_rows - 1, column = j + at % patch_columns - 1;
    const bool inside = c < inputs && y < height && column < width; // -1 is a large number here
    (&patch[0][0][0])[at] = inside ? x[(static_cast<uint64>(c) * height + y) * width + column] : 0;
  }
}

/// Over the workgroup's 128 channels, of which this lane has 16: what all have of each place.
template <class Op>
__inline_device__ void over_channels(float (&part)[4][places][columns], float (&own)[places], uint wave,
                                     Op op) {
  const uint lane = wave_lane() % 32;
#pragma unroll
  for (uint p = 0; p < places; ++p) {
    own[p] = op(own[p], shuffle_xor(own[p], 32));
    part[wave][p][lane] = own[p];
  }
  barrier();
#pragma unroll
  for (uint p = 0; p < places; ++p)
    own[p] = op(op(part[0][p][lane], part[1][p][lane]), op(part[2][p][lane], part[3][p][lane]));
  barrier();
}

extern "C" __global__ void __workgroup__(256)
    convtranspose_softmax_sigmoid(const float* __restrict__ x, const float* __restrict__ w,
                                  const float* __restrict__ b, const float* __restrict__ a,
                                  float* __restrict__ out, uint inputs, uint outputs, uint height,
                                  uint width) {
  __shared__ float patch[depth][patch_rows][patch_columns], part[4][places][columns];
  const uint wave = __builtin_amdgcn_readfirstlane(lane_x() / 64), lane = wave_lane() % 32;
  const uint half = wave_lane() / 32, first_i = group_y() * rows, first_j = group_x() * columns;
  const uint own_channel = wave * 32 + lane < outputs ? wave * 32 + lane : outputs - 1;
  x += static_cast<uint64>(group_z()) * inputs * height * width;
  float16 sum[places] = {};
  for (uint channel = 0; channel < inputs; channel += depth) {
    float4 taps[2][4]; // of the lane's two input channels, a row each
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      const uint input = channel + half * 2 + t < inputs ? channel + half * 2 + t : inputs - 1;
#pragma unroll
      for (uint row = 0; row < 4; ++row)
        taps[t][row] = load4(w + (static_cast<uint64>(input) * outputs + own_channel) * 16 + row * 4);
    }
    barrier();
    load_patch(patch, x, channel, inputs, first_i, first_j, height, width);
    barrier();
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      float pixels[patch_rows][3];
#pragma unroll
      for (uint y = 0; y < patch_rows; ++y)
#pragma unroll
        for (uint c = 0; c < 3; ++c) pixels[y][c] = patch[half * 2 + t][y][lane + c];
#pragma unroll
      for (uint ky = 0; ky < 4; ++ky)
#pragma unroll
        for (uint kx = 0; kx < 4; ++kx)
#pragma unroll
          for (uint row = 0; row < rows; ++row) {
            const uint y = row + (ky == 0 ? 2 : ky == 3 ? 0 : 1), c = kx == 0 ? 2 : kx == 3 ? 0 : 1;
            const uint place = row * 4 + (ky % 2 == 0 ? 2 : 0) + (kx % 2 == 0 ? 1 : 0);
            sum[place] =
                __builtin_amdgcn_mfma_f32_32x32x2f32(taps[t][ky][kx], pixels[y][c], sum[place], 0, 0, 0);
          }
    }
  }
  float most[places], total[places] = {};
#pragma unroll
  for (uint p = 0; p < places; ++p) most[p] = -infinity;
#pragma unroll
  for (uint i = 0; i < 16; ++i) {
    const uint channel = wave * 32 + i / 4 * 8 + half * 4 + i % 4;
    const float bias = channel < outputs ? b[channel] : -infinity;
#pragma unroll
    for (uint p = 0; p < places; ++p) {
      sum[p][i] += bias;
      most[p] = __builtin_fmaxf(most[p], sum[p][i]);
    }
  }
  over_channels(part, most, wave, Max{});
#pragma unroll
  for (uint p = 0; p < places; ++p)
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
      sum[p][i] = fast_exp(sum[p][i] - most[p]);
      total[p] += sum[p][i];
    }
  over_channels(part, total, wave, Sum{});
  const uint out_height = 2 * height + 1, out_width = 2 * width + 1, column = (first_j + lane) * 2;
#pragma unroll
  for (uint p = 0; p < places; ++p) total[p] = fast_reciprocal(total[p]);
#pragma unroll
  for (uint i = 0; i < 16; ++i) {
    const uint channel = wave * 32 + i / 4 * 8 + half * 4 + i % 4;
    if (channel >= outputs) continue;
    const float addend = a[channel];
    float* plane = out + (static_cast<uint64>(group_z()) * outputs + channel) * out_height * out_width;
#pragma unroll
    for (uint y = 0; y < rows * 2; ++y) {
      const uint row = first_i * 2 + y, p = y * 2;
      const float2 value = {fast_sigmoid(2.0f * (sum[p][i] * total[p] + addend)),
                            fast_sigmoid(2.0f * (sum[p + 1][i] * total[p + 1] + addend))};
      if (row >= out_height) continue;
      if (column + 1 < out_width)
        store2(plane + row * out_width + column, value);
      else if (column < out_width)
        plane[row * out_width + column] = value[0];
    }
  }
}
