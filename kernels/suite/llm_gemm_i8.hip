// out = x * W^T of 8-bit integers in 32-bit integers. x is [m][k], W is [n][k], out is [m][n]. K0 is gemm_i8.
#include "matrix_formats.h"

using Tile = MatrixTile<FormatI8, 128, 128, 64, 64>;

extern "C" __global__ void __workgroup__(256)
    gemm_i8(const signed char* __restrict__ x, const signed char* __restrict__ w, int* __restrict__ out,
            uint m, uint n, uint k) {
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  put_tile(tile, out, m, n, [](auto four) { return four; });
}
