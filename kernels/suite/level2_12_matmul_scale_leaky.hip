// KernelBench 2/12: out = leaky_relu(2 * (x * W^T + b), 0.1). x is [m][k], W is [n][k], out is [m][n].
#include "matrix_tile.h"

extern "C" __global__ void __workgroup__(256)
    matmul_scale_leaky(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                       float* __restrict__ out, uint m, uint n, uint k) {
  __shared__ TileF32::Storage lds;
  TileF32 tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 bias = four_of(b, column, n);
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        const float4 z = (tile.four(tm, tn, group) + bias) * 2.0f;
        put_four(out, tile.row(tm), column, m, n, __builtin_elementwise_max(z, z * 0.1f));
      }
    }
}
