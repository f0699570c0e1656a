// KernelBench 2/23: out[image] = mean of groupnorm(conv3x3x3(x) + b) over channels and space: groups of
// `width` channels, gamma and beta a channel. x is [batch][3][d][h][w], the weights are [co][3][3][3][3] with
// at most 32 co, out is [batch].
//
// Of the convolution only sums are needed: of each channel, and of its squares. K0 is conv_sums: it leaves
// them for every tile of 8 rows and 32 columns of a slice in sums[image][part][2][32]; mean_of_norm does the
// rest.
#include "common.h"

constexpr uint rows = 8, columns = 32, inputs = 3, taps = inputs * 27, pairs = (taps + 1) / 2;
constexpr uint patch_rows = rows + 2, patch_columns = columns + 2;

/// Grid is (column tiles * row tiles, slices, images). The matrix product is of 32 output channels by 81 taps
/// by 32 pixels of a row; the weights stay in registers. A wave has two rows.
extern "C" __global__ void __workgroup__(256)
    conv_sums(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
              float* __restrict__ sums, uint outputs, uint depth, uint height, uint width,
              uint column_tiles) {
  __shared__ float patch[inputs][3][patch_rows][patch_columns];
  __shared__ float part[4][2][32];
  const uint wave = __builtin_amdgcn_readfirstlane(lane_x() / 64), lane = wave_lane() % 32;
  const uint half = wave_lane() / 32;
  const uint first_row = group_x() / column_tiles * rows, first_column = group_x() % column_tiles * columns;
  constexpr uint total = inputs * 3 * patch_rows * patch_columns;
#pragma unroll 4
  for (uint at = lane_x(); at < total; at += 256) {
    const uint column = first_column + at % patch_columns, y = first_row + at / patch_columns % patch_rows;
    const uint z = group_y() + at / (patch_columns * patch_rows) % 3;
    const uint c = at / (patch_columns * patch_rows * 3);
    const bool inside = y < height && column < width;
    (&patch[0][0][0][0])[at] =
        inside
            ? x[(((static_cast<uint64>(group_z()) * inputs + c) * depth + z) * height + y) * width + column]
            : 0;
  }
  float weights[pairs];
#pragma unroll
  for (uint pair = 0; pair < pairs; ++pair) {
    const uint tap = pair * 2 + half;
    weights[pair] = lane < outputs && tap < taps ? w[lane * taps + tap] : 0;
  }
  barrier();
  float sum[16] = {}, square[16] = {};
#pragma unroll
  for (uint step = 0; step < rows / 4; ++step) {
    const uint row = wave * (rows / 4) + step;
    float16 z = {};
#pragma unroll
    for (uint pair = 0; pair < pairs; ++pair) {
      // The patch's place of tap t, for the two taps that the wave's halves have.
      constexpr auto place = [](uint t) {
        return ((t / 27 * 3 + t / 9 % 3) * patch_rows + t / 3 % 3) * patch_columns + t % 3;
      };
      const uint even = place(pair * 2), odd = place(pair * 2 + 1 < taps ? pair * 2 + 1 : 0);
      const float pixel = (&patch[0][0][0][0])[(half != 0 ? odd : even) + row * patch_columns + lane];
      z = __builtin_amdgcn_mfma_f32_32x32x2f32(weights[pair], pixel, z, 0, 0, 0);
    }
    const bool inside = first_row + row + 2 < height && first_column + lane + 2 < width;
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
      const uint channel = i / 4 * 8 + half * 4 + i % 4;
      const float value = inside && channel < outputs ? z[i] + b[channel] : 0;
      sum[i] += value;
      square[i] += value * value;
    }
  }
#pragma unroll
  for (uint i = 0; i < 16; ++i) {
#pragma unroll
    for (uint across = 1; across < 32; across *= 2) {
      sum[i] += shuffle_xor(sum[i], across);
      square[i] += shuffle_xor(square[i], across);
    }
    if (lane == 0) {
      part[wave][0][i / 4 * 8 + half * 4 + i % 4] = sum[i];
      part[wave][1][i / 4 * 8 + half * 4 + i % 4] = square[i];
    }
  }
  barrier();
  if (lane_x() >= 64) return;
  const uint tiles = __builtin_amdgcn_workgroup_id_x(), which = lane_x() / 32;
  const uint row_tiles = (height - 2 + rows - 1) / rows;
  const uint at = (group_z() * (depth - 2) + group_y()) * row_tiles * column_tiles + tiles;
  sums[static_cast<uint64>(at) * 64 + lane_x()] =
      (part[0][which][lane] + part[1][which][lane]) + (part[2][which][lane] + part[3][which][lane]);
}

/// A workgroup an image: `parts` sums of each channel and of its squares, `pixels` pixels in all.
extern "C" __global__ void __workgroup__(256)
    mean_of_norm(const float* __restrict__ sums, const float* __restrict__ gamma,
                 const float* __restrict__ beta, float* __restrict__ out, uint outputs, uint width,
                 uint parts, uint pixels) {
  __shared__ float part[4][64], total[64], values[32];
  const float* from = sums + static_cast<uint64>(group_x()) * parts * 64 + lane_x() % 64;
  float sum = 0;
  for (uint p = lane_x() / 64; p < parts; p += 4) sum += from[static_cast<uint64>(p) * 64];
  part[lane_x() / 64][lane_x() % 64] = sum;
  barrier();
  if (lane_x() < 64)
    total[lane_x()] = ((part[0][lane_x()] + part[1][lane_x()]) + (part[2][lane_x()] + part[3][lane_x()])) /
                      static_cast<float>(pixels);
  barrier();
  if (lane_x() < outputs) {
    const uint first = lane_x() / width * width;
    float mean = 0, square = 0;
    for (uint c = first; c < first + width; ++c) {
      mean += total[c];
      square += total[32 + c];
    }
    mean /= static_cast<float>(width);
    square = square / static_cast<float>(width) - mean * mean;
    values[lane_x()] =
        gamma[lane_x()] * (total[lane_x()] - mean) * __builtin_amdgcn_rsqf(square + 1e-5f) + beta[lane_x()];
  }
  barrier();
  if (lane_x() != 0) return;
  float mean = 0;
  for (uint c = 0; c < outputs; ++c) mean += values[c];
  out[group_x()] = mean / static_cast<float>(outputs);
}
