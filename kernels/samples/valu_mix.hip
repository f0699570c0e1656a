// Vector arithmetic of many kinds in a loop: what the emulator's speed is measured with.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void valu_mix(float* out, uint rounds) {
  const uint at = index_x();
  float f = static_cast<float>(at) * 0.5f, g = f + 1.0f;
  uint a = at * 2654435761u, b = at ^ 0x9e3779b9u;
#pragma unroll 4
  for (uint r = 0; r < rounds; ++r) {
    f = __builtin_fmaf(f, 0.75f, g);
    g = g * 0.5f + static_cast<float>(a & 15u);
    a = (a << 5 | a >> 27) + b;
    b = (b ^ a) * 33u + (r & 7u);
    f = f > 1.0e6f ? f * 1.0e-6f : f;
    g = __builtin_fmaxf(g, f - 1024.0f);
    b = a < b ? b - a : b + (a >> 3);
  }
  out[at] = f + g + static_cast<float>(a ^ b);
}
