// KernelBench level 1, 47: sum over the middle dimension of x [batch][rows][columns]. A workgroup has 256
// columns, four a lane; its waves share the rows. K0 is sum_rows.
#include "common.h"

constexpr uint waves = 16, unroll = 8;

/// `rows` rows from x on, as many lanes' quads as there are columns.
template <bool whole>
__inline_device__ float4 add_rows(const float* x, uint rows, uint columns, int64 left) {
  const auto load = [&](uint64 row) {
    if constexpr (whole) return load4(x + row * columns);
    return load4(x + row * columns, left, 0);
  };
  float4 sums[2] = {};
  uint row = 0;
  for (; row + unroll <= rows; row += unroll) {
    float4 value[unroll];
#pragma unroll
    for (uint i = 0; i < unroll; ++i) value[i] = load(row + i);
#pragma unroll
    for (uint i = 0; i < unroll; ++i) sums[i % 2] += value[i];
  }
  for (; row < rows; ++row) sums[0] += load(row);
  return sums[0] + sums[1];
}

extern "C" __global__ void __workgroup__(waves * 64)
    sum_rows(const float* __restrict__ x, float* __restrict__ y, uint rows, uint columns) {
  __shared__ float4 part[waves][64];
  const uint lane = wave_lane(), wave = __builtin_amdgcn_readfirstlane(wave_number());
  const uint first = group_x() * 256, column = first + lane * 4;
  const uint share = (rows + waves - 1) / waves, start = wave * share;
  const uint count = start >= rows ? 0 : rows - start < share ? rows - start : share;
  x += (uint64{group_y()} * rows + start) * columns + column;
  const int64 left = static_cast<int64>(columns) - column;
  if (first + 256 <= columns)
    part[wave][lane] = add_rows<true>(x, count, columns, left);
  else
    part[wave][lane] = add_rows<false>(x, count, columns, left);
  barrier();
  if (wave >= 4 || first + wave * 64 + lane >= columns) return;
  // Now a lane has one column.
  const float* sums = reinterpret_cast<const float*>(part) + (wave * 64 + lane);
  float sum = 0;
#pragma unroll
  for (uint i = 0; i < waves; ++i) sum += sums[i * 256];
  y[uint64{group_y()} * columns + first + wave * 64 + lane] = sum;
}
