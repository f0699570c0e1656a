// KernelBench level 1, 23: softmax over each row. A workgroup has a row: one pass finds the largest element
// and the sum of e^(x - largest), the second writes, from the end of the row back, where the caches still
// have most of it. K0 is softmax.
#include "common.h"

constexpr uint waves = 16, threads = waves * 64, quads = 4, block = threads * quads * 4;

/// Largest element so far, and the sum of e^(x - largest).
struct Running {
  float largest = -infinity, sum = 0;
};

__inline_device__ float largest_of(const float4& x) {
  return __builtin_fmaxf(__builtin_fmaxf(x.x, x.y), __builtin_fmaxf(x.z, x.w));
}

__inline_device__ void take(Running& running, const float4 (&x)[quads]) {
  float largest = running.largest;
#pragma unroll
  for (uint i = 0; i < quads; ++i) largest = __builtin_fmaxf(largest, largest_of(x[i]));
  float sum = running.sum * fast_exp(running.largest - largest);
#pragma unroll
  for (uint i = 0; i < quads; ++i)
#pragma unroll
    for (uint j = 0; j < 4; ++j) sum += fast_exp(x[i][j] - largest);
  running = {largest, sum};
}

__inline_device__ void load_block(float4 (&x)[quads], const float* row, uint at) {
#pragma unroll
  for (uint i = 0; i < quads; ++i) x[i] = load4(row + (at + i * threads * 4 + lane_x() * 4));
}

/// One quad of the part of the row that does not fill a block.
__inline_device__ float4 load_rest(const float* row, uint at, uint columns) {
  return load4(row + at, static_cast<int64>(columns) - at, -infinity);
}

extern "C" __global__ void __workgroup__(threads)
    softmax(const float* __restrict__ x, float* __restrict__ y, uint columns) {
  __shared__ float part[2][waves];
  const uint whole = columns / block * block;
  x += uint64{group_x()} * columns;
  y += uint64{group_x()} * columns;
  float4 value[quads];
  Running running;
  for (uint at = 0; at < whole; at += block) {
    load_block(value, x, at);
    take(running, value);
  }
  for (uint at = whole + lane_x() * 4; at < columns; at += threads * 4) {
    const float4 rest = {-infinity, -infinity, -infinity, -infinity};
    const float4 last[quads] = {load_rest(x, at, columns), rest, rest, rest};
    take(running, last);
  }
  const float largest = block_reduce<waves>(running.largest, Max{}, part[0]);
  const float scale =
      fast_reciprocal(block_reduce<waves>(running.sum * fast_exp(running.largest - largest), Sum{}, part[1]));
  const auto normal = [&](float4 v) {
#pragma unroll
    for (uint i = 0; i < 4; ++i) v[i] = fast_exp(v[i] - largest) * scale;
    return v;
  };
  for (uint at = whole + lane_x() * 4; at < columns; at += threads * 4)
    store4(y + at, normal(load_rest(x, at, columns)), static_cast<int64>(columns) - at);
  for (uint at = whole; at > 0; at -= block) {
    load_block(value, x, at - block);
#pragma unroll
    for (uint i = 0; i < quads; ++i)
      store4(y + (at - block + i * threads * 4 + lane_x() * 4), normal(value[i]));
  }
}
