// Atomics on LDS and global memory: histograms, sums in every float type, extremes, bit operations, compare
// and swap, and the uses whose result depends on who comes first but whose properties do not: tickets, a
// linked list.
#include "device.h"

using half2 = _Float16 __attribute__((ext_vector_type(2)));

#define ATOMIC(operation, address, value)                                                                    \
  __hip_atomic_fetch_##operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_IN_GROUP(operation, address, value)                                                           \
  __hip_atomic_fetch_##operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
#define LOAD(address) __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define LOAD_IN_GROUP(address) __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)

extern "C" __global__ void histogram_global(const unsigned char* in, uint* bins, uint n) {
  const uint i = index_x();
  if (i < n) ATOMIC(add, &bins[in[i]], 1u);
}

extern __shared__ unsigned long dynamic_bins[];

/// Counts in the low, sums of positions in the high half of 64-bit bins in dynamic LDS.
extern "C" __global__ void histogram_wide(const unsigned char* in, unsigned long* out, uint n,
                                          uint bin_count) {
  for (uint b = lane_x(); b < bin_count; b += group_size_x()) dynamic_bins[b] = 0;
  barrier();
  for (uint i = index_x(); i < n; i += group_size_x() * 4)
    ATOMIC_IN_GROUP(add, &dynamic_bins[in[i] % bin_count], 1ul + (static_cast<unsigned long>(i) << 32));
  barrier();
  for (uint b = lane_x(); b < bin_count; b += group_size_x()) ATOMIC(add, &out[b], dynamic_bins[b]);
}

/// Floats into bins, first in LDS and then in memory, with the hardware's float atomics.
extern "C" __global__ void __launch_bounds__(128)
    float_bins(const float* in, float* f32, double* f64, half2* f16, uint n) {
  __shared__ float part[16];
  __shared__ double part64[16];
  if (lane_x() < 16) {
    part[lane_x()] = 0;
    part64[lane_x()] = 0;
  }
  barrier();
  const uint i = index_x();
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    if (i < n) {
      ATOMIC_IN_GROUP(add, &part[i % 16], in[i]);
      ATOMIC_IN_GROUP(add, &part64[i % 16], static_cast<double>(in[i]));
      const half2 pair = {static_cast<_Float16>(in[i]), static_cast<_Float16>(1)};
      __builtin_amdgcn_global_atomic_fadd_v2f16((__attribute__((address_space(1))) half2*)&f16[i % 16], pair);
    }
    barrier();
    if (lane_x() < 16) {
      ATOMIC(add, &f32[lane_x()], part[lane_x()]);
      ATOMIC(add, &f64[lane_x()], part64[lane_x()]);
    }
  }
}

struct Extremes {
  int least, most;
  uint least_unsigned, most_unsigned;
  long least_long, most_long;
  double least_double, most_double;
  float least_float, most_float;
  uint all_bits, any_bit, odd_bits, unused;
  unsigned long any_long;
};
extern "C" __global__ void extremes(const int* in, Extremes* e, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  const int v = in[i];
  const uint u = static_cast<uint>(v);
  ATOMIC(min, &e->least, v);
  ATOMIC(max, &e->most, v);
  ATOMIC(min, &e->least_unsigned, u);
  ATOMIC(max, &e->most_unsigned, u);
  ATOMIC(min, &e->least_long, static_cast<long>(v) * v - 1000);
  ATOMIC(max, &e->most_long, static_cast<long>(v) * 5);
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    ATOMIC(min, &e->least_double, v * 0.5);
    ATOMIC(max, &e->most_double, v * 0.25);
    ATOMIC(min, &e->least_float, static_cast<float>(v));
    ATOMIC(max, &e->most_float, static_cast<float>(v) * 2);
  }
  ATOMIC(and, &e->all_bits, u | 0xff);
  ATOMIC(or, &e->any_bit, u & 0xff00ff);
  ATOMIC(xor, &e->odd_bits, u);
  ATOMIC(or, &e->any_long, 1ul << (u % 64));
}

/// products[k] *= in[i] for all i of class k, by compare and swap, in 32 and 64 bits, LDS and memory.
extern "C" __global__ void __launch_bounds__(64)
    products(const uint* in, uint* out, unsigned long* out64, uint n) {
  __shared__ uint part[4];
  if (lane_x() < 4) part[lane_x()] = 1;
  barrier();
  const uint i = index_x();
  if (i < n) {
    uint old = LOAD_IN_GROUP(&part[i % 4]);
    while (!__hip_atomic_compare_exchange_weak(&part[i % 4], &old, old * in[i], __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)) {
    }
    unsigned long old64 = LOAD(&out64[i % 4]);
    while (!__hip_atomic_compare_exchange_strong(&out64[i % 4], &old64, old64 * in[i], __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
    }
  }
  barrier();
  if (lane_x() >= 4) return;
  uint old = LOAD(&out[lane_x()]);
  while (!__hip_atomic_compare_exchange_weak(&out[lane_x()], &old, old * part[lane_x()], __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
}

/// Everyone draws a number; each is drawn once. `wrapped` counts 0 to 6 and starts again, `down` 6 to 0.
extern "C" __global__ void tickets(uint* next, uint* drawn, uint* wrapped, uint* down, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  drawn[i] = ATOMIC(add, next, 1u);
  __builtin_amdgcn_atomic_inc32(wrapped, 6u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(down, 6u, __ATOMIC_RELAXED, "agent");
}

/// Work-items put themselves in front of a list by exchange: next[i] is who stood there before.
extern "C" __global__ void linked_list(int* head, int* next, uint n) {
  const uint i = index_x();
  if (i < n)
    next[i] = __hip_atomic_exchange(head, static_cast<int>(i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// The last workgroup to finish adds up what all of them left (the "last block" reduction).
extern "C" __global__ void __launch_bounds__(64)
    last_group_sums(const int* in, int* parts, uint* finished, int* total, uint groups) {
  __shared__ bool last;
  int sum = in[index_x()];
  for (uint step = 32; step > 0; step /= 2) sum += shuffle_xor(sum, step);
  if (lane_x() == 0) {
    __hip_atomic_store(&parts[group_x()], sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    last = __hip_atomic_fetch_add(finished, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) == groups - 1;
  }
  barrier();
  if (!last || lane_x() != 0) return;
  int all = 0;
  for (uint g = 0; g < groups; ++g) all += LOAD(&parts[g]);
  *total = all;
}
