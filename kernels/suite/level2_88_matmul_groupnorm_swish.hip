// KernelBench 2/88: out = swish(swish(groupnorm(x * W^T + b)) * m), groups of 32 columns of a row, gamma,
// beta and the multiplier a column. x is [m][k], W is [n][k], out is [m][n], n is a multiple of 32: a group
// is one tile of the matrix instruction.
#include "matrix_tile.h"

constexpr uint width = 32;

extern "C" __global__ void __workgroup__(256)
    matmul_groupnorm_swish(const float* __restrict__ x, const float* __restrict__ w,
                           const float* __restrict__ b, const float* __restrict__ gamma,
                           const float* __restrict__ beta, const float* __restrict__ multiplier,
                           float* __restrict__ out, uint m, uint n, uint k) {
  __shared__ TileF32::Storage lds;
  TileF32 tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn) {
    float4 bias[4], g[4], h[4], factor[4];
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      bias[group] = four_of(b, column, n);
      g[group] = four_of(gamma, column, n);
      h[group] = four_of(beta, column, n);
      factor[group] = four_of(multiplier, column, n);
    }
#pragma unroll
    for (uint tm = 0; tm < 2; ++tm) {
      float4 z[4], total = {}, squares = {};
#pragma unroll
      for (uint group = 0; group < 4; ++group) {
        z[group] = tile.four(tm, tn, group) + bias[group];
        total += z[group];
      }
      const float mean = both_halves(total) * (1.0f / width);
#pragma unroll
      for (uint group = 0; group < 4; ++group) {
        z[group] -= mean;
        squares += z[group] * z[group];
      }
      const float scale = __builtin_amdgcn_rsqf(both_halves(squares) * (1.0f / width) + 1e-5f);
#pragma unroll
      for (uint group = 0; group < 4; ++group)
        put_four(out, tile.row(tm), tile.column(tn, group), m, n,
                 swish(swish(z[group] * scale * g[group] + h[group]) * factor[group]));
    }
  }
}
