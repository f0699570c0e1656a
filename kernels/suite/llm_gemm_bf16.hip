// out = x * W^T in bfloat16 numbers, summed in float. x is [m][k], W is [n][k], out is [m][n]. K0 is
// gemm_bf16.
#include "matrix_formats.h"

using Tile = MatrixTile<FormatBf16, 128, 128, 64, 64>;

extern "C" __global__ void __workgroup__(256)
    gemm_bf16(const __bf16* __restrict__ x, const __bf16* __restrict__ w, __bf16* __restrict__ out, uint m,
              uint n, uint k) {
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  put_tile(tile, out, m, n, [](auto four) { return four; });
}
