// KernelBench 2/28: z = x * W^T + b; out = (normalised(z) + y) * y, where a row of z is normalised to mean 0
// and variance 1. x is [m][k], W is [n][k], y and out are [m][n]. K0 is matmul_bias, which leaves z in `out`;
// row_normalise_residual goes over it in place.
#include "matrix_tile.h"
#include "row_registers.h"

extern "C" __global__ void __workgroup__(256)
    matmul_bias(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
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
      for (uint tm = 0; tm < 2; ++tm)
        put_four(out, tile.row(tm), column, m, n, tile.four(tm, tn, group) + bias);
    }
}

/// A workgroup a row of at most 8192 elements.
extern "C" __global__ void __workgroup__(256)
    row_normalise_residual(const float* __restrict__ y, float* __restrict__ out, uint n) {
  __shared__ float part[2][4];
  float* row = out + static_cast<uint64>(group_x()) * n;
  const RowRegisters residual(y + static_cast<uint64>(group_x()) * n, n, 0);
  RowRegisters z(row, n, 0);
  const float mean = block_reduce<4>(z.reduce(0.0f, Sum{}), Sum{}, part[0]) / static_cast<float>(n);
  float4 squares = {};
#pragma unroll
  for (uint i = 0; i < RowRegisters::quads; ++i)
#pragma unroll
    for (uint e = 0; e < 4; ++e) {
      const float off = z.left(i, n) > e ? z.values[i][e] - mean : 0;
      squares[e] += off * off;
    }
  const float square = block_reduce<4>((squares[0] + squares[1]) + (squares[2] + squares[3]), Sum{}, part[1]);
  const float scale = __builtin_amdgcn_rsqf(square / static_cast<float>(n) + 1e-5f);
#pragma unroll
  for (uint i = 0; i < RowRegisters::quads; ++i)
    z.values[i] = ((z.values[i] - mean) * scale + residual.values[i]) * residual.values[i];
  z.put(row, n);
}
