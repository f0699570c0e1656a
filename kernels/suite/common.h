// What the suite's kernels share: vectors and guarded vector access, reductions over waves and workgroups,
// mathematical functions.
#pragma once

#include "../samples/device.h"

/// A kernel that is launched with exactly `threads` work-items a workgroup.
#define __workgroup__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#define __inline_device__ __attribute__((device, always_inline)) inline

using int64 = long long;
using uint64 = unsigned long long;
using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using float16 = float __attribute__((ext_vector_type(16)));
using int2 = int __attribute__((ext_vector_type(2)));

constexpr uint wave_size = 64;
constexpr float infinity = __builtin_huge_valf();

// --- Vector access. Addresses need to be multiples of an element only: the hardware's wide loads and stores
// do not ask for more.

struct __attribute__((packed, aligned(4))) Unaligned2 {
  float2 value;
};
struct __attribute__((packed, aligned(4))) Unaligned4 {
  float4 value;
};

__inline_device__ float2 load2(const float* at) {
  return reinterpret_cast<const Unaligned2*>(at)->value;
}
__inline_device__ float4 load4(const float* at) {
  return reinterpret_cast<const Unaligned4*>(at)->value;
}
__inline_device__ void store2(float* at, float2 value) {
  reinterpret_cast<Unaligned2*>(at)->value = value;
}
__inline_device__ void store4(float* at, float4 value) {
  reinterpret_cast<Unaligned4*>(at)->value = value;
}

/// The first `count` of four elements (none if it is not positive), `rest` in place of the others.
__inline_device__ float4 load4(const float* at, int64 count, float rest) {
  if (count >= 4) return load4(at);
  float4 value = {rest, rest, rest, rest};
  if (count > 0) value.x = at[0];
  if (count > 1) value.y = at[1];
  if (count > 2) value.z = at[2];
  return value;
}
__inline_device__ void store4(float* at, float4 value, int64 count) {
  if (count >= 4) return store4(at, value);
  if (count > 0) at[0] = value.x;
  if (count > 1) at[1] = value.y;
  if (count > 2) at[2] = value.z;
}

/// The elements from `skip` on: those before are another lane's.
__inline_device__ void store4_from(float* at, float4 value, uint skip) {
  if (skip == 0) return store4(at, value);
#pragma unroll
  for (uint i = 1; i < 4; ++i)
    if (i >= skip) at[i] = value[i];
}

// --- Reductions. Every lane of the wave (of the workgroup) must take part.

struct Sum {
  template <class T>
  __inline_device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  __inline_device__ float operator()(float a, float b) const { return __builtin_fmaxf(a, b); }
};

/// One move between lanes of a wave, by the vector instructions' own crossbar.
template <int control, class T>
__inline_device__ T dpp(T value) {
  static_assert(sizeof(T) == 4);
  return __builtin_bit_cast(
      T, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value), control, 0xf, 0xf, true));
}

template <class T>
__inline_device__ T read_lane(T value, int lane) {
  static_assert(sizeof(T) == 4);
  return __builtin_bit_cast(T, __builtin_amdgcn_readlane(__builtin_bit_cast(int, value), lane));
}

/// The same in all lanes. Rows of 16 lanes by rotation, then each row takes the last lane of the one before;
/// what lanes other than the last have by then does not matter.
template <class T, class Op>
__inline_device__ T wave_reduce(T value, Op op) {
  value = op(value, dpp<0x121>(value)); // row_ror:1
  value = op(value, dpp<0x122>(value)); // row_ror:2
  value = op(value, dpp<0x124>(value)); // row_ror:4
  value = op(value, dpp<0x128>(value)); // row_ror:8
  value = op(value, dpp<0x142>(value)); // row_bcast:15
  value = op(value, dpp<0x143>(value)); // row_bcast:31
  return read_lane(value, 63);
}
__inline_device__ float wave_sum(float value) {
  return wave_reduce(value, Sum{});
}
__inline_device__ float wave_max(float value) {
  return wave_reduce(value, Max{});
}

/// Over a one-dimensional workgroup of `waves` waves, the same in all lanes. `part` is LDS for `waves` values
/// that nobody else uses until the next barrier.
template <uint waves, class T, class Op>
__inline_device__ T block_reduce(T value, Op op, T* part) {
  value = wave_reduce(value, op);
  if (wave_lane() == 0) part[wave_number()] = value;
  barrier();
  T total = part[0];
#pragma unroll
  for (uint i = 1; i < waves; ++i) total = op(total, part[i]);
  return total;
}

// --- Mathematical functions: ROCm's, and the hardware's own approximations where they are accurate enough.

extern "C" {
__device__ float __ocml_tanh_f32(float);
__device__ float __ocml_erf_f32(float);
__device__ float __ocml_exp_f32(float);
__device__ float __ocml_log_f32(float);
__device__ float __ocml_log1p_f32(float);
}

/// e^x to a few units of the last place for |x| < 16, denormal results flushed.
__inline_device__ float fast_exp(float x) {
  return __builtin_amdgcn_exp2f(x * 1.44269504088896340736f);
}
/// One unit of the last place.
__inline_device__ float fast_reciprocal(float x) {
  return __builtin_amdgcn_rcpf(x);
}
__inline_device__ float fast_sigmoid(float x) {
  return fast_reciprocal(1.0f + fast_exp(-x));
}
