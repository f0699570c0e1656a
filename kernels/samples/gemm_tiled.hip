// C = A * B for any sizes: four waves compute 64 x 64 of C from tiles in LDS by f16 matrix instructions,
// elements outside the matrices count as zeros. A is M x K row by row, B is K x N row by row.
#include "device.h"

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float16 = float __attribute__((ext_vector_type(16)));

constexpr uint tile = 64, depth = 16, pad = 4;

extern "C" __global__ void __launch_bounds__(256)
    gemm_tiled(const _Float16* a, const _Float16* b, float* c, uint m, uint n, uint k, float alpha,
               float beta) {
  __shared__ _Float16 a_tile[tile][depth + pad], b_tile[tile][depth + pad]; // b_tile is transposed
  const uint first_row = group_y() * tile, first_column = group_x() * tile;
  const uint lane = wave_lane(), wave = wave_number(), row = lane % 32, half = lane / 32;
  const uint wave_row = wave / 2 * 32, wave_column = wave % 2 * 32;
  float16 sum = {};
  for (uint at = 0; at < k; at += depth) {
    for (uint e = lane_x(); e < tile * depth; e += 256) {
      const uint ar = e / depth, ak = e % depth, bk = e / tile, bc = e % tile;
      const bool a_inside = first_row + ar < m && at + ak < k,
                 b_inside = first_column + bc < n && at + bk < k;
      a_tile[ar][ak] = a_inside ? a[(first_row + ar) * k + at + ak] : static_cast<_Float16>(0);
      b_tile[bc][bk] = b_inside ? b[(at + bk) * n + first_column + bc] : static_cast<_Float16>(0);
    }
    barrier();
    for (uint step = 0; step < depth; step += 8) {
      const half4 x = *reinterpret_cast<half4*>(&a_tile[wave_row + row][step + half * 4]);
      const half4 y = *reinterpret_cast<half4*>(&b_tile[wave_column + row][step + half * 4]);
      sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
    }
    barrier();
  }
  const uint column = first_column + wave_column + row;
  for (uint r = 0; r < 16; ++r) {
    const uint c_row = first_row + wave_row + r / 4 * 8 + half * 4 + r % 4;
    if (c_row < m && column < n) c[c_row * n + column] = alpha * sum[r] + beta * c[c_row * n + column];
  }
}
