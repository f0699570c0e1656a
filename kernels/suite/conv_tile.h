// A workgroup's tile of a 3x3 convolution (no padding, stride 1) on the matrix cores, for kernels that go on
// with it in registers. x is [b][ci][h][w], the weights are [co][ci][3][3].
//
// It is a matrix product for each of the nine taps: output channels by input channels by pixels. A patch of x
// for eight input channels is in LDS, and serves all taps. Pixels lie along the lanes, 32 of a row each, and
// a wave has `rows` rows of them, one below the other, and 32 * tiles_c output channels.
#pragma once

#include "common.h"

template <uint tiles_c, uint rows, uint waves_c, uint waves_x>
class ConvTile {
 public:
  static constexpr uint threads = waves_c * waves_x * 64, depth = 8;
  static constexpr uint channels = 32 * tiles_c * waves_c, columns = 32 * waves_x;
  static constexpr uint patch_rows = rows + 2, patch_columns = columns + 2;

  struct Storage {
    float x[depth][patch_rows][patch_columns];
    alignas(16) float w[9][channels][depth]; // at swapped()
  };

  float16 sum[tiles_c][rows] = {};

  /// The place of the tile: its first output channel, its first pixel.
  __inline_device__ ConvTile(uint first_channel, uint first_y, uint first_x)
      : wave_(__builtin_amdgcn_readfirstlane(lane_x() / 64)), first_channel_(first_channel),
        first_y_(first_y), first_x_(first_x) {}

  /// `x` is one image of `inputs` channels. Pixels outside it count as 0, and channels that do not exist too.
  __inline_device__ void convolve(Storage& lds, const float* x, const float* w, uint inputs, uint outputs,
                                  uint height, uint width) {
    for (uint channel = 0; channel < inputs; channel += depth) {
      barrier();
      load_patch(lds, x, channel, inputs, height, width);
      load_weights(lds, w, channel, inputs, outputs);
      barrier();
      add(lds);
    }
  }

  /// The pixel's column; the output channel of place `i` of sum[tc].
  __inline_device__ uint x() const { return first_x_ + wave_ % waves_x * 32 + wave_lane() % 32; }
  __inline_device__ uint channel(uint tc, uint i) const {
    return first_wave_channel() + tc * 32 + i / 4 * 8 + wave_lane() / 32 * 4 + i % 4;
  }
  __inline_device__ uint first_wave_channel() const {
    return first_channel_ + wave_ / waves_x * 32 * tiles_c;
  }
  __inline_device__ uint wave() const { return wave_; }

 private:
  /// Every other four output channels have the halves of their eight input channels swapped, so that eight
  /// lanes read from all banks.
  static __inline_device__ uint swapped(uint c, uint input) { return input ^ (c & 4); }

  __inline_device__ void load_patch(Storage& lds, const float* x, uint channel, uint inputs, uint height,
                                    uint width) const {
    constexpr uint total = depth * patch_rows * patch_columns;
    float* patch = &lds.x[0][0][0];
#pragma unroll 4
    for (uint i = 0; i < (total + threads - 1) / threads; ++i) {
      const uint at = i * threads + lane_x();
      const uint c = channel + at / (patch_rows * patch_columns);
      const uint y = first_y_ + at / patch_columns % patch_rows, column = first_x_ + at % patch_columns;
      float value = 0;
      if (at < total && c < inputs && y < height && column < width)
        value = x[(static_cast<uint64>(c) * height + y) * width + column];
      if (at < total) patch[at] = value;
    }
  }

  /// Eight input channels' weights of one output channel are 72 numbers in a row.
  __inline_device__ void load_weights(Storage& lds, const float* w, uint channel, uint inputs,
                                      uint outputs) const {
    constexpr uint total = channels * depth * 9;
#pragma unroll 4
    for (uint i = 0; i < (total + threads - 1) / threads; ++i) {
      const uint at = i * threads + lane_x(), c = at / (depth * 9), inside = at % (depth * 9);
      if (total % threads != 0 && at >= total) break;
      float value = 0;
      if (first_channel_ + c < outputs && channel + inside / 9 < inputs)
        value = w[(static_cast<uint64>(first_channel_ + c) * inputs + channel) * 9 + inside];
      lds.w[inside % 9][c][swapped(c, inside / 9)] = value;
    }
  }

  __inline_device__ void add(const Storage& lds) {
    const uint lane = wave_lane() % 32, part = wave_lane() / 32 * 4;
    const uint c = wave_ / waves_x * 32 * tiles_c + lane, column = wave_ % waves_x * 32 + lane;
#pragma unroll
    for (uint shift = 0; shift < 3; ++shift) {
      float x[patch_rows][4];
#pragma unroll
      for (uint y = 0; y < patch_rows; ++y)
#pragma unroll
        for (uint t = 0; t < 4; ++t) x[y][t] = lds.x[part + t][y][column + shift];
#pragma unroll
      for (uint down = 0; down < 3; ++down)
#pragma unroll
        for (uint tc = 0; tc < tiles_c; ++tc) {
          const float4 w =
              *reinterpret_cast<const float4*>(&lds.w[down * 3 + shift][c + tc * 32][swapped(c, part)]);
#pragma unroll
          for (uint y = 0; y < rows; ++y)
#pragma unroll
            for (uint t = 0; t < 4; ++t)
              sum[tc][y] = __builtin_amdgcn_mfma_f32_32x32x2f32(w[t], x[y + down][t], sum[tc][y], 0, 0, 0);
        }
    }
  }

  uint wave_, first_channel_, first_y_, first_x_;
};
