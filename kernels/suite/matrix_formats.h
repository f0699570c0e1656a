// Narrow number formats for MatrixTile, and results in them.
#pragma once

#include "matrix_tile.h"

using Half4 = Packed<_Float16, 4>;
using Half8 = Packed<_Float16, 8>;
using Long2 = Packed<long, 2>;

struct FormatF16 {
  using Element = _Float16;
  using Sum = float16;
  __device__ static Sum multiply(Chunk w, Chunk x, Sum sum) {
    const auto a = __builtin_bit_cast(Half8, w), b = __builtin_bit_cast(Half8, x);
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, sum, 0, 0, 0);
#else
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(a.lo, b.lo, sum, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_32x32x8f16(a.hi, b.hi, sum, 0, 0, 0);
#endif
  }
};

struct FormatBf16 {
  using Element = __bf16;
  using Sum = float16;
  __device__ static Sum multiply(Chunk w, Chunk x, Sum sum) {
#if defined(__gfx950__)
    using Bfloat8 = Packed<__bf16, 8>;
    return __builtin_amdgcn_mfma_f32_32x32x16_bf16(__builtin_bit_cast(Bfloat8, w),
                                                   __builtin_bit_cast(Bfloat8, x), sum, 0, 0, 0);
#else
    using Short8 = Packed<short, 8>;
    const auto a = __builtin_bit_cast(Short8, w), b = __builtin_bit_cast(Short8, x);
    sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a.lo, b.lo, sum, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a.hi, b.hi, sum, 0, 0, 0);
#endif
  }
};

struct FormatI8 {
  using Element = signed char;
  using Sum = Packed<int, 16>;
  __device__ static Sum multiply(Chunk w, Chunk x, Sum sum) {
#if defined(__gfx950__)
    using Int4 = Packed<int, 4>;
    return __builtin_amdgcn_mfma_i32_32x32x32_i8(__builtin_bit_cast(Int4, w), __builtin_bit_cast(Int4, x),
                                                 sum, 0, 0, 0);
#elif defined(__gfx942__)
    const auto a = __builtin_bit_cast(Long2, w), b = __builtin_bit_cast(Long2, x);
    sum = __builtin_amdgcn_mfma_i32_32x32x16_i8(a[0], b[0], sum, 0, 0, 0);
    return __builtin_amdgcn_mfma_i32_32x32x16_i8(a[1], b[1], sum, 0, 0, 0);
#else
#pragma unroll
    for (uint t = 0; t < 4; ++t)
      sum = __builtin_amdgcn_mfma_i32_32x32x8i8(static_cast<int>(w[t]), static_cast<int>(x[t]), sum, 0, 0, 0);
    return sum;
#endif
  }
};

#if defined(__gfx942__) || defined(__gfx950__)
/// e4m3: FNUZ on gfx942, OCP's on gfx950.
struct FormatFp8 {
  using Element = unsigned char;
  using Sum = float16;
  __device__ static Sum multiply(Chunk w, Chunk x, Sum sum) {
    const auto a = __builtin_bit_cast(Long2, w), b = __builtin_bit_cast(Long2, x);
    sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[0], b[0], sum, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[1], b[1], sum, 0, 0, 0);
  }
};
#endif

/// Writes four neighbours of a row of an [m][n] matrix, as far as they are in it.
template <class T>
__inline_device__ void put_four_of(T* matrix, uint row, uint column, uint m, uint n, Packed<T, 4> values) {
  typedef Packed<T, 4> Loose __attribute__((aligned(sizeof(T))));
  if (row >= m) return;
  T* to = matrix + static_cast<uint64>(row) * n + column;
  if (column + 4 <= n) {
    *reinterpret_cast<Loose*>(to) = values;
    return;
  }
#pragma unroll
  for (uint e = 0; e < 4; ++e)
    if (column + e < n) to[e] = values[e];
}

/// Writes a whole tile, rounded to T; `of` makes results of four sums.
template <class T, class Tile, class F>
__inline_device__ void put_tile(const Tile& tile, T* out, uint m, uint n, F of) {
#pragma unroll
  for (uint tm = 0; tm < Tile::tiles_m; ++tm)
#pragma unroll
    for (uint tn = 0; tn < Tile::tiles_n; ++tn)
#pragma unroll
      for (uint group = 0; group < 4; ++group)
        put_four_of<T>(out, tile.row(tm), tile.column(tn, group), m, n,
                       __builtin_convertvector(of(tile.four(tm, tn, group)), Packed<T, 4>));
}
