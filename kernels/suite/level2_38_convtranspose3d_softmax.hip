// KernelBench 2/38: p = average over 2x2x2 blocks of x; z = clamp(transposed convolution of p (3x3x3, stride
// 2, padding 1, output padding 1) + b, 0, 1); out = softmax over all positions of a channel of z, times
// s[channel]. x is [batch][ci][d][h][w] with even d, h and w, the weights are [ci][co][3][3][3], out is
// [batch][co][d][h][w].
//
// average_blocks leaves p in a workspace; K0 is convtranspose_exp, which leaves e^z in `out` (z is at most 1,
// so there is no maximum to subtract) and each wave's sums in partial[image][part][co]; softmax_scales makes
// factors of the sums, scale_volume multiplies `out` by them in place.
#include "half_wave.h"

/// A result a lane; `count` in all, and what they lie in is depth by height by width.
extern "C" __global__ void __workgroup__(256)
    average_blocks(const float* __restrict__ x, float* __restrict__ pooled, uint count, uint depth,
                   uint height, uint width) {
  const uint at = group_x() * 256 + lane_x();
  if (at >= count) return;
  const uint column = at % width, row = at / width % height, plane = at / width / height;
  const uint slice = plane % depth, image = plane / depth;
  const float* from =
      x + ((static_cast<uint64>(image) * depth * 2 + slice * 2) * height * 2 + row * 2) * width * 2 +
      column * 2;
  float2 sum = {};
#pragma unroll
  for (uint z = 0; z < 2; ++z)
#pragma unroll
    for (uint y = 0; y < 2; ++y) sum += load2(from + (static_cast<uint64>(z) * height * 2 + y) * width * 2);
  pooled[at] = (sum[0] + sum[1]) * 0.125f;
}

constexpr uint inputs_together = 4, columns = 32, patch_rows = 3, patch_columns = columns + 1;

/// Four input channels of slices d and d + 1, rows i to i + 2, columns from j on; 0 outside the volume.
__inline_device__ void load_patch(float (&patch)[inputs_together][2][patch_rows][patch_columns],
                                  const float* x, uint channel, uint inputs, uint d, uint i, uint j,
                                  uint depth, uint height, uint width) {
  constexpr uint total = inputs_together * 2 * patch_rows * patch_columns;
#pragma unroll
  for (uint step = 0; step < (total + 255) / 256; ++step) {
    const uint at = step * 256 + lane_x();
    if (at >= total) break;
    const uint column = j + at % patch_columns, y = i + at / patch_columns % patch_rows;
    const uint z = d + at / (patch_columns * patch_rows) % 2;
    const uint c = channel + at / (patch_columns * patch_rows * 2);
    const bool inside = c < inputs && z < depth && y < height && column < width;
    (&patch[0][0][0][0])[at] =
        inside ? x[((static_cast<uint64>(c) * depth + z) * height + y) * width + column] : 0;
  }
}

/// In each dimension tap k adds p[i + shift] to result 2i + side, where taps 0 to 2 have shifts 1, 0, 0 and
/// sides 1, 0, 1: a wave computes all eight results of 32 neighbours in a row for 32 output channels; the
/// workgroup has two rows and 64 channels. Grid is (column tiles * row pairs, slices, images * channel
/// tiles).
extern "C" __global__ void __workgroup__(256)
    convtranspose_exp(const float* __restrict__ pooled, const float* __restrict__ w,
                      const float* __restrict__ b, float* __restrict__ out, float* __restrict__ partial,
                      uint inputs, uint outputs, uint depth, uint height, uint width, uint column_tiles,
                      uint parts) {
  __shared__ float patch[inputs_together][2][patch_rows][patch_columns];
  const uint wave = __builtin_amdgcn_readfirstlane(lane_x() / 64), lane = wave_lane() % 32;
  const uint half = wave_lane() / 32, channel_tiles = (outputs + 63) / 64;
  const uint image = group_z() / channel_tiles, first = group_z() % channel_tiles * 64 + wave / 2 * 32;
  const uint d = group_y(), i = group_x() / column_tiles * 2, j = group_x() % column_tiles * columns;
  const uint row = i + wave % 2, own_channel = first + lane < outputs ? first + lane : outputs - 1;
  const float* x = pooled + static_cast<uint64>(image) * inputs * depth * height * width;
  float16 sum[8] = {};
  for (uint channel = 0; channel < inputs; channel += inputs_together) {
    float taps[2][28]; // of the lane's two input channels
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      const uint input = channel + half * 2 + t < inputs ? channel + half * 2 + t : inputs - 1;
      const float* from = w + (static_cast<uint64>(input) * outputs + own_channel) * 27;
#pragma unroll
      for (uint four = 0; four < 7; ++four) {
        // The last reads from the one before on, so as not to read behind the end.
        const float4 some = load4(from + (four < 6 ? four * 4 : 23));
#pragma unroll
        for (uint e = 0; e < 4; ++e) taps[t][(four < 6 ? four * 4 : 23) + e] = some[e];
      }
    }
    barrier();
    load_patch(patch, x, channel, inputs, d, i, j, depth, height, width);
    barrier();
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      float voxels[2][2][2];
#pragma unroll
      for (uint v = 0; v < 8; ++v)
        voxels[v / 4][v / 2 % 2][v % 2] = patch[half * 2 + t][v / 4][wave % 2 + v / 2 % 2][lane + v % 2];
#pragma unroll
      for (uint tap = 0; tap < 27; ++tap) {
        const uint kz = tap / 9, ky = tap / 3 % 3, kx = tap % 3;
        const uint place = (kz != 1) * 4 + (ky != 1) * 2 + (kx != 1);
        sum[place] = __builtin_amdgcn_mfma_f32_32x32x2f32(taps[t][tap], voxels[kz == 0][ky == 0][kx == 0],
                                                          sum[place], 0, 0, 0);
      }
    }
  }
  const uint part =
      (d * ((height + 1) / 2) + i / 2) * column_tiles * 2 + group_x() % column_tiles * 2 + wave % 2;
  const bool inside = row < height && j + lane < width;
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    const uint channel = first + r / 4 * 8 + half * 4 + r % 4;
    const bool exists = channel < outputs;
    const float bias = exists ? b[channel] : 0;
    float total = 0;
    float* volume = out + (static_cast<uint64>(image) * outputs + channel) * depth * height * width * 8;
#pragma unroll
    for (uint zy = 0; zy < 4; ++zy) {
      float2 value;
#pragma unroll
      for (uint side = 0; side < 2; ++side)
        value[side] = fast_exp(__builtin_fminf(__builtin_fmaxf(sum[zy * 2 + side][r] + bias, 0.0f), 1.0f));
      total += value[0] + value[1];
      const uint z = d * 2 + zy / 2, y = row * 2 + zy % 2;
      if (inside && exists)
        store2(volume + (static_cast<uint64>(z) * height * 2 + y) * width * 2 + (j + lane) * 2, value);
    }
    total = half_sum(inside ? total : 0);
    if (lane == 0 && exists) partial[(static_cast<uint64>(image) * parts + part) * outputs + channel] = total;
  }
}

/// A wave a channel of an image; grid is (channels, images).
extern "C" __global__ void __workgroup__(64)
    softmax_scales(const float* __restrict__ partial, const float* __restrict__ s, float* __restrict__ scales,
                   uint outputs, uint parts) {
  float total = 0;
  for (uint part = lane_x(); part < parts; part += 64)
    total += partial[(static_cast<uint64>(group_y()) * parts + part) * outputs + group_x()];
  total = wave_sum(total);
  if (lane_x() == 0) scales[group_y() * outputs + group_x()] = s[group_x()] / total;
}

/// Grid is (ceil(volume / 4096), channels, images).
extern "C" __global__ void __workgroup__(256)
    scale_volume(float* __restrict__ out, const float* __restrict__ scales, uint outputs, uint volume) {
  const uint channel = group_z() * outputs + group_y();
  const float scale = scales[channel];
  float* from = out + static_cast<uint64>(channel) * volume;
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint at = group_x() * 4096 + i * 1024 + lane_x() * 4;
    const int64 left = static_cast<int64>(volume) - at;
    store4(from + at, load4(from + at, left, 0) * scale, left);
  }
}
