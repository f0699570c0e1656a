// C = A B in tiles of 32 x 32, a tile a wave, 4 x 4 elements a lane. A's tile goes through memory that all
// workgroups use at once, and is always that of the first rows: with more than one workgroup the results mean
// nothing, as with the kernel that was measured.
#include "common.h"

extern "C" __global__ void matrixmultiplication(float4* a, float4* b, float4* c, uint a_pitch,
                                                float4* scratch) {
  const uint lane = lane_x(), row = lane_y();
  const uint width = group_size_x(), height = group_size_y();
  const uint column = index_x(), b_pitch = group_size_x() * group_count_x();
  float4 sum[4] = {};
  for (uint i = 0; i < a_pitch / width; ++i) {
    for (uint r = 0; r < 4; ++r)
      scratch[(row * 4 + r) * width + lane] = a[(row * 4 + r) * a_pitch + i * width + lane];
    barrier();
    for (uint j = 0; j < height; ++j) {
      float4 part[4];
      for (uint r = 0; r < 4; ++r) part[r] = scratch[(row * 4 + r) * width + j];
      const uint from = (i * height + j) * 4 * b_pitch + column;
      const float4 b0 = b[from], b1 = b[from + b_pitch], b2 = b[from + 2 * b_pitch],
                   b3 = b[from + 3 * b_pitch];
      for (uint r = 0; r < 4; ++r)
        sum[r] += part[r].x * b0 + part[r].y * b1 + part[r].z * b2 + part[r].w * b3;
    }
    barrier();
  }
  for (uint r = 0; r < 4; ++r) c[(index_y() * 4 + r) * b_pitch + column] = sum[r];
}
