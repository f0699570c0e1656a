// y = a * x + y, one element a lane, and a grid-stride form: the smallest kernels with a branch and a loop.
#include "device.h"

extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, uint n) {
  const uint i = index_x();
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_strided(double a, const double* x, double* y, uint n, uint lanes) {
  for (uint i = index_x(); i < n; i += lanes) y[i] = a * x[i] + y[i];
}
