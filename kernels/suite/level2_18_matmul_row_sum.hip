// KernelBench 2/18: out[i] = sum over j of (x * W^T + b)[i][j]; what the module does with the sums afterwards
// changes nothing. x is [m][k], W is [n][k], out is [m]. The sum goes over W's rows first: out = x * (sum of
// W's rows) + sum(b), which reads W once and multiplies hardly at all.
//
// K0 is sum_rows, which adds up `rows` rows of W at a time into partial[ceil(n / rows)][k]; combine_sums adds
// those up into total[k], and row_products does the rest.
#include "common.h"

/// Four columns a lane; grid is (ceil(k / 1024), ceil(n / rows)).
extern "C" __global__ void __workgroup__(256)
    sum_rows(const float* __restrict__ w, float* __restrict__ partial, uint n, uint k, uint rows) {
  const uint column = (group_x() * 256 + lane_x()) * 4;
  if (column >= k) return;
  const int64 left = static_cast<int64>(k) - column;
  const uint first = group_y() * rows, end = first + rows < n ? first + rows : n;
  const float* from = w + static_cast<uint64>(first) * k + column;
  float4 sums[4] = {};
  uint row = first;
  for (; row + 4 <= end; row += 4)
#pragma unroll
    for (uint i = 0; i < 4; ++i, from += k) sums[i] += load4(from, left, 0);
  for (; row < end; ++row, from += k) sums[0] += load4(from, left, 0);
  store4(partial + static_cast<uint64>(group_y()) * k + column, (sums[0] + sums[1]) + (sums[2] + sums[3]),
         left);
}

extern "C" __global__ void __workgroup__(64)
    combine_sums(const float* __restrict__ partial, float* __restrict__ total, uint k, uint blocks) {
  const uint column = group_x() * 64 + lane_x();
  if (column >= k) return;
  float sums[4] = {};
  uint block = 0;
  for (; block + 4 <= blocks; block += 4)
#pragma unroll
    for (uint i = 0; i < 4; ++i) sums[i] += partial[static_cast<uint64>(block + i) * k + column];
  for (; block < blocks; ++block) sums[0] += partial[static_cast<uint64>(block) * k + column];
  total[column] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// A workgroup a row of x.
extern "C" __global__ void __workgroup__(256)
    row_products(const float* __restrict__ x, const float* __restrict__ total, const float* __restrict__ b,
                 float* __restrict__ out, uint n, uint k) {
  __shared__ float part[4];
  const float* row = x + static_cast<uint64>(group_x()) * k;
  float4 sums = {};
  for (uint at = lane_x() * 4; at < k; at += 1024) {
    const int64 left = static_cast<int64>(k) - at;
    sums += load4(row + at, left, 0) * load4(total + at, left, 0);
  }
  for (uint at = lane_x() * 4; at < n; at += 1024) sums += load4(b + at, static_cast<int64>(n) - at, 0);
  const float sum = block_reduce<4>((sums[0] + sums[1]) + (sums[2] + sums[3]), Sum{}, part);
  if (lane_x() == 0) out[group_x()] = sum;
}
