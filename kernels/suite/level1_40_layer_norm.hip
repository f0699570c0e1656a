// KernelBench level 1, 40: each sample normalised over all of its elements, with a factor and a summand for
// each element. K0 is layer_norm_apply; layer_norm_parts and layer_norm_moments run before it.
#include "group_statistics.h"

extern "C" __global__ void __workgroup__(statistics::threads)
    layer_norm_parts(const float* __restrict__ x, float2* __restrict__ parts, uint64 size, uint64 part_size,
                     uint part_count) {
  statistics::write_part(x, parts, size, part_size, part_count);
}

/// A wave has a sample and writes its mean and the inverse of its deviation.
extern "C" __global__ void __workgroup__(64)
    layer_norm_moments(const float* __restrict__ x, const float2* __restrict__ parts,
                       float2* __restrict__ moments, uint64 size, uint part_count, float epsilon) {
  const statistics::Moments of = statistics::moments_of(x, parts, group_x(), part_count, size, epsilon);
  if (lane_x() == 0) moments[group_x()] = {of.mean, of.inverse_deviation};
}

constexpr uint quads = 2, threads = 256, block = threads * quads * 4;

/// A workgroup has the same `block` elements of all samples: their factors and summands are read once.
extern "C" __global__ void __workgroup__(threads)
    layer_norm_apply(const float* __restrict__ x, const float2* __restrict__ moments,
                     const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ y,
                     uint samples, uint64 size) {
  const uint64 start = uint64{group_x()} * block;
  const uint lane = lane_x() * 4;
  x += start, y += start, gamma += start, beta += start;
  if (start + block <= size) {
    float4 factor[quads], summand[quads];
#pragma unroll
    for (uint i = 0; i < quads; ++i) {
      factor[i] = load4(gamma + (lane + i * threads * 4));
      summand[i] = load4(beta + (lane + i * threads * 4));
    }
#pragma unroll 4
    for (uint sample = 0; sample < samples; ++sample, x += size, y += size) {
      const float2 of = moments[sample];
#pragma unroll
      for (uint i = 0; i < quads; ++i) {
        const uint at = lane + i * threads * 4;
        store4(y + at, (load4(x + at) - of.x) * of.y * factor[i] + summand[i]);
      }
    }
    return;
  }
  for (uint at = lane; start + at < size; at += threads * 4) {
    const int64 left = static_cast<int64>(size - start - at);
    const float4 factor = load4(gamma + at, left, 0), summand = load4(beta + at, left, 0);
    for (uint sample = 0; sample < samples; ++sample) {
      const float2 of = moments[sample];
      const float4 value = load4(x + (sample * size + at), left, 0);
      store4(y + (sample * size + at), (value - of.x) * of.y * factor + summand, left);
    }
  }
}
