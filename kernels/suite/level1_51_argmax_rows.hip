// KernelBench level 1, 51: for each column the first row with the largest element of x
// [batch][rows][columns]; the first NaN counts as largest. A workgroup has 256 columns, four a lane; its
// waves share the rows. K0 is argmax_rows.
#include "common.h"

constexpr uint waves = 8, unroll = 8;

/// What comes later wins if it is larger, or the first NaN.
__inline_device__ bool wins(float later, float best) {
  return !(later <= best) && best == best;
}

struct Best {
  float4 value;
  uint row[4];
};

__inline_device__ void take(Best& best, const float4& value, uint row) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const bool better = wins(value[i], best.value[i]);
    best.value[i] = better ? value[i] : best.value[i];
    best.row[i] = better ? row : best.row[i];
  }
}

/// Rows `start` to `end` - 1, of which there is at least one.
template <bool whole>
__inline_device__ Best best_of(const float* x, uint start, uint end, uint columns, int64 left) {
  const auto load = [&](uint64 row) {
    if constexpr (whole) return load4(x + row * columns);
    return load4(x + row * columns, left, 0);
  };
  Best best = {load(start), {start, start, start, start}};
  uint row = start + 1;
  for (; row + unroll <= end; row += unroll) {
    float4 value[unroll];
#pragma unroll
    for (uint i = 0; i < unroll; ++i) value[i] = load(row + i);
#pragma unroll
    for (uint i = 0; i < unroll; ++i) take(best, value[i], row + i);
  }
  for (; row < end; ++row) take(best, load(row), row);
  return best;
}

extern "C" __global__ void __workgroup__(waves * 64)
    argmax_rows(const float* __restrict__ x, int64* __restrict__ y, uint rows, uint columns) {
  __shared__ float values[waves][256];
  __shared__ uint numbers[waves][256];
  const uint lane = wave_lane(), wave = __builtin_amdgcn_readfirstlane(wave_number());
  const uint first = group_x() * 256, column = first + lane * 4;
  const uint share = (rows + waves - 1) / waves, start = wave * share;
  const uint end = rows < start + share ? rows : start + share;
  x += uint64{group_y()} * rows * columns + column;
  const int64 left = static_cast<int64>(columns) - column;
  if (start < rows) {
    const Best best = first + 256 <= columns ? best_of<true>(x, start, end, columns, left)
                                             : best_of<false>(x, start, end, columns, left);
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      values[wave][lane * 4 + i] = best.value[i];
      numbers[wave][lane * 4 + i] = best.row[i];
    }
  }
  barrier();
  const uint own = wave * 64 + lane; // now a lane has one column
  if (wave >= 4 || first + own >= columns) return;
  float value = values[0][own];
  uint number = numbers[0][own];
  for (uint i = 1; i * share < rows && i < waves; ++i)
    if (wins(values[i][own], value)) {
      value = values[i][own];
      number = numbers[i][own];
    }
  y[uint64{group_y()} * columns + first + own] = number;
}
