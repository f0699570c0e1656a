// Sums over half of a wave, which is what a 32x32 matrix tile has along its lanes.
#pragma once

#include "common.h"

/// Over the 32 lanes of either half of the wave.
__inline_device__ float half_sum(float v) {
  v += dpp<0x121>(v); // row_ror by 1, 2, 4 and 8
  v += dpp<0x122>(v);
  v += dpp<0x124>(v);
  v += dpp<0x128>(v);
  return v + shuffle_xor(v, 16);
}
