// Mean and variance of long runs of elements in two steps: workgroups sum parts of a run, then the parts are
// put together. Sums are of the difference to the run's first element, so that a mean far from 0 costs no
// digits.
#pragma once

#include "common.h"

namespace statistics {

constexpr uint waves = 4, threads = waves * 64, quads = 4, block = threads * quads * 4;

/// Sum and sum of squares of x[0] to x[count - 1], less `shift`, over the workgroup; the same in all lanes.
__inline_device__ float2 sums_of(const float* x, uint64 count, float shift, float (&part)[2][waves]) {
  float4 sum = {}, square = {};
  const uint lane = lane_x() * 4;
  uint64 at = 0;
  for (; at + block <= count; at += block) {
    float4 value[quads];
#pragma unroll
    for (uint i = 0; i < quads; ++i) value[i] = load4(x + (at + i * threads * 4 + lane));
#pragma unroll
    for (uint i = 0; i < quads; ++i) {
      const float4 less = value[i] - shift;
      sum += less;
      square += less * less;
    }
  }
  for (at += lane; at < count; at += threads * 4) {
    const float4 less = load4(x + at, static_cast<int64>(count - at), shift) - shift;
    sum += less;
    square += less * less;
  }
  return {block_reduce<waves>(sum.x + sum.y + (sum.z + sum.w), Sum{}, part[0]),
          block_reduce<waves>(square.x + square.y + (square.z + square.w), Sum{}, part[1])};
}

/// Part `group_x()` of `part_count` of run `group_y()`: its sums to parts[run][part].
__inline_device__ void write_part(const float* x, float2* parts, uint64 count, uint64 part_size,
                                  uint part_count) {
  __shared__ float part[2][waves];
  x += group_y() * count;
  const uint64 start = group_x() * part_size, left = count - start;
  const float2 sums = sums_of(x + start, left < part_size ? left : part_size, x[0], part);
  if (lane_x() == 0) parts[group_y() * part_count + group_x()] = sums;
}

struct Moments {
  float mean, inverse_deviation;
};

/// Of run `run`, from its parts: for a whole wave.
__inline_device__ Moments moments_of(const float* x, const float2* parts, uint run, uint part_count,
                                     uint64 count, float epsilon) {
  float2 sums = {};
  for (uint i = wave_lane(); i < part_count; i += 64) sums += parts[run * part_count + i];
  const float scale = 1.0f / static_cast<float>(count);
  const float mean = wave_sum(sums.x) * scale;
  const float variance = wave_sum(sums.y) * scale - mean * mean;
  return {mean + x[run * count], __builtin_amdgcn_rsqf(variance + epsilon)};
}

} // namespace statistics
