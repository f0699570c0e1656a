// KernelBench level 1, 14: C = A * B for upper triangular [n][n] matrices in f32: only k from the row to the
// column counts, whatever lies below the diagonals, and C is 0 there. K0 is matmul_upper.
#include "gemm_nn.h"

constexpr uint tile = 128;

/// Clears what lies below the diagonals, in those steps where there is any.
struct KeepUpper {
  uint row, column; // of the tile
  __inline_device__ float4 a(float4 quad, uint at_row, uint k) const {
    return k < row + tile ? upper(quad, at_row, k) : quad;
  }
  __inline_device__ float4 b(float4 quad, uint k, uint at_column) const {
    return k >= column ? upper(quad, k, at_column) : quad;
  }
  __inline_device__ static float4 upper(float4 quad, uint at_row, uint at_column) {
#pragma unroll
    for (uint i = 0; i < 4; ++i) quad[i] = at_column + i < at_row ? 0 : quad[i];
    return quad;
  }
};

extern "C" __global__ void __workgroup__(gemm::threads)
    matmul_upper(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, uint n) {
  __shared__ gemm::Lds<tile> lds;
  const uint tiles = (n + tile - 1) / tile;
  // The tiles with the longest way from row to column first: they decide when the launch ends.
  const uint row = group_y() * tile, column = (tiles - 1 - group_x()) * tile;
  gemm::Sums<tile> sums = {};
  if (column >= row) {
    const uint end = column + tile < n ? column + tile : n;
    gemm::tile_product<tile>({a, n, n}, {b, n, n}, row, column, row, end, lds, sums, KeepUpper{row, column});
  }
  gemm::store_tile<tile>(sums, c, n, n, row, column);
}
