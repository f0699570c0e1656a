// out = x * W^T of fp8 (e4m3) numbers with block scales, in bfloat16. x is [m][k] with a scale for each row
// and 128 columns, x_scales[ceil(k / 128)][m]; W is [n][k] with a scale for 128 by 128 numbers,
// w_scales[ceil(n / 128)][ceil(k / 128)]; out is [m][n]. K0 is gemm_fp8_blocks: 128 columns are one step of
// its loop, whose products are scaled before they are added to what was there.
#pragma once

#include "matrix_formats.h"

extern "C" __global__ void __workgroup__(256)
    gemm_fp8_blocks(const unsigned char* __restrict__ x, const unsigned char* __restrict__ w,
                    const float* __restrict__ x_scales, const float* __restrict__ w_scales,
                    __bf16* __restrict__ out, uint m, uint n, uint k) {
  using Tile = MatrixTile<FormatFp8, 128, 128, 64, 64, 128>;
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  Tile::Side<128> x_side(x, group_y() * 128, m, k), w_side(w, group_x() * 128, n, k);
  const uint blocks = (k + 127) / 128;
  float16 total[2][2] = {};
  tile.multiply(lds, x_side, w_side, k, [&](uint at) {
    const float w_scale = w_scales[group_x() * blocks + at / 128];
#pragma unroll
    for (uint tm = 0; tm < 2; ++tm) {
      const uint row = tile.row(tm) < m ? tile.row(tm) : m - 1;
      const float scale = x_scales[static_cast<uint64>(at / 128) * m + row] * w_scale;
#pragma unroll
      for (uint tn = 0; tn < 2; ++tn) {
        total[tm][tn] += tile.sum[tm][tn] * scale;
        tile.sum[tm][tn] = float16{};
      }
    }
  });
#pragma unroll
  for (uint tm = 0; tm < 2; ++tm)
#pragma unroll
    for (uint tn = 0; tn < 2; ++tn) tile.sum[tm][tn] = total[tm][tn];
  put_tile(tile, out, m, n, [](auto four) { return four; });
}
