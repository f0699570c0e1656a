// KernelBench level 1, 88: y = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))). K0 is new_gelu.
#include "common.h"

constexpr uint threads = 256, quads = 4; // a lane takes `quads` groups of four elements

/// As x / (1 + e^-2u): e^-2u may overflow or vanish, the quotient is right then too.
__inline_device__ float4 gelu4(float4 x) {
  constexpr float scale = -2 * 0.797884560802865356f;
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float u = x[i] * __builtin_fmaf(x[i] * x[i], scale * 0.044715f, scale);
    x[i] *= fast_reciprocal(1 + fast_exp(u));
  }
  return x;
}

extern "C" __global__ void __workgroup__(threads)
    new_gelu(const float* __restrict__ x, float* __restrict__ y, uint64 count) {
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
    for (uint i = 0; i < quads; ++i) store4(y + (lane + i * step), gelu4(value[i]));
    return;
  }
  for (uint at = lane; start + at < count; at += step) {
    const int64 left = static_cast<int64>(count - start - at);
    store4(y + at, gelu4(load4(x + at, left, 0)), left);
  }
}
