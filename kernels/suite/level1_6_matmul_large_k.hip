// KernelBench level 1, 6: C = A * B in f32 where k is far larger than m and n. The workgroups share k, each
// part of it goes to memory of its own, and the parts are added in a fixed order. K0 is matmul_split.
#include "gemm_nn.h"

constexpr uint tile = 64;

// Parts in x: the tiles of one part, which share its rows of B and columns of A, meet in one cache.
extern "C" __global__ void __workgroup__(gemm::threads)
    matmul_split(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ parts, uint m,
                 uint n, uint k, uint k_part) {
  __shared__ gemm::Lds<tile> lds;
  const uint row = group_z() * tile, column = group_y() * tile;
  const uint first = group_x() * k_part, start = first < k ? first : k; // there may be parts without any k
  const uint end = k - start < k_part ? k : start + k_part;
  gemm::Sums<tile> sums = {};
  gemm::tile_product<tile>({a, m, k}, {b, k, n}, row, column, start, end, lds, sums, gemm::KeepAll{});
  gemm::store_tile<tile>(sums, parts + uint64{group_x()} * m * n, m, n, row, column);
}

/// c[i] = sum of parts[part][i]: 64 elements a workgroup, each wave a quarter of the parts.
extern "C" __global__ void __workgroup__(256)
    add_parts(const float* __restrict__ parts, float* __restrict__ c, uint count, uint part_count) {
  __shared__ float sums[4][64];
  const uint lane = lane_x() % 64, wave = lane_x() / 64, at = group_x() * 64 + lane;
  float sum = 0;
  if (at < count)
    for (uint part = wave; part < part_count; part += 4) sum += parts[uint64{part} * count + at];
  sums[wave][lane] = sum;
  barrier();
  if (wave == 0 && at < count) c[at] = sums[0][lane] + sums[1][lane] + (sums[2][lane] + sums[3][lane]);
}
