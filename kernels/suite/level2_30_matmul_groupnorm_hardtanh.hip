// KernelBench 2/30: out = clamp(groupnorm(x * W^T + b), -2, 2), groups of 512 columns of a row, gamma and
// beta a column. x is [m][k], W is [n][k], out is [m][n], n is a multiple of 512. The workgroup's tile is a
// group wide: eight waves have 64 columns each, and share their sums through LDS.
#include "matrix_tile.h"

constexpr uint width = 512, rows = 64, waves = 8;
using WideTile = MatrixTile<FormatF32, rows, width, 64, 64>;

/// What all waves have of a row, of which this lane has `own` in rows lane % 32 and 32 + lane % 32.
__device__ static void over_waves(float (&shared)[waves][rows], float (&own)[2], uint wave) {
  const uint lane = wave_lane() % 32;
  shared[wave][lane] = own[0];
  shared[wave][lane + 32] = own[1];
  barrier();
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm) {
    own[tm] = 0;
#pragma unroll
    for (uint other = 0; other < waves; ++other) own[tm] += shared[other][lane + tm * 32];
  }
}

extern "C" __global__ void __workgroup__(512)
    matmul_groupnorm_hardtanh(const float* __restrict__ x, const float* __restrict__ w,
                              const float* __restrict__ b, const float* __restrict__ gamma,
                              const float* __restrict__ beta, float* __restrict__ out, uint m, uint n,
                              uint k) {
  __shared__ WideTile::Storage lds;
  __shared__ float totals[waves][rows], squares[waves][rows];
  WideTile tile(group_y() * rows, group_x() * width);
  tile.multiply(lds, x, w, m, n, k);
  float4 partial[2] = {};
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const float4 bias = four_of(b, tile.column(tn, group), n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        const float4 z = tile.four(tm, tn, group) + bias;
        tile.set_four(tm, tn, group, z);
        partial[tm] += z;
      }
    }
  float mean[2] = {both_halves(partial[0]), both_halves(partial[1])}, scale[2];
  over_waves(totals, mean, tile.wave());
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm) {
    mean[tm] *= 1.0f / width;
    float4 square = {};
#pragma unroll
    for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
      for (uint group = 0; group < 4; ++group) {
        const float4 off = tile.four(tm, tn, group) - mean[tm];
        square += off * off;
      }
    scale[tm] = both_halves(square);
  }
  over_waves(squares, scale, tile.wave());
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm) scale[tm] = __builtin_amdgcn_rsqf(scale[tm] * (1.0f / width) + 1e-5f);
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 g = four_of(gamma, column, n), h = four_of(beta, column, n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        const float4 z = (tile.four(tm, tn, group) - mean[tm]) * scale[tm] * g + h;
        put_four(out, tile.row(tm), column, m, n,
                 __builtin_elementwise_min(__builtin_elementwise_max(z, float4(-2.0f)), float4(2.0f)));
      }
    }
}
