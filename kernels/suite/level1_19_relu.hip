// KernelBench level 1, 19: y = max(x, 0), where NaN stays NaN. K0 is relu.
#include "common.h"

constexpr uint threads = 256, quads = 4; // a lane takes `quads` groups of four elements

__inline_device__ float4 relu4(float4 x) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) x[i] = x[i] < 0 ? 0 : x[i];
  return x;
}

extern "C" __global__ void __workgroup__(threads)
    relu(const float* __restrict__ x, float* __restrict__ y, uint64 count) {
  constexpr uint step = threads * 4;
  const uint64 start = uint64{group_x()} * (step * quads);
  const uint lane = lane_x() * 4;
  x += start;
  y += start;
  if (start + step * quads <= count) {
    float4 value[quads];
#pragma unroll
    for (uint i = 0; i < quads; ++i) value[i] = load4(x + (lane + i * step));
#pragma unroll
    for (uint i = 0; i < quads; ++i) store4(y + (lane + i * step), relu4(value[i]));
    return;
  }
  for (uint at = lane; start + at < count; at += step) {
    const int64 left = static_cast<int64>(count - start - at);
    store4(y + at, relu4(load4(x + at, left, 0)), left);
  }
}
