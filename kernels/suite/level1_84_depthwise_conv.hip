// KernelBench level 1, 84: 3x3 convolution of each channel with weights of its own, no padding. A lane
// computes four columns of `strip` rows, and keeps the last three rows of input in registers. K0 is
// depthwise_conv.
#include "common.h"

constexpr uint strip = 16, waves = 4, ahead = 4; // rows of a wave; rows loaded at a time

struct Row {
  float at[6];
};

__inline_device__ Row load_row(const float* at) {
  const float4 four = load4(at);
  const float2 two = load2(at + 4);
  return {{four.x, four.y, four.z, four.w, two.x, two.y}};
}

__inline_device__ float4 convolve(const Row (&rows)[3], const float (&w)[9]) {
  float4 sum = {};
#pragma unroll
  for (uint u = 0; u < 3; ++u)
#pragma unroll
    for (uint v = 0; v < 3; ++v)
#pragma unroll
      for (uint i = 0; i < 4; ++i) sum[i] = __builtin_fmaf(rows[u].at[v + i], w[u * 3 + v], sum[i]);
  return sum;
}

/// `count` rows from x on.
__inline_device__ void convolve_strip(const float* x, float* y, const float (&w)[9], uint skip, uint count,
                                      uint width) {
  Row rows[3] = {load_row(x), load_row(x + width), {}};
  const auto put = [&](const Row& next, uint row) {
    rows[2] = next;
    store4_from(y + row * (width - 2), convolve(rows, w), skip);
    rows[0] = rows[1];
    rows[1] = rows[2];
  };
  uint row = 0;
  for (; row + ahead <= count; row += ahead) {
    Row next[ahead];
#pragma unroll
    for (uint i = 0; i < ahead; ++i) next[i] = load_row(x + (row + i + 2) * width);
#pragma unroll
    for (uint i = 0; i < ahead; ++i) put(next[i], row + i);
  }
  for (; row < count; ++row) put(load_row(x + (row + 2) * width), row);
}

/// x [planes][height][width], rows of at least 6; plane p has the weights of channel p % channels.
extern "C" __global__ void __workgroup__(64 * waves)
    depthwise_conv(const float* __restrict__ x, const float* __restrict__ weights, float* __restrict__ y,
                   uint channels, uint height, uint width) {
  const uint wave = __builtin_amdgcn_readfirstlane(wave_number());
  const uint row = (group_y() * waves + wave) * strip, plane = group_z();
  const uint out_height = height - 2, out_width = width - 2;
  const uint own = (group_x() * 64 + wave_lane()) * 4;
  if (row >= out_height || own >= out_width) return;
  // The last lane of a row computes four columns as well, some of which are its neighbour's.
  const uint column = own + 4 <= out_width ? own : out_width - 4;
  float w[9];
#pragma unroll
  for (uint i = 0; i < 9; ++i) w[i] = weights[plane % channels * 9 + i];
  x += (uint64{plane} * height + row) * width + column;
  y += (uint64{plane} * out_height + row) * out_width + column;
  convolve_strip(x, y, w, own - column, out_height - row < strip ? out_height - row : strip, width);
}
