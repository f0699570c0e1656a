// KernelBench 2/37: out = groupnorm(swish(x * W^T + b) + a), groups of 64 columns of a row, gamma and beta a
// column. x is [m][k], W is [n][k], out is [m][n], n is a multiple of 64. A wave has whole groups: 64
// columns.
#include "matrix_tile.h"

constexpr uint width = 64;

extern "C" __global__ void __workgroup__(256)
    matmul_swish_sum_groupnorm(const float* __restrict__ x, const float* __restrict__ w,
                               const float* __restrict__ b, const float* __restrict__ a,
                               const float* __restrict__ gamma, const float* __restrict__ beta,
                               float* __restrict__ out, uint m, uint n, uint k) {
  __shared__ TileF32::Storage lds;
  TileF32 tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  float4 total[2] = {}, squares[2] = {};
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 bias = four_of(b, column, n), addend = four_of(a, column, n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        const float4 z = swish(tile.four(tm, tn, group) + bias) + addend;
        tile.set_four(tm, tn, group, z);
        total[tm] += z;
      }
    }
  float mean[2], scale[2];
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm) {
    mean[tm] = both_halves(total[tm]) * (1.0f / width);
#pragma unroll
    for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
      for (uint group = 0; group < 4; ++group) {
        const float4 off = tile.four(tm, tn, group) - mean[tm];
        squares[tm] += off * off;
      }
    scale[tm] = __builtin_amdgcn_rsqf(both_halves(squares[tm]) * (1.0f / width) + 1e-5f);
  }
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 g = four_of(gamma, column, n), h = four_of(beta, column, n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm)
        put_four(out, tile.row(tm), column, m, n, (tile.four(tm, tn, group) - mean[tm]) * scale[tm] * g + h);
    }
}
