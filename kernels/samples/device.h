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
__device__ inline uint group_x() {
  return __builtin_amdgcn_workgroup_id_x();
}
__device__ inline uint group_y() {
  return __builtin_amdgcn_workgroup_id_y();
}

/// Lanes in a workgroup: from the hidden arguments, so a kernel that calls it has all of them.
__device__ inline uint group_size_x() {
  return __builtin_amdgcn_workgroup_size_x();
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
