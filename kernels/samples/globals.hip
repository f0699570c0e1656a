// Data beside the code: initialised (.data), zero (.bss) and constant (.rodata) variables, reached by
// PC-relative addresses or through the GOT, and a switch that becomes a lookup table.
#include "device.h"

__device__ int counters[64];
__device__ float weights[8] = {0.5f, 0.25f, 0.125f, 1, 2, 4, 8, 16};
__constant__ uint primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};

extern "C" __global__ void count(const uint* in) {
  __hip_atomic_fetch_add(&counters[in[index_x()] % 64], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void weigh(float* values, const uint* prime_index) {
  values[index_x()] *= weights[lane_x() % 8] * static_cast<float>(primes[prime_index[lane_x()] % 16]);
  weights[lane_x() % 8] = values[index_x()];
}

extern "C" __global__ void choose(int* values) {
  int chosen = 0;
  switch (values[index_x()]) {
  case 0: chosen = 17; break;
  case 1: chosen = -4; break;
  case 2: chosen = 99; break;
  case 3: chosen = 1234567; break;
  case 4: chosen = 8; break;
  case 5: chosen = 1 << 20; break;
  default: chosen = values[index_x() + 1];
  }
  values[index_x()] = chosen;
}
