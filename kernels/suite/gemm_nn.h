// One 128x128 tile of C = A * B in f32 through the matrix cores, A [m][k] and B [k][n] row by row: the core
// of the level 1 matrix products. Four waves of 64x64 each; 16 of k at a time go through LDS while the next
// 16 are on their way from memory in registers.
#pragma once

#include "common.h"

namespace gemm {

constexpr uint tile = 128, depth = 16, threads = 256;
constexpr uint a_pitch = depth + 4; // in LDS; 16-byte aligned rows that start in different banks
constexpr uint b_pitch = tile + 4;

/// One side's view of memory. Elements at or beyond `rows` and `columns` are 0.
struct Matrix {
  const float* start;
  uint rows, columns;
};

struct alignas(16) Lds {
  float a[tile * a_pitch];  // [m][k]
  float b[depth * b_pitch]; // [k][n]
};

/// What a lane carries from memory to LDS for one step: two quads of each.
struct Staged {
  float4 a[2], b[2];
};

/// 32x32 blocks of a wave's 64x64: [row block][column block].
using Sums = float16[2][2];

/// Called with each quad before it is used; triangular products clear what is on the wrong side of the
/// diagonal.
struct KeepAll {
  __inline_device__ float4 a(float4 quad, uint, uint) const { return quad; }
  __inline_device__ float4 b(float4 quad, uint, uint) const { return quad; }
};

template <bool inside>
__inline_device__ float4 load_quad(const Matrix& matrix, uint row, uint column, uint end) {
  const float* at = matrix.start + (uint64{row} * matrix.columns + column);
  if constexpr (inside) return load4(at);
  if (row >= matrix.rows) return float4{};
  return load4(at, static_cast<int64>(end) - column, 0);
}

/// Rows and first column of a lane's quads, the second quad's row in brackets.
struct Place {
  uint a_row, a_k;    // (a_row + 64)
  uint b_k, b_column; // (b_k + 8)
};
__inline_device__ Place place_of(uint row, uint column, uint k) {
  const uint lane = lane_x();
  return {row + lane / 4, k + lane % 4 * 4, k + lane / 32, column + lane % 32 * 4};
}

template <bool inside>
__inline_device__ Staged load_step(const Matrix& a, const Matrix& b, const Place& at, uint k_end) {
  const Matrix b_part = {b.start, k_end, b.columns};
  Staged staged;
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    staged.a[i] = load_quad<inside>(a, at.a_row + i * 64, at.a_k, k_end);
    staged.b[i] = load_quad<inside>(b_part, at.b_k + i * 8, at.b_column, b.columns);
  }
  return staged;
}

template <class Keep>
__inline_device__ void store_step(Lds& lds, const Staged& staged, const Place& at, const Keep& keep) {
  const Place to = place_of(0, 0, 0);
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    *reinterpret_cast<float4*>(&lds.a[(to.a_row + i * 64) * a_pitch + to.a_k]) =
        keep.a(staged.a[i], at.a_row + i * 64, at.a_k);
    *reinterpret_cast<float4*>(&lds.b[(to.b_k + i * 8) * b_pitch + to.b_column]) =
        keep.b(staged.b[i], at.b_k + i * 8, at.b_column);
  }
}

/// A matrix instruction takes two of k, one from each half of the wave. Which two does not matter as long as
/// A and B agree: each half takes four in a row, so that A is read in quads.
__inline_device__ void multiply_step(const Lds& lds, Sums& sums) {
  const uint lane = wave_lane(), wave = wave_number(), part = lane / 32 * 4;
  const float* a = &lds.a[(wave / 2 * 64 + lane % 32) * a_pitch + part];
  const float* b = &lds.b[part * b_pitch + wave % 2 * 64 + lane % 32];
  float4 left[depth / 8][2];
  float right[depth / 8][4][2];
#pragma unroll
  for (uint k = 0; k < depth / 8; ++k) {
#pragma unroll
    for (uint m = 0; m < 2; ++m) left[k][m] = *reinterpret_cast<const float4*>(a + m * 32 * a_pitch + k * 8);
#pragma unroll
    for (uint i = 0; i < 4; ++i)
#pragma unroll
      for (uint n = 0; n < 2; ++n) right[k][i][n] = b[(k * 8 + i) * b_pitch + n * 32];
  }
  __builtin_amdgcn_sched_barrier(0); // all reads are under way before the first product needs one
#pragma unroll
  for (uint k = 0; k < depth / 2; ++k)
#pragma unroll
    for (uint m = 0; m < 2; ++m)
#pragma unroll
      for (uint n = 0; n < 2; ++n)
        sums[m][n] = __builtin_amdgcn_mfma_f32_32x32x2f32(left[k / 4][m][k % 4], right[k / 4][k % 4][n],
                                                          sums[m][n], 0, 0, 0);
}

template <bool inside, class Keep>
__inline_device__ void accumulate(const Matrix& a, const Matrix& b, uint row, uint column, uint k, uint k_end,
                                  Lds& lds, Sums& sums, const Keep& keep) {
  Place at = place_of(row, column, k);
  Staged staged = load_step<inside>(a, b, at, k_end);
  while (true) {
    barrier(); // everybody is done with the last step
    store_step(lds, staged, at, keep);
    barrier();
    k += depth;
    at = place_of(row, column, k);
    if (k < k_end) staged = load_step<inside>(a, b, at, k_end);
    multiply_step(lds, sums);
    if (k >= k_end) return;
  }
}

/// The tile at (row, column) summed over k in [k, k_end): all of the workgroup's lanes.
template <class Keep>
__inline_device__ void tile_product(const Matrix& a, const Matrix& b, uint row, uint column, uint k,
                                    uint k_end, Lds& lds, Sums& sums, const Keep& keep) {
  if (k >= k_end) return;
  if (row + tile <= a.rows && column + tile <= b.columns && (k_end - k) % depth == 0)
    accumulate<true>(a, b, row, column, k, k_end, lds, sums, keep);
  else
    accumulate<false>(a, b, row, column, k, k_end, lds, sums, keep);
}

/// Calls put(row, column, value) for each of the lane's elements of the tile.
template <class Put>
__inline_device__ void for_each_element(const Sums& sums, uint row, uint column, const Put& put) {
  const uint lane = wave_lane(), wave = wave_number();
  row += wave / 2 * 64 + lane / 32 * 4;
  column += wave % 2 * 64 + lane % 32;
#pragma unroll
  for (uint m = 0; m < 2; ++m)
#pragma unroll
    for (uint n = 0; n < 2; ++n)
#pragma unroll
      for (uint i = 0; i < 16; ++i) put(row + m * 32 + i / 4 * 8 + i % 4, column + n * 32, sums[m][n][i]);
}

/// Writes the tile to C, [rows][columns] row by row.
__inline_device__ void store_tile(const Sums& sums, float* c, uint rows, uint columns, uint row,
                                  uint column) {
  if (row + tile <= rows && column + tile <= columns)
    for_each_element(sums, row, column,
                     [&](uint r, uint at, float value) { c[uint64{r} * columns + at] = value; });
  else
    for_each_element(sums, row, column, [&](uint r, uint at, float value) {
      if (r < rows && at < columns) c[uint64{r} * columns + at] = value;
    });
}

} // namespace gemm
