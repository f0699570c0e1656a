// Every dense matrix instruction of the target: one wave computes D = A * B + C for one tile (or `blocks`
// tiles side by side) over a K that is `steps` times the instruction's. In memory A is [blocks][M][steps *
// K], B is [blocks][N][steps * K] (that is, transposed), C and D are [blocks][M][N].
#include "device.h"

template <class T, uint n>
using Vector = T __attribute__((ext_vector_type(n)));

/// Where a matrix instruction keeps its elements (the ISA's "Matrix arithmetic instructions"). A: item t of
/// lane l is A[block][i][k], B the same with N for M. Items of D and C are spread in groups of 4 rows (f64:
/// 1).
template <uint m, uint n, uint k, uint blocks, uint rows_together>
struct Layout {
  static constexpr uint items = k * m * blocks / 64, results = m * n * blocks / 64;
  static constexpr uint blocks_across = 64 * rows_together / (n * m) > 0 ? 64 * rows_together / (n * m) : 1;
  static constexpr uint row_groups_across = 64 / blocks_across / n;
  static constexpr uint row_groups = m / (rows_together * row_groups_across); // in one lane

  __device__ static uint input_block(uint lane, uint rows) { return lane / rows % blocks; }
  __device__ static uint input_k(uint lane, uint rows, uint item) {
    return lane / (rows * blocks) * items + item;
  }
  __device__ static uint result_block(uint lane, uint item) {
    return item / rows_together / row_groups * blocks_across + lane / n % blocks_across;
  }
  __device__ static uint result_row(uint lane, uint item) {
    const uint group = item / rows_together % row_groups, across = lane / n / blocks_across;
    return item % rows_together + rows_together * (across + row_groups_across * group);
  }
};

/// `Multiply` takes and returns registers: In[items], In[items], Out[results] as vectors.
template <uint m, uint n, uint k, uint blocks, class In, class Out, class Multiply>
__device__ static void tiles(const In* a, const In* b, const Out* c, Out* d, uint steps, Multiply multiply) {
  using Place = Layout<m, n, k, blocks, sizeof(Out) == 8 ? 1 : 4>;
  const uint lane = lane_x(), columns = steps * k;
  Vector<Out, Place::results> sum;
  for (uint r = 0; r < Place::results; ++r)
    sum[r] = c[(Place::result_block(lane, r) * m + Place::result_row(lane, r)) * n + lane % n];
  for (uint step = 0; step < steps; ++step) {
    Vector<In, Place::items> a_items, b_items;
    for (uint t = 0; t < Place::items; ++t) {
      a_items[t] =
          a[(Place::input_block(lane, m) * m + lane % m) * columns + step * k + Place::input_k(lane, m, t)];
      b_items[t] =
          b[(Place::input_block(lane, n) * n + lane % n) * columns + step * k + Place::input_k(lane, n, t)];
    }
    sum = multiply(a_items, b_items, sum);
  }
  for (uint r = 0; r < Place::results; ++r)
    d[(Place::result_block(lane, r) * m + Place::result_row(lane, r)) * n + lane % n] = sum[r];
}

// TILE(name, In, Register, Out, M, N, K, blocks, builtin): In as in memory, Register as the builtin wants its
// inputs.
#define TILE(name, In, Register, Out, m, n, k, blocks, builtin)                                              \
  extern "C" __global__ void __launch_bounds__(64)                                                           \
      name(const In* a, const In* b, const Out* c, Out* d, uint steps) {                                     \
    tiles<m, n, k, blocks>(a, b, c, d, steps, [](auto x, auto y, auto sum) {                                 \
      return builtin(__builtin_bit_cast(Register, x), __builtin_bit_cast(Register, y), sum, 0, 0, 0);        \
    });                                                                                                      \
  }

using half4 = Vector<_Float16, 4>;
using short2 = Vector<short, 2>;
using short4 = Vector<short, 4>;

TILE(f64_16x16x4, double, double, double, 16, 16, 4, 1, __builtin_amdgcn_mfma_f64_16x16x4f64)

// One double a lane is no vector to the builtin.
extern "C" __global__ void __launch_bounds__(64)
    f64_4x4x4_4b(const double* a, const double* b, const double* c, double* d, uint steps) {
  tiles<4, 4, 4, 4>(a, b, c, d, steps, [](auto x, auto y, auto sum) {
    sum[0] = __builtin_amdgcn_mfma_f64_4x4x4f64(x[0], y[0], sum[0], 0, 0, 0);
    return sum;
  });
}

TILE(f32_32x32x1_2b, float, float, float, 32, 32, 1, 2, __builtin_amdgcn_mfma_f32_32x32x1f32)
TILE(f32_16x16x1_4b, float, float, float, 16, 16, 1, 4, __builtin_amdgcn_mfma_f32_16x16x1f32)
TILE(f32_4x4x1_16b, float, float, float, 4, 4, 1, 16, __builtin_amdgcn_mfma_f32_4x4x1f32)
TILE(f32_32x32x2, float, float, float, 32, 32, 2, 1, __builtin_amdgcn_mfma_f32_32x32x2f32)
TILE(f32_16x16x4, float, float, float, 16, 16, 4, 1, __builtin_amdgcn_mfma_f32_16x16x4f32)

TILE(f16_32x32x4_2b, _Float16, half4, float, 32, 32, 4, 2, __builtin_amdgcn_mfma_f32_32x32x4f16)
TILE(f16_16x16x4_4b, _Float16, half4, float, 16, 16, 4, 4, __builtin_amdgcn_mfma_f32_16x16x4f16)
TILE(f16_4x4x4_16b, _Float16, half4, float, 4, 4, 4, 16, __builtin_amdgcn_mfma_f32_4x4x4f16)
TILE(f16_32x32x8, _Float16, half4, float, 32, 32, 8, 1, __builtin_amdgcn_mfma_f32_32x32x8f16)
TILE(f16_16x16x16, _Float16, half4, float, 16, 16, 16, 1, __builtin_amdgcn_mfma_f32_16x16x16f16)

// bf16 as its bits.
TILE(bf16_32x32x4_2b, short, short4, float, 32, 32, 4, 2, __builtin_amdgcn_mfma_f32_32x32x4bf16_1k)
TILE(bf16_16x16x4_4b, short, short4, float, 16, 16, 4, 4, __builtin_amdgcn_mfma_f32_16x16x4bf16_1k)
TILE(bf16_4x4x4_16b, short, short4, float, 4, 4, 4, 16, __builtin_amdgcn_mfma_f32_4x4x4bf16_1k)
TILE(bf16_32x32x8, short, short4, float, 32, 32, 8, 1, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
TILE(bf16_16x16x16, short, short4, float, 16, 16, 16, 1, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k)

TILE(i8_32x32x4_2b, signed char, int, int, 32, 32, 4, 2, __builtin_amdgcn_mfma_i32_32x32x4i8)
TILE(i8_16x16x4_4b, signed char, int, int, 16, 16, 4, 4, __builtin_amdgcn_mfma_i32_16x16x4i8)
TILE(i8_4x4x4_16b, signed char, int, int, 4, 4, 4, 16, __builtin_amdgcn_mfma_i32_4x4x4i8)

#if defined(__gfx90a__)
TILE(bf16_32x32x2_2b, short, short2, float, 32, 32, 2, 2, __builtin_amdgcn_mfma_f32_32x32x2bf16)
TILE(bf16_16x16x2_4b, short, short2, float, 16, 16, 2, 4, __builtin_amdgcn_mfma_f32_16x16x2bf16)
TILE(bf16_4x4x2_16b, short, short2, float, 4, 4, 2, 16, __builtin_amdgcn_mfma_f32_4x4x2bf16)
TILE(bf16_32x32x4, short, short2, float, 32, 32, 4, 1, __builtin_amdgcn_mfma_f32_32x32x4bf16)
TILE(bf16_16x16x8, short, short2, float, 16, 16, 8, 1, __builtin_amdgcn_mfma_f32_16x16x8bf16)
TILE(i8_32x32x8, signed char, int, int, 32, 32, 8, 1, __builtin_amdgcn_mfma_i32_32x32x8i8)
TILE(i8_16x16x16, signed char, int, int, 16, 16, 16, 1, __builtin_amdgcn_mfma_i32_16x16x16i8)
#endif

#if defined(__gfx942__) || defined(__gfx950__)
TILE(i8_32x32x16, signed char, long, int, 32, 32, 16, 1, __builtin_amdgcn_mfma_i32_32x32x16_i8)
TILE(i8_16x16x32, signed char, long, int, 16, 16, 32, 1, __builtin_amdgcn_mfma_i32_16x16x32_i8)
TILE(fp8_fp8_32x32x16, unsigned char, long, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
TILE(fp8_bf8_32x32x16, unsigned char, long, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8)
TILE(bf8_fp8_32x32x16, unsigned char, long, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8)
TILE(bf8_bf8_32x32x16, unsigned char, long, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8)
TILE(fp8_fp8_16x16x32, unsigned char, long, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8)
TILE(fp8_bf8_16x16x32, unsigned char, long, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8)
TILE(bf8_fp8_16x16x32, unsigned char, long, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8)
TILE(bf8_bf8_16x16x32, unsigned char, long, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8)
#endif

#if defined(__gfx942__)
using float2 = Vector<float, 2>;
TILE(xf32_32x32x4, float, float2, float, 32, 32, 4, 1, __builtin_amdgcn_mfma_f32_32x32x4_xf32)
TILE(xf32_16x16x8, float, float2, float, 16, 16, 8, 1, __builtin_amdgcn_mfma_f32_16x16x8_xf32)
#endif

#if defined(__gfx950__)
using half8 = Vector<_Float16, 8>;
using bfloat8 = Vector<__bf16, 8>;
using int4 = Vector<int, 4>;
TILE(f16_32x32x16, _Float16, half8, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_f16)
TILE(f16_16x16x32, _Float16, half8, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_f16)
TILE(bf16_32x32x16, short, bfloat8, float, 32, 32, 16, 1, __builtin_amdgcn_mfma_f32_32x32x16_bf16)
TILE(bf16_16x16x32, short, bfloat8, float, 16, 16, 32, 1, __builtin_amdgcn_mfma_f32_16x16x32_bf16)
TILE(i8_32x32x32, signed char, int4, int, 32, 32, 32, 1, __builtin_amdgcn_mfma_i32_32x32x32_i8)
TILE(i8_16x16x64, signed char, int4, int, 16, 16, 64, 1, __builtin_amdgcn_mfma_i32_16x16x64_i8)
#endif
