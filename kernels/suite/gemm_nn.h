// One tile of C = A * B in f32 through the matrix cores, A [m][k] and B [k][n] row by row: the core of the
// level 1 matrix products. Tiles are 64 or 128 square, a quarter for each of four waves; 16 of k at a time go
// through LDS while the next 16 are on their way from memory in registers.
#pragma once

#include "common.h"

namespace gemm {

constexpr uint depth = 16, threads = 256;
constexpr uint a_pitch = depth + 4; // in LDS; 16-byte aligned rows that start in different banks
template <uint tile>
constexpr uint b_pitch = tile + 4;
template <uint tile>
constexpr uint blocks = tile / 64; // of 32 rows or columns, in a wave's quarter; also quads a lane loads

/// One side's view of memory. Elements at or beyond `rows` and `columns` are 0.
struct Matrix {
  const float* start;
  uint rows, columns;
};

template <uint tile>
struct alignas(16) Lds {
  float a[tile * a_pitch];        // [m][k]
  float b[depth * b_pitch<tile>]; // [k][n]
};

/// What a lane carries from memory to LDS for one step.
template <uint tile>
struct Staged {
  float4 a[blocks<tile>], b[blocks<tile>];
};

/// 32x32 blocks of a wave's quarter: [row block][column block].
template <uint tile>
using Sums = float16[blocks<tile>][blocks<tile>];

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

/// Rows and first columns of a lane's quads; the further ones are `a_step` and `b_step` rows on.
struct Place {
  uint a_row, a_k;
  uint b_k, b_column;
};
constexpr uint a_step = threads * 4 / depth;
template <uint tile>
constexpr uint b_step = threads * 4 / tile;

template <uint tile>
__inline_device__ Place place_of(uint row, uint column, uint k) {
  const uint lane = lane_x();
  return {row + lane / 4, k + lane % 4 * 4, k + lane / (tile / 4), column + lane % (tile / 4) * 4};
}

template <uint tile, bool inside>
__inline_device__ Staged<tile> load_step(const Matrix& a, const Matrix& b, const Place& at, uint k_end) {
  const Matrix b_part = {b.start, k_end, b.columns};
  Staged<tile> staged;
#pragma unroll
  for (uint i = 0; i < blocks<tile>; ++i) {
    staged.a[i] = load_quad<inside>(a, at.a_row + i * a_step, at.a_k, k_end);
    staged.b[i] = load_quad<inside>(b_part, at.b_k + i * b_step<tile>, at.b_column, b.columns);
  }
  return staged;
}

template <uint tile, class Keep>
__inline_device__ void store_step(Lds<tile>& lds, const Staged<tile>& staged, const Place& at,
                                  const Keep& keep) {
  const Place to = place_of<tile>(0, 0, 0);
#pragma unroll
  for (uint i = 0; i < blocks<tile>; ++i) {
    *reinterpret_cast<float4*>(&lds.a[(to.a_row + i * a_step) * a_pitch + to.a_k]) =
        keep.a(staged.a[i], at.a_row + i * a_step, at.a_k);
    *reinterpret_cast<float4*>(&lds.b[(to.b_k + i * b_step<tile>)*b_pitch<tile> + to.b_column]) =
        keep.b(staged.b[i], at.b_k + i * b_step<tile>, at.b_column);
  }
}

/// A matrix instruction takes two of k, one from each half of the wave. Which two does not matter as long as
/// A and B agree: each half takes four in a row, so that A is read in quads.
template <uint tile>
__inline_device__ void multiply_step(const Lds<tile>& lds, Sums<tile>& sums) {
  constexpr uint count = blocks<tile>;
  const uint lane = wave_lane(), wave = wave_number(), part = lane / 32 * 4;
  const float* a = &lds.a[(wave / 2 * (tile / 2) + lane % 32) * a_pitch + part];
  const float* b = &lds.b[part * b_pitch<tile> + wave % 2 * (tile / 2) + lane % 32];
  float4 left[depth / 8][count];
  float right[depth / 8][4][count];
#pragma unroll
  for (uint k = 0; k < depth / 8; ++k) {
#pragma unroll
    for (uint m = 0; m < count; ++m)
      left[k][m] = *reinterpret_cast<const float4*>(a + m * 32 * a_pitch + k * 8);
#pragma unroll
    for (uint i = 0; i < 4; ++i)
#pragma unroll
      for (uint n = 0; n < count; ++n) right[k][i][n] = b[(k * 8 + i) * b_pitch<tile> + n * 32];
  }
  __builtin_amdgcn_sched_barrier(0); // all reads are under way before the first product needs one
#pragma unroll
  for (uint k = 0; k < depth / 2; ++k)
#pragma unroll
    for (uint m = 0; m < count; ++m)
#pragma unroll
      for (uint n = 0; n < count; ++n)
        sums[m][n] = __builtin_amdgcn_mfma_f32_32x32x2f32(left[k / 4][m][k % 4], right[k / 4][k % 4][n],
                                                          sums[m][n], 0, 0, 0);
}

template <bool inside, uint tile, class Keep>
__inline_device__ void accumulate(const Matrix& a, const Matrix& b, uint row, uint column, uint k, uint k_end,
                                  Lds<tile>& lds, Sums<tile>& sums, const Keep& keep) {
  Place at = place_of<tile>(row, column, k);
  Staged<tile> staged = load_step<tile, inside>(a, b, at, k_end);
  while (true) {
    barrier(); // everybody is done with the last step
    store_step<tile>(lds, staged, at, keep);
    barrier();
    k += depth;
    at = place_of<tile>(row, column, k);
    if (k < k_end) staged = load_step<tile, inside>(a, b, at, k_end);
    multiply_step<tile>(lds, sums);
    if (k >= k_end) return;
  }
}

/// The tile at (row, column) summed over k in [k, k_end): all of the workgroup's lanes.
template <uint tile, class Keep>
__inline_device__ void tile_product(const Matrix& a, const Matrix& b, uint row, uint column, uint k,
                                    uint k_end, Lds<tile>& lds, Sums<tile>& sums, const Keep& keep) {
  if (k >= k_end) return;
  if (row + tile <= a.rows && column + tile <= b.columns && (k_end - k) % depth == 0)
    accumulate<true, tile>(a, b, row, column, k, k_end, lds, sums, keep);
  else
    accumulate<false, tile>(a, b, row, column, k, k_end, lds, sums, keep);
}

/// Calls put(row, column, value) for each of the lane's elements of the tile.
template <uint tile, class Put>
__inline_device__ void for_each_element(const Sums<tile>& sums, uint row, uint column, const Put& put) {
  const uint lane = wave_lane(), wave = wave_number();
  row += wave / 2 * (tile / 2) + lane / 32 * 4;
  column += wave % 2 * (tile / 2) + lane % 32;
#pragma unroll
  for (uint m = 0; m < blocks<tile>; ++m)
#pragma unroll
    for (uint n = 0; n < blocks<tile>; ++n)
#pragma unroll
      for (uint i = 0; i < 16; ++i) put(row + m * 32 + i / 4 * 8 + i % 4, column + n * 32, sums[m][n][i]);
}

/// Writes the tile to C, [rows][columns] row by row.
template <uint tile>
__inline_device__ void store_tile(const Sums<tile>& sums, float* c, uint rows, uint columns, uint row,
                                  uint column) {
  if (row + tile <= rows && column + tile <= columns)
    for_each_element<tile>(sums, row, column,
                           [&](uint r, uint at, float value) { c[uint64{r} * columns + at] = value; });
  else
    for_each_element<tile>(sums, row, column, [&](uint r, uint at, float value) {
      if (r < rows && at < columns) c[uint64{r} * columns + at] = value;
    });
}

} // namespace gemm
