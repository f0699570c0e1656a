// What the sample kernels need of HIP's device side, without the ROCm headers: compile with -nogpuinc
// -nogpulib.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __noinline__ __attribute__((noinline))

using uint = unsigned int;

/// Position in the workgroup, workgroup in the grid.
__device__ inline uint lane_x() {
  return __builtin_amdgcn_workitem_id_x();
}
__device__ inline uint lane_y() {
  return __builtin_amdgcn_workitem_id_y();
}
__device__ inline uint lane_z() {
  return __builtin_amdgcn_workitem_id_z();
}
__device__ inline uint group_x() {
  return __builtin_amdgcn_workgroup_id_x();
}
__device__ inline uint group_y() {
  return __builtin_amdgcn_workgroup_id_y();
}
__device__ inline uint group_z() {
  return __builtin_amdgcn_workgroup_id_z();
}

/// Lanes in a workgroup: from the hidden arguments, so a kernel that calls it has all of them.
__device__ inline uint group_size_x() {
  return __builtin_amdgcn_workgroup_size_x();
}
__device__ inline uint group_size_y() {
  return __builtin_amdgcn_workgroup_size_y();
}
__device__ inline uint group_size_z() {
  return __builtin_amdgcn_workgroup_size_z();
}
__device__ inline uint index_x() {
  return group_x() * group_size_x() + lane_x();
}

/// All lanes of the workgroup have arrived and see each other's LDS writes.
__device__ inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// Position in the wave, and which wave of a one-dimensional workgroup this is.
__device__ inline uint wave_lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__device__ inline uint wave_number() {
  return lane_x() / 64;
}

/// The value of another lane of the wave.
template <class T>
__device__ inline T shuffle(T value, uint lane) {
  static_assert(sizeof(T) == 4);
  return __builtin_bit_cast(
      T, __builtin_amdgcn_ds_bpermute(static_cast<int>(lane * 4), __builtin_bit_cast(int, value)));
}
template <class T>
__device__ inline T shuffle_xor(T value, uint mask) {
  return shuffle(value, wave_lane() ^ mask);
}
