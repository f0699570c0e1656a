// Private memory: arrays indexed at run time, of every element size, values spilled because there are more
// than registers, and pointers that may point to private, LDS or global memory, so that flat accesses must
// tell which.
#include "device.h"

/// A histogram of a lane's own 61 values, modulo 9.
extern "C" __global__ void own_histogram(const unsigned char* in, uint* out) {
  uint bins[9] = {};
  for (uint k = 0; k < 61; ++k) ++bins[in[index_x() * 61 + k] % 9];
  for (uint k = 0; k < 9; ++k) out[index_x() * 9 + k] = bins[k];
}

template <class T>
__device__ static void reverse_walk(const T* in, T* out, uint n, uint step) {
  T own[23];
  for (uint k = 0; k < 23; ++k) own[(k * step) % 23] = in[(index_x() + k) % n];
  T sum = 0;
  for (uint k = 0; k < 23; ++k) sum = static_cast<T>(sum * T(3) + own[22 - k]);
  out[index_x()] = sum;
}
extern "C" __global__ void walk_u8(const unsigned char* in, unsigned char* out, uint n, uint step) {
  reverse_walk(in, out, n, step);
}
extern "C" __global__ void walk_i16(const short* in, short* out, uint n, uint step) {
  reverse_walk(in, out, n, step);
}
extern "C" __global__ void walk_u32(const uint* in, uint* out, uint n, uint step) {
  reverse_walk(in, out, n, step);
}
extern "C" __global__ void walk_u64(const unsigned long* in, unsigned long* out, uint n, uint step) {
  reverse_walk(in, out, n, step);
}

struct alignas(16) Quad {
  uint at[4];
};
extern "C" __global__ void walk_quads(const Quad* in, Quad* out, uint n, uint step) {
  Quad own[7];
  for (uint k = 0; k < 7; ++k) own[(k * step) % 7] = in[(index_x() + k) % n];
  Quad sum = {};
  for (uint k = 0; k < 7; ++k)
    for (uint d = 0; d < 4; ++d) sum.at[d] = sum.at[d] * 5 + own[6 - k].at[(d + k) % 4];
  out[index_x()] = sum;
}

/// Where a value is read from and written to depends on the lane: private, LDS and global memory by one
/// pointer.
__device__ __noinline__ static int add_up(int* from, int count) {
  int sum = 0;
  for (int k = 0; k < count; ++k) {
    sum += from[k];
    from[k] = sum;
  }
  return sum;
}
extern "C" __global__ void __launch_bounds__(64) anywhere(int* global, int* out) {
  __shared__ int local[64 * 4];
  int own[4];
  for (int k = 0; k < 4; ++k) {
    own[k] = static_cast<int>(index_x()) * 3 + k;
    local[lane_x() * 4 + static_cast<uint>(k)] = static_cast<int>(lane_x()) * 5 - k;
  }
  int* from = lane_x() % 3 == 0 ? own : lane_x() % 3 == 1 ? local + lane_x() * 4 : global + index_x() * 4;
  const int sum = add_up(from, 4);
  out[index_x() * 3] = sum;
  out[index_x() * 3 + 1] = own[3];
  out[index_x() * 3 + 2] = local[lane_x() * 4 + 3];
}

/// 100 sums in flight under a register limit for eight waves: most of them are spilled.
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 64), amdgpu_waves_per_eu(8)))
spills(const float* in, float* out, uint n) {
  constexpr uint count = 100;
  float sums[count];
#pragma unroll
  for (uint k = 0; k < count; ++k) sums[k] = static_cast<float>(k);
  for (uint at = 0; at < n; ++at) {
    const float x = in[(index_x() + at) % n];
#pragma unroll
    for (uint k = 0; k < count; ++k) sums[k] = sums[(k + 1) % count] + x * static_cast<float>(k % 7);
  }
  float total = 0;
#pragma unroll
  for (uint k = 0; k < count; ++k) total += sums[k] * static_cast<float>(k % 5);
  out[index_x()] = total;
}
