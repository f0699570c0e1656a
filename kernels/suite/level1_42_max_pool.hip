// KernelBench level 1, 42: maxima of 4x4 windows, stride 1, one row and column of padding that never wins. A
// lane computes four columns of `strip` rows and keeps the rows' maxima in registers. K0 is max_pool.
#include "common.h"

constexpr uint strip = 16, waves = 4, ahead = 4; // rows of a wave; rows loaded at a time

struct Row {
  float at[7];
};

/// Columns `column` - 1 to `column` + 5 of the row that starts at `row`. What would lie outside is replaced
/// by the element at the edge, which is in every window that reaches over it.
__inline_device__ Row load_row(const float* row, uint column, uint width) {
  const float* at = row + column;
  const bool last = column + 6 > width;
  const float4 four = load4(at);
  const float2 two = load2(at + (last ? 3 : 4));
  return {{at[column > 0 ? -1 : 0], four.x, four.y, four.z, four.w, last ? two.y : two.x, two.y}};
}

__inline_device__ float max3(float a, float b, float c) {
  return __builtin_fmaxf(__builtin_fmaxf(a, b), c);
}

/// Of four neighbours each.
__inline_device__ float4 row_maxima(const Row& row) {
  const auto& x = row.at;
  const float middle = __builtin_fmaxf(x[2], x[3]), upper = __builtin_fmaxf(x[4], x[5]);
  return {max3(middle, x[0], x[1]), max3(middle, x[1], x[4]), __builtin_fmaxf(middle, upper),
          max3(upper, x[3], x[6])};
}

__inline_device__ float4 maxima(float4 a, float4 b) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) a[i] = __builtin_fmaxf(a[i], b[i]);
  return a;
}

/// Output rows `first` to `first` + `count` - 1; y is where the first of them goes.
__inline_device__ void pool_strip(const float* x, float* y, uint first, uint count, uint column, uint skip,
                                  uint height, uint width) {
  const auto load = [&](int row) {
    const int inside = row < 0 ? 0 : row < static_cast<int>(height) ? row : static_cast<int>(height) - 1;
    return load_row(x + static_cast<uint>(inside) * uint64{width}, column, width);
  };
  const int top = static_cast<int>(first) - 1;
  float4 rows[3] = {row_maxima(load(top)), row_maxima(load(top + 1)), row_maxima(load(top + 2))};
  const auto put = [&](const Row& row, uint at) {
    const float4 next = row_maxima(row);
    store4_from(y + at * (width - 1), maxima(maxima(rows[0], maxima(rows[1], rows[2])), next), skip);
    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[2] = next;
  };
  uint at = 0;
  for (; at + ahead <= count; at += ahead) {
    Row next[ahead];
#pragma unroll
    for (uint i = 0; i < ahead; ++i) next[i] = load(top + 3 + static_cast<int>(at + i));
#pragma unroll
    for (uint i = 0; i < ahead; ++i) put(next[i], at + i);
  }
  for (; at < count; ++at) put(load(top + 3 + static_cast<int>(at)), at);
}

/// x [planes][height][width], rows of at least 5; y [planes][height - 1][width - 1].
extern "C" __global__ void __workgroup__(64 * waves)
    max_pool(const float* __restrict__ x, float* __restrict__ y, uint height, uint width) {
  const uint wave = __builtin_amdgcn_readfirstlane(wave_number());
  const uint first = (group_y() * waves + wave) * strip, own = (group_x() * 64 + wave_lane()) * 4;
  const uint out_height = height - 1, out_width = width - 1;
  if (first >= out_height || own >= out_width) return;
  // The last lane of a row computes four columns as well, some of which are its neighbour's.
  const uint column = own + 4 <= out_width ? own : out_width - 4;
  x += uint64{group_z()} * height * width;
  y += (uint64{group_z()} * out_height + first) * out_width + column;
  pool_strip(x, y, first, out_height - first < strip ? out_height - first : strip, column, own - column,
             height, width);
}
