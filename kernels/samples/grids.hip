// Where work-items are: grids in two and three directions with partial workgroups at their edges, grid-stride
// loops, the sizes that come as hidden arguments (or, in code object V4, from the dispatch packet), and grids
// of more than 2^32 work-items.
#include "device.h"

/// out[x][z][y] = in[z][y][x] through a tile in LDS, padded against bank conflicts.
extern "C" __global__ void transpose(const float* in, float* out, uint width, uint height, uint depth) {
  __shared__ float tile[8][9];
  const uint x = group_x() * 8 + lane_x(), y = group_y() * 8 + lane_y(), z = group_z();
  if (x < width && y < height) tile[lane_y()][lane_x()] = in[(z * height + y) * width + x];
  barrier();
  const uint out_x = group_x() * 8 + lane_y(), out_y = group_y() * 8 + lane_x();
  if (out_x < width && out_y < height) out[(out_x * depth + z) * height + out_y] = tile[lane_x()][lane_y()];
}

/// Every work-item of a grid of any shape says who it is: where it writes is where it stands.
struct Position {
  uint lane[3], group[3], size[3], groups[3];
};
extern "C" __global__ void positions(Position* out, uint width, uint height) {
  const uint x = group_x() * group_size_x() + lane_x(), y = group_y() * group_size_y() + lane_y(),
             z = group_z() * group_size_z() + lane_z();
  const uint grid_x = __builtin_amdgcn_grid_size_x(), grid_y = __builtin_amdgcn_grid_size_y(),
             grid_z = __builtin_amdgcn_grid_size_z();
  out[(z * height + y) * width + x] = {{lane_x(), lane_y(), lane_z()},
                                       {group_x(), group_y(), group_z()},
                                       {group_size_x(), group_size_y(), group_size_z()},
                                       {grid_x, grid_y, grid_z}};
}

/// A 5-point stencil; the workgroups at the edges are partial ones if the host launches exactly width x
/// height.
extern "C" __global__ void stencil(const double* in, double* out, int width, int height) {
  const int x = static_cast<int>(group_x() * 16 + lane_x()), y = static_cast<int>(group_y() * 4 + lane_y());
  auto at = [&](int column, int row) {
    const bool inside = column >= 0 && row >= 0 && column < width && row < height;
    return inside ? in[row * width + column] : 0;
  };
  out[y * width + x] = 0.5 * at(x, y) + 0.125 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1));
}

/// A fixed number of workgroups walks over any number of elements.
extern "C" __global__ void grid_stride(const float* in, float* out, unsigned long n) {
  const unsigned long step = __builtin_amdgcn_grid_size_x();
  for (unsigned long i = index_x(); i < n; i += step) out[i] = in[i] * in[i] + 1.0f;
}

/// Of a grid too large to store anything for each work-item: those of the workgroups named in `watched` (by
/// their linear number) leave their 64-bit index.
extern "C" __global__ void huge(unsigned long* out, const unsigned long* watched, uint watched_count,
                                uint groups_x, uint groups_y) {
  const unsigned long group =
      (static_cast<unsigned long>(group_z()) * groups_y + group_y()) * groups_x + group_x();
  for (uint k = 0; k < watched_count; ++k)
    if (watched[k] == group) out[k * group_size_x() + lane_x()] = group * group_size_x() + lane_x();
}
