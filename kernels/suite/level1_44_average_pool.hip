// KernelBench level 1, 44: means of 8 neighbours, stride 1, 4 of padding on both sides that count as 0. A
// lane computes eight outputs from sums of pairs and of fours. K0 is average_pool.
#include "common.h"

constexpr uint threads = 256, outputs = 8;

/// x [rows][length], y [rows][length + 1].
extern "C" __global__ void __workgroup__(threads)
    average_pool(const float* __restrict__ x, float* __restrict__ y, uint length) {
  const uint first = (group_x() * threads + lane_x()) * outputs;
  if (first > length) return;
  x += uint64{group_y()} * length;
  y += uint64{group_y()} * (length + 1) + first;
  float value[16];
  if (first >= 4 && first + 12 <= length) {
#pragma unroll
    for (uint i = 0; i < 4; ++i) *reinterpret_cast<float4*>(&value[i * 4]) = load4(x + (first - 4 + i * 4));
  } else {
#pragma unroll
    for (uint i = 0; i < 15; ++i) {
      const uint at = first + i - 4; // wraps in front of the row
      value[i] = at < length ? x[at] : 0;
    }
  }
  float pairs[14], fours[12];
#pragma unroll
  for (uint i = 0; i < 14; ++i) pairs[i] = value[i] + value[i + 1];
#pragma unroll
  for (uint i = 0; i < 12; ++i) fours[i] = pairs[i] + pairs[i + 2];
  float4 mean[2];
#pragma unroll
  for (uint i = 0; i < 8; ++i) mean[i / 4][i % 4] = (fours[i] + fours[i + 4]) * 0.125f;
  const int64 left = static_cast<int64>(length) + 1 - first;
  if (left >= 8) {
    store4(y, mean[0]);
    store4(y + 4, mean[1]);
  } else {
    store4(y, mean[0], left);
    store4(y + 4, mean[1], left - 4);
  }
}
