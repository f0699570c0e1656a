// Calls that stay calls: a device function used by two kernels, one that recurses (so it needs a stack of
// unknown depth), and a call through a table of function pointers, whose entries are relocations in the code
// object.
#include "device.h"

__device__ __noinline__ float polynomial(float x, int degree) {
  float value = 0;
  for (int i = 0; i <= degree; ++i) value = value * x + static_cast<float>(i);
  return value;
}

__device__ __noinline__ uint collatz(uint n, uint steps) {
  if (n <= 1 || steps >= 1000) return steps;
  const uint rest = collatz(n % 2 == 0 ? n / 2 : 3 * n + 1, steps + 1);
  return rest > steps ? rest : steps;
}

__device__ __noinline__ int twice(int x) {
  return 2 * x;
}
__device__ __noinline__ int square(int x) {
  return x * x;
}
__device__ __noinline__ int negate(int x) {
  return -x;
}

using Function = int (*)(int);
__device__ const Function table[] = {twice, square, negate};

extern "C" __global__ void evaluate(float* values, int degree) {
  values[index_x()] = polynomial(values[index_x()], degree);
}

extern "C" __global__ void evaluate_twice(float* values, int degree) {
  const float once = polynomial(values[index_x()], degree);
  values[index_x()] = polynomial(once, degree + 1);
}

extern "C" __global__ void collatz_steps(uint* values) {
  values[index_x()] = collatz(values[index_x()], 0);
}

extern "C" __global__ void apply(int* values, uint which) {
  values[index_x()] = table[which % 3](values[index_x()]);
}
