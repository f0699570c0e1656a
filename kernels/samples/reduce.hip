// Sums: over a workgroup through static LDS, over a wave by cross-lane reads, and a histogram in dynamic LDS.
#include "device.h"

extern "C" __global__ void __launch_bounds__(256) reduce_lds(const float* in, float* out, uint n) {
  __shared__ float part[256];
  const uint lane = lane_x();
  float sum = 0;
  for (uint i = group_x() * 256 + lane; i < n; i += 256 * 64) sum += in[i];
  part[lane] = sum;
  barrier();
  for (uint step = 128; step > 0; step /= 2) {
    if (lane < step) part[lane] += part[lane + step];
    barrier();
  }
  if (lane == 0) out[group_x()] = part[0];
}

extern "C" __global__ void __launch_bounds__(64) reduce_wave(const int* in, int* total) {
  int sum = in[group_x() * 64 + lane_x()];
  for (uint step = 32; step > 0; step /= 2)
    sum += __builtin_amdgcn_ds_bpermute(static_cast<int>((lane_x() ^ step) * 4), sum);
  if (lane_x() == 0) __hip_atomic_fetch_add(total, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern __shared__ uint bins[];

extern "C" __global__ void histogram(const unsigned char* in, uint* out, uint n, uint bin_count) {
  for (uint b = lane_x(); b < bin_count; b += group_size_x()) bins[b] = 0;
  barrier();
  for (uint i = index_x(); i < n; i += group_size_x() * 64)
    __hip_atomic_fetch_add(&bins[in[i] % bin_count], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  for (uint b = lane_x(); b < bin_count; b += group_size_x())
    __hip_atomic_fetch_add(&out[b], bins[b], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
