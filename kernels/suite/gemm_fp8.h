// out = scale * x * W^T of fp8 (e4m3) numbers, summed in float, in bfloat16. x is [m][k], W is [n][k], out is
// [m][n]. K0 is gemm_fp8; with block scales it is gemm_fp8_blocks.
#pragma once

#include "matrix_formats.h"

extern "C" __global__ void __workgroup__(256)
    gemm_fp8(const unsigned char* __restrict__ x, const unsigned char* __restrict__ w,
             __bf16* __restrict__ out, float scale, uint m, uint n, uint k) {
  using Tile = MatrixTile<FormatFp8, 128, 128, 64, 64>;
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  put_tile(tile, out, m, n, [=](auto four) { return four * scale; });
}
