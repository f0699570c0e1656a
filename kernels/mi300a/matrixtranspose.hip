// Transposes a square matrix in tiles of 64 x 64 elements, a tile a workgroup, 4 x 4 elements a lane.
// Workgroups of one row of the grid take tiles along a diagonal.
#include "common.h"

extern __shared__ float4 tile[];

extern "C" __global__ void matrixtranspose(float4* out, const float4* in, uint pitch, uint tiles) {
  const uint lane = lane_x(), row = lane_y(), size = group_size_x();
  const uint tile_row = group_x(), tile_column = (group_x() + group_y()) % tiles;

  const uint from = (tile_row * size + row) * 4 * pitch + tile_column * size + lane;
  const uint put = row * size * 4 + lane;
#pragma unroll
  for (uint k = 0; k < 4; ++k) tile[put + k * size] = in[from + k * pitch];
  barrier();

  const uint get = lane * size * 4 + row;
  float4 part[4];
#pragma unroll
  for (uint k = 0; k < 4; ++k) part[k] = tile[get + k * size];

  const uint to = (tile_column * size + row) * 4 * pitch + tile_row * size + lane;
  out[to] = float4{part[0].x, part[1].x, part[2].x, part[3].x};
  out[to + pitch] = float4{part[0].y, part[1].y, part[2].y, part[3].y};
  out[to + 2 * pitch] = float4{part[0].z, part[1].z, part[2].z, part[3].z};
  out[to + 3 * pitch] = float4{part[0].w, part[1].w, part[2].w, part[3].w};
}
