// Inclusive sums: over a workgroup, and over any number of workgroups in one launch by "decoupled look-back":
// each workgroup publishes the sum of its own elements, then walks back over the workgroups in front of it
// until it finds one that already knows the sum of everything up to its end. It spins on neighbours that have
// published nothing yet, so it only ends if the workgroups in front always make progress.
#include "device.h"

/// Inclusive sum of `value` over a workgroup of 128; `total` is the workgroup's. `parts` is LDS for two
/// waves.
__device__ static int group_scan(int value, int* parts, int& total) {
  for (uint step = 1; step < 64; step *= 2) {
    const int below = shuffle(value, wave_lane() - step);
    if (wave_lane() >= step) value += below;
  }
  if (wave_lane() == 63) parts[wave_number()] = value;
  barrier();
  total = parts[0] + parts[1];
  return wave_number() == 0 ? value : value + parts[0];
}

extern "C" __global__ void __launch_bounds__(128) scan_groups(const int* in, int* out, uint n) {
  __shared__ int parts[2];
  int total;
  const uint i = group_x() * 128 + lane_x();
  const int sum = group_scan(i < n ? in[i] : 0, parts, total);
  if (i < n) out[i] = sum;
}

/// Doubling steps over LDS with two barriers each; any power of two up to 256 as workgroup size.
extern "C" __global__ void __launch_bounds__(256) scan_lds(const float* in, float* out) {
  __shared__ float sums[256];
  const uint size = group_size_x();
  sums[lane_x()] = in[index_x()];
  for (uint step = 1; step < size; step *= 2) {
    barrier();
    const float below = lane_x() >= step ? sums[lane_x() - step] : 0;
    barrier();
    sums[lane_x()] += below;
  }
  out[index_x()] = sums[lane_x()];
}

// A published sum: what it covers in the upper half, the sum in the lower, so that both are seen at once.
enum : uint { nothing, own, everything_before };

__device__ static unsigned long published(uint covers, int sum) {
  return static_cast<unsigned long>(covers) << 32 | static_cast<uint>(sum);
}

__device__ static void publish(unsigned long* state, uint covers, int sum) {
  __hip_atomic_store(state, published(covers, sum), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

/// The sum of all tiles in front of `tile`, by one lane.
__device__ static int look_back(unsigned long* states, uint tile) {
  int sum = 0;
  for (uint at = tile; at > 0;) {
    const unsigned long state =
        __hip_atomic_load(&states[at - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    if (state >> 32 == nothing) {
      __builtin_amdgcn_s_sleep(1);
      continue;
    }
    sum += static_cast<int>(state);
    if (state >> 32 == everything_before) break;
    --at;
  }
  return sum;
}

__device__ static void scan_tile(const int* in, int* out, unsigned long* states, uint n, uint tile) {
  __shared__ int parts[2];
  __shared__ int before;
  int total;
  const uint i = tile * 128 + lane_x();
  const int sum = group_scan(i < n ? in[i] : 0, parts, total);
  if (lane_x() == 0) {
    publish(&states[tile], tile == 0 ? everything_before : own, total);
    before = look_back(states, tile);
    publish(&states[tile], everything_before, before + total);
  }
  barrier();
  if (i < n) out[i] = before + sum;
}

/// Tiles are those of the workgroup ids.
extern "C" __global__ void __launch_bounds__(128)
    scan_by_group(const int* in, int* out, unsigned long* states, uint n) {
  scan_tile(in, out, states, n, group_x());
}

/// Tiles are drawn from a counter, so that it does not matter which workgroups start first.
extern "C" __global__ void __launch_bounds__(128)
    scan_by_ticket(const int* in, int* out, unsigned long* states, uint n, uint* next) {
  __shared__ uint tile;
  if (lane_x() == 0) tile = __hip_atomic_fetch_add(next, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  barrier();
  scan_tile(in, out, states, n, tile);
}

/// The same dependence the other way round: each workgroup waits for the one behind it, so that the lowest
/// makes no progress until the highest has started.
extern "C" __global__ void __launch_bounds__(64) wait_for_next(uint* flags, uint* out, uint groups) {
  if (lane_x() == 0 && group_x() + 1 < groups)
    while (__hip_atomic_load(&flags[group_x() + 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
      __builtin_amdgcn_s_sleep(2);
  barrier();
  out[group_x() * 64 + lane_x()] =
      lane_x() + (group_x() + 1 < groups ? out[(group_x() + 1) * 64 + lane_x()] : 0u);
  barrier();
  if (lane_x() == 0) __hip_atomic_store(&flags[group_x()], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
