// out = x * W^T in half-precision numbers, summed in float. x is [m][k], W is [n][k], out is [m][n]. K0 is
// gemm_f16.
#include "matrix_formats.h"

using Tile = MatrixTile<FormatF16, 128, 128, 64, 64>;

extern "C" __global__ void __workgroup__(256)
    gemm_f16(const _Float16* __restrict__ x, const _Float16* __restrict__ w, _Float16* __restrict__ out,
             uint m, uint n, uint k) {
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  put_tile(tile, out, m, n, [](auto four) { return four; });
}
