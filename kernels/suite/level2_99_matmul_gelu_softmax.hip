// KernelBench 2/99: out = softmax over a row of gelu(x * W^T + b). x is [m][k], W is [n][k], out is [m][n].
// K0 is matmul_gelu, which leaves the rows in `out`; row_softmax goes over them in place.
#include "matrix_tile.h"
#include "row_registers.h"

extern "C" __global__ void __workgroup__(256)
    matmul_gelu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
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
        float4 z = tile.four(tm, tn, group) + bias;
#pragma unroll
        for (uint e = 0; e < 4; ++e) z[e] = gelu(z[e]);
        put_four(out, tile.row(tm), column, m, n, z);
      }
    }
}

/// A workgroup a row of at most 8192 elements.
extern "C" __global__ void __workgroup__(256) row_softmax(float* __restrict__ out, uint n) {
  __shared__ float part[2][4];
  float* row = out + static_cast<uint64>(group_x()) * n;
  RowRegisters values(row, n, -infinity);
  const float most = block_reduce<4>(values.reduce(-infinity, Max{}), Max{}, part[0]);
  values.change([&](float v) { return fast_exp(v - most); });
  const float total = block_reduce<4>(values.reduce(0.0f, Sum{}), Sum{}, part[1]);
  const float scale = 1.0f / total;
  values.change([&](float v) { return v * scale; });
  values.put(row, n);
}
