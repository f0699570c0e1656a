// Products with one of many matrices (LoRA adapters, experts) for each row: out[r] += scale * x[r] * W[a]^T
// for the rows r of adapter a. Rows are named in `rows`, sorted by adapter, and filled up with numbers beyond
// m so that every 64 of them belong to one adapter, adapters[i / 64]. x is [m][k], W is [adapters][n][k], out
// is [m][n], in half precision. K0 is gemm_gather.
#include "matrix_formats.h"

using Tile = MatrixTile<FormatF16, 64, 128, 32, 64>;

extern "C" __global__ void __workgroup__(256)
    gemm_gather(const _Float16* __restrict__ x, const _Float16* __restrict__ w, const uint* __restrict__ rows,
                const uint* __restrict__ adapters, _Float16* __restrict__ out, float scale, uint m, uint n,
                uint k) {
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 64, group_x() * 128);
  Tile::Side<64> x_side(x, group_y() * 64, group_y() * 64 + 64, k, [=](uint place) {
    const uint row = rows[place];
    return row < m ? row : m - 1;
  });
  Tile::Side<128> w_side(w + static_cast<uint64>(adapters[group_y()]) * n * k, group_x() * 128, n, k);
  tile.multiply(lds, x_side, w_side, k, [](uint) {});
  const uint row = rows[tile.row(0)];
  if (row >= m) return;
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      _Float16* at = out + static_cast<uint64>(row) * n + column;
      Half4 before = {};
#pragma unroll
      for (uint e = 0; e < 4; ++e)
        if (column + e < n) before[e] = at[e];
      const float4 after = __builtin_convertvector(before, float4) + tile.four(0, tn, group) * scale;
      put_four_of(out, row, column, m, n, __builtin_convertvector(after, Half4));
    }
}
