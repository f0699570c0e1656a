// One step of a stencil of nine points: 16 rows of 64 columns a workgroup, a column a lane.
#include "common.h"

constexpr int rows = 16, columns = 64;

// All loads are under way before the first is waited for: the measured times of the small sizes leave no room
// for one after another.
__device__ inline void fill(float* to, const float* from, int width, int pitch) {
  float column[rows + 2];
#pragma unroll
  for (int i = 0; i < rows + 2; ++i) column[i] = from[i * pitch];
#pragma unroll
  for (int i = 0; i < rows + 2; ++i) to[i * width] = column[i];
}

// Rows of the tile lie `width` apart, which the compiler does not know: their reads and writes stay apart.
extern "C" __global__ void stencil2d(const float* in, float* out, int pitch, float centre, float cardinal,
                                     float diagonal) {
  __shared__ float tile[(rows + 2) * (columns + 2)];
  const int lane = static_cast<int>(lane_y()), size = static_cast<int>(group_size_y()), width = size + 2;
  const int row = static_cast<int>(group_x()) * rows + 1;
  const int column = static_cast<int>(group_y()) * size + lane + 1;

  const float* const top = in + (row - 1) * pitch + column;
  fill(tile + lane + 1, top, width, pitch);
  if (lane == 0) fill(tile, top - 1, width, pitch);
  if (lane == size - 1) fill(tile + lane + 2, top + 1, width, pitch);
  barrier();

#pragma unroll
  for (int i = 1; i <= rows; ++i) {
    const float* at = tile + i * width + lane + 1;
    const float cardinals = at[-width] + at[width] + at[-1] + at[1];
    const float diagonals = at[-width - 1] + at[-width + 1] + at[width - 1] + at[width + 1];
    out[(row + i - 1) * pitch + column] = centre * at[0] + cardinal * cardinals + diagonal * diagonals;
  }
}
