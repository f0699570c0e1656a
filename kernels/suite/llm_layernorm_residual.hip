// sum = x + residual, which takes the residual's place; out = layernorm(sum) * gamma + beta, over rows of `n`
// numbers, at most 8192. All in half precision, [rows][n]. K0 is layernorm_residual: a workgroup a row, which
// stays in registers; the norm is of the unrounded sum.
#include "matrix_formats.h"

constexpr uint parts = 4; // eight neighbours each

/// Eight numbers of a row of n from `at` on, as float; 0 behind its end.
__inline_device__ Packed<float, 8> load8(const _Float16* row, uint at, uint n) {
  typedef Half8 Loose __attribute__((aligned(2)));
  Half8 some = {};
  if (at + 8 <= n)
    some = *reinterpret_cast<const Loose*>(row + at);
  else
#pragma unroll
    for (uint e = 0; e < 8; ++e)
      if (at + e < n) some[e] = row[at + e];
  return __builtin_convertvector(some, Packed<float, 8>);
}
__inline_device__ void store8(_Float16* row, uint at, uint n, Packed<float, 8> values) {
  typedef Half8 Loose __attribute__((aligned(2)));
  const Half8 some = __builtin_convertvector(values, Half8);
  if (at + 8 <= n)
    *reinterpret_cast<Loose*>(row + at) = some;
  else
#pragma unroll
    for (uint e = 0; e < 8; ++e)
      if (at + e < n) row[at + e] = some[e];
}
__inline_device__ float sum_of(Packed<float, 8> v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

extern "C" __global__ void __workgroup__(256)
    layernorm_residual(const _Float16* __restrict__ x, _Float16* __restrict__ residual,
                       const _Float16* __restrict__ gamma, const _Float16* __restrict__ beta,
                       _Float16* __restrict__ out, uint n) {
  __shared__ float part[2][4];
  const uint64 row = static_cast<uint64>(group_x()) * n;
  Packed<float, 8> values[parts];
  float total = 0;
#pragma unroll
  for (uint i = 0; i < parts; ++i) {
    const uint at = (i * 256 + lane_x()) * 8;
    values[i] = load8(x + row, at, n) + load8(residual + row, at, n);
    total += sum_of(values[i]);
  }
  const float mean = block_reduce<4>(total, Sum{}, part[0]) / static_cast<float>(n);
  float square = 0;
#pragma unroll
  for (uint i = 0; i < parts; ++i)
#pragma unroll
    for (uint e = 0; e < 8; ++e) {
      const float off = (i * 256 + lane_x()) * 8 + e < n ? values[i][e] - mean : 0;
      square += off * off;
    }
  square = block_reduce<4>(square, Sum{}, part[1]);
  const float scale = __builtin_amdgcn_rsqf(square / static_cast<float>(n) + 1e-5f);
#pragma unroll
  for (uint i = 0; i < parts; ++i) {
    const uint at = (i * 256 + lane_x()) * 8;
    store8(residual + row, at, n, values[i]);
    store8(out + row, at, n, (values[i] - mean) * scale * load8(gamma, at, n) + load8(beta, at, n));
  }
}
