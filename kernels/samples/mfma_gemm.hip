// C = A * B through the matrix cores, one 32x32 (f16) or 16x16 (f64) tile of C a wave. A is M x K row by row,
// B is N x K row by row (that is, transposed), C is M x N; sizes are multiples of the tile.
#include "device.h"

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float16 = float __attribute__((ext_vector_type(16)));
using double4 = double __attribute__((ext_vector_type(4)));

extern "C" __global__ void __launch_bounds__(64)
    gemm_f16(const _Float16* a, const _Float16* b, float* c, uint n, uint k) {
  const uint row = lane_x() % 32, part = lane_x() / 32;
  const _Float16* a_row = a + (group_y() * 32 + row) * k;
  const _Float16* b_row = b + (group_x() * 32 + row) * k;
  float16 sum = {};
  for (uint at = 0; at < k; at += 8) {
    half4 a_part, b_part;
    for (uint i = 0; i < 4; ++i) {
      a_part[i] = a_row[at + part * 4 + i];
      b_part[i] = b_row[at + part * 4 + i];
    }
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(a_part, b_part, sum, 0, 0, 0);
  }
  for (uint i = 0; i < 16; ++i) {
    const uint c_row = (i / 4) * 8 + part * 4 + i % 4;
    c[(group_y() * 32 + c_row) * n + group_x() * 32 + row] = sum[i];
  }
}

extern "C" __global__ void __launch_bounds__(64)
    gemm_f64(const double* a, const double* b, double* c, uint n, uint k) {
  const uint row = lane_x() % 16, part = lane_x() / 16;
  double4 sum = {};
  for (uint at = 0; at < k; at += 4)
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[(group_y() * 16 + row) * k + at + part],
                                               b[(group_x() * 16 + row) * k + at + part], sum, 0, 0, 0);
  for (uint i = 0; i < 4; ++i) c[(group_y() * 16 + i * 4 + part) * n + group_x() * 16 + row] = sum[i];
}
