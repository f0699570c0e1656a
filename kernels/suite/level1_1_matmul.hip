// KernelBench level 1, 1: C = A * B for matrices [m][k] and [k][n] in f32. K0 is matmul.
#include "gemm_nn.h"

constexpr uint tile = 128;

constexpr uint band =
    8; // rows of tiles that are worked through column by column, so that B's are met in cache

extern "C" __global__ void __workgroup__(gemm::threads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, uint m, uint n,
           uint k) {
  __shared__ gemm::Lds<tile> lds;
  const uint tile_rows = (m + tile - 1) / tile, tile_columns = (n + tile - 1) / tile;
  const uint first = group_x() / (band * tile_columns) * band, in_band = group_x() % (band * tile_columns);
  const uint height = tile_rows - first < band ? tile_rows - first : band;
  const uint row = (first + in_band % height) * tile, column = in_band / height * tile;
  gemm::Sums<tile> sums = {};
  gemm::tile_product<tile>({a, m, k}, {b, k, n}, row, column, 0, k, lds, sums, gemm::KeepAll{});
  gemm::store_tile<tile>(sums, c, m, n, row, column);
}
