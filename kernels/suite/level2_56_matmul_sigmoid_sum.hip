// KernelBench 2/56: out[i] = sum over a row of sigmoid(x * W^T + b). x is [m][k], W is [n][k], out is [m]. K0
// is matmul_sigmoid_sum, which leaves a sum for every 64 columns in `partial`, [ceil(n / 64)][m];
// sum_partial adds them up.
#include "matrix_tile.h"

extern "C" __global__ void __workgroup__(256)
    matmul_sigmoid_sum(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                       float* __restrict__ partial, uint m, uint n, uint k) {
  __shared__ TileF32::Storage lds;
  TileF32 tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  float4 total[2] = {};
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 bias = four_of(b, column, n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        const float4 z = tile.four(tm, tn, group) + bias;
#pragma unroll
        for (uint e = 0; e < 4; ++e) total[tm][e] += column + e < n ? fast_sigmoid(z[e]) : 0;
      }
    }
  const uint strip = tile.first_wave_column() / 64;
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm) {
    const float sum = both_halves(total[tm]);
    if (wave_lane() < 32 && tile.row(tm) < m && strip * 64 < n)
      partial[static_cast<uint64>(strip) * m + tile.row(tm)] = sum;
  }
}

/// A wave a row.
extern "C" __global__ void __workgroup__(64)
    sum_partial(const float* __restrict__ partial, float* __restrict__ out, uint m, uint strips) {
  float total = 0;
  for (uint strip = lane_x(); strip < strips; strip += 64)
    total += partial[static_cast<uint64>(strip) * m + group_x()];
  total = wave_sum(total);
  if (lane_x() == 0) out[group_x()] = total;
}
