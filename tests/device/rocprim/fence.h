// A function of ROCm's device libraries that Debian's HIP headers call and its device libraries do not have.
#pragma once

#include <hip/hip_runtime.h>

extern "C" __device__ inline void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order,
                                                           __memory_scope scope) {
  if (scope == __memory_scope_work_group)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else if (scope == __memory_scope_device)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  else
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
