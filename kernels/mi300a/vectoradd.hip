// a = b + c, one element a lane. The index is that of a plane, whose height is 1.
#include "common.h"

extern "C" __global__ void vectoradd(float* __restrict__ a, const float* __restrict__ b,
                                     const float* __restrict__ c, int width, int height) {
  const int x = static_cast<int>(index_x()), y = static_cast<int>(index_y());
  const int i = y * width + x;
  if (i < width * height) a[i] = b[i] + c[i];
}
