// What the kernels here share. Their block sizes are fixed, but they take them from the hidden arguments all
// the same, as the measured ones do, and may be launched with up to 1,024 work-items as far as the compiler
// knows.
#pragma once

#include "../samples/device.h"

using float4 = float __attribute__((ext_vector_type(4)));
using uint2 = uint __attribute__((ext_vector_type(2)));

__device__ inline uint index_y() {
  return group_y() * group_size_y() + lane_y();
}
/// Workgroups in the grid, the first of the hidden arguments.
__device__ inline uint group_count_x() {
  return *static_cast<const uint*>((const void*)__builtin_amdgcn_implicitarg_ptr());
}
