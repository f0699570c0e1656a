// KernelBench level 1, 35: group normalisation of x [batch][channels][pixels], groups of consecutive
// channels, and a factor and a summand for each channel. K0 is group_norm_apply; group_norm_parts and
// group_norm_factors run before it.
#include "group_statistics.h"

extern "C" __global__ void __workgroup__(statistics::threads)
    group_norm_parts(const float* __restrict__ x, float2* __restrict__ parts, uint64 group_size,
                     uint64 part_size, uint part_count) {
  statistics::write_part(x, parts, group_size, part_size, part_count);
}

/// A wave has a group and writes what each of its channels is multiplied by and what is added then.
extern "C" __global__ void __workgroup__(64)
    group_norm_factors(const float* __restrict__ x, const float2* __restrict__ parts,
                       const float* __restrict__ gamma, const float* __restrict__ beta,
                       float2* __restrict__ factors, uint channels, uint groups, uint64 group_size,
                       uint part_count, float epsilon) {
  const uint group = group_x(), in_group = channels / groups;
  const statistics::Moments moments =
      statistics::moments_of(x, parts, group, part_count, group_size, epsilon);
  for (uint i = lane_x(); i < in_group; i += 64) {
    const uint channel = group % groups * in_group + i;
    const float factor = gamma[channel] * moments.inverse_deviation;
    factors[group * in_group + i] = {factor, beta[channel] - moments.mean * factor};
  }
}

constexpr uint quads = 8, threads = 256, block = threads * quads * 4;

/// A workgroup has `block` pixels of one channel.
extern "C" __global__ void __workgroup__(threads)
    group_norm_apply(const float* __restrict__ x, const float2* __restrict__ factors, float* __restrict__ y,
                     uint pixels) {
  const float2 factor = factors[group_y()];
  const uint start = group_x() * block, lane = lane_x() * 4;
  x += uint64{group_y()} * pixels + start;
  y += uint64{group_y()} * pixels + start;
  if (start + block <= pixels) {
    float4 value[quads];
#pragma unroll
    for (uint i = 0; i < quads; ++i) value[i] = load4(x + (lane + i * threads * 4));
#pragma unroll
    for (uint i = 0; i < quads; ++i) store4(y + (lane + i * threads * 4), value[i] * factor.x + factor.y);
    return;
  }
  for (uint at = lane; start + at < pixels; at += threads * 4) {
    const int64 left = static_cast<int64>(pixels) - start - at;
    store4(y + at, load4(x + at, left, 0) * factor.x + factor.y, left);
  }
}
