// One workgroup's tile of X * W^T on the matrix cores, for kernels that go on with it in registers. X is
// [m][k] and W is [n][k], both row by row; tiles of both go through LDS while the next ones are on their way.
//
// W is the instructions' first operand, so a lane has one row of X and 16 columns of each 32x32 tile: sums
// over a row are mostly sums in a lane, and results leave four neighbours at a time.
#pragma once

#include "common.h"

template <class T, uint n>
using Packed = T __attribute__((ext_vector_type(n)));
using Chunk = Packed<uint, 4>; // 16 bytes of a row: what a lane moves at a time

/// What a lane's 16 bytes of W and of X add to a 32x32 tile. Which k a byte stands for is the same for both,
/// and that is all that matters.
struct FormatF32 {
  using Element = float;
  using Sum = float16;
  __device__ static Sum multiply(Chunk w, Chunk x, Sum sum) {
    const auto wf = __builtin_bit_cast(float4, w), xf = __builtin_bit_cast(float4, x);
#pragma unroll
    for (uint t = 0; t < 4; ++t) sum = __builtin_amdgcn_mfma_f32_32x32x2f32(wf[t], xf[t], sum, 0, 0, 0);
    return sum;
  }
};

template <class Format, uint block_m, uint block_n, uint wave_m, uint wave_n, uint block_k_bytes = 64>
class MatrixTile {
 public:
  using Element = typename Format::Element;
  using Sum = typename Format::Sum;
  static constexpr uint waves_n = block_n / wave_n, threads = block_m / wave_m * waves_n * 64;
  static constexpr uint tiles_m = wave_m / 32, tiles_n = wave_n / 32;
  static constexpr uint chunk = 16 / sizeof(Element), block_k = block_k_bytes / sizeof(Element);

  /// Rows are 16 bytes longer than they hold, which spreads a wave's reads over all banks.
  struct Storage {
    alignas(16) unsigned char x[block_m][block_k_bytes + 16], w[block_n][block_k_bytes + 16];
  };

  Sum sum[tiles_m][tiles_n] = {};

  __device__ MatrixTile(uint first_row, uint first_column)
      : wave_(__builtin_amdgcn_readfirstlane(lane_x() / 64)), first_row_(first_row),
        first_column_(first_column) {}

  /// Adds the products over all of k. Rows that do not exist repeat the last one.
  __device__ void multiply(Storage& lds, const Element* x, const Element* w, uint m, uint n, uint k) {
    Side<block_m> x_side(x, first_row_, m, k);
    Side<block_n> w_side(w, first_column_, n, k);
    multiply(lds, x_side, w_side, k, [](uint) {});
  }

  /// The same with operands from elsewhere: fetch(at) brings block_k elements from `at` on into registers,
  /// fetch_rest(at, k) those that there are, with zeros behind them, and put() writes them to LDS. `added` is
  /// called with `at` after each block_k of k.
  template <class X, class W, class Added>
  __device__ void multiply(Storage& lds, X& x_side, W& w_side, uint k, Added added) {
    const uint whole = k / block_k * block_k;
    if (whole > 0) {
      x_side.fetch(0);
      w_side.fetch(0);
    }
    for (uint at = 0; at < whole; at += block_k) {
      barrier();
      x_side.put(lds.x);
      w_side.put(lds.w);
      barrier();
      if (at + block_k < whole) {
        x_side.fetch(at + block_k);
        w_side.fetch(at + block_k);
      }
      add(lds);
      added(at);
    }
    if (whole == k) return;
    x_side.fetch_rest(whole, k);
    w_side.fetch_rest(whole, k);
    barrier();
    x_side.put(lds.x);
    w_side.put(lds.w);
    barrier();
    add(lds);
    added(whole);
  }

  /// The row of X that the lane has of tile `tm`; the first of the four columns it has in places 4 * group to
  /// 4 * group + 3 of tile `tn`.
  __device__ uint row(uint tm) const { return first_wave_row() + tm * 32 + wave_lane() % 32; }
  __device__ uint column(uint tn, uint group) const {
    return first_wave_column() + tn * 32 + group * 8 + wave_lane() / 32 * 4;
  }
  __device__ uint first_wave_row() const { return first_row_ + wave_ / waves_n * wave_m; }
  __device__ uint first_wave_column() const { return first_column_ + wave_ % waves_n * wave_n; }
  __device__ uint wave() const { return wave_; }
  /// What is in those four places.
  __device__ auto four(uint tm, uint tn, uint group) const {
    const Sum& s = sum[tm][tn];
    return Packed<decltype(s[0] + s[0]), 4>{s[4 * group], s[4 * group + 1], s[4 * group + 2],
                                            s[4 * group + 3]};
  }
  template <class Four>
  __device__ void set_four(uint tm, uint tn, uint group, Four values) {
#pragma unroll
    for (uint e = 0; e < 4; ++e) sum[tm][tn][4 * group + e] = values[e];
  }

  /// The rows of one operand: what each lane has fetched of them.
  template <uint rows>
  struct Side {
    static constexpr uint chunks = block_k_bytes / 16, total = rows * chunks;
    static constexpr uint count = (total + threads - 1) / threads;
    const Element* from[count];
    Chunk held[count];

    __device__ Side(const Element* matrix, uint first, uint existing, uint k)
        : Side(matrix, first, existing, k, [](uint row) { return row; }) {}
    /// Row `row` is row `which(row)` of the matrix.
    template <class Which>
    __device__ Side(const Element* matrix, uint first, uint existing, uint k, Which which) {
#pragma unroll
      for (uint i = 0; i < count; ++i) {
        const uint row = first + index(i) / chunks;
        from[i] = matrix + static_cast<uint64>(which(row < existing ? row : existing - 1)) * k + place(i);
      }
    }
    __device__ static uint index(uint i) { return lane_x() + i * threads; }
    __device__ static uint place(uint i) { return index(i) % chunks * chunk; }
    __device__ static bool used(uint i) { return total % threads == 0 || index(i) < total; }

    __device__ void fetch(uint at) {
      typedef Packed<Element, chunk> Loose __attribute__((aligned(sizeof(Element))));
#pragma unroll
      for (uint i = 0; i < count; ++i)
        if (used(i)) held[i] = __builtin_bit_cast(Chunk, *reinterpret_cast<const Loose*>(from[i] + at));
    }
    __device__ void fetch_rest(uint at, uint k) {
#pragma unroll
      for (uint i = 0; i < count; ++i) {
        Packed<Element, chunk> some = {};
#pragma unroll
        for (uint e = 0; e < chunk; ++e)
          if (used(i) && at + place(i) + e < k) some[e] = from[i][at + e];
        held[i] = __builtin_bit_cast(Chunk, some);
      }
    }
    __device__ void put(unsigned char (&tile)[rows][block_k_bytes + 16]) const {
#pragma unroll
      for (uint i = 0; i < count; ++i)
        if (used(i)) *reinterpret_cast<Chunk*>(&tile[index(i) / chunks][index(i) % chunks * 16]) = held[i];
    }
  };

 private:
  __device__ void add(const Storage& lds) {
    const uint lane = wave_lane() % 32, part = wave_lane() / 32 * 16;
    const uint x_row = wave_ / waves_n * wave_m + lane, w_row = wave_ % waves_n * wave_n + lane;
#pragma unroll
    for (uint k = 0; k < block_k_bytes; k += 32) {
      Chunk x[tiles_m], w[tiles_n];
#pragma unroll
      for (uint t = 0; t < tiles_m; ++t)
        x[t] = *reinterpret_cast<const Chunk*>(&lds.x[x_row + t * 32][k + part]);
#pragma unroll
      for (uint t = 0; t < tiles_n; ++t)
        w[t] = *reinterpret_cast<const Chunk*>(&lds.w[w_row + t * 32][k + part]);
#pragma unroll
      for (uint tm = 0; tm < tiles_m; ++tm)
#pragma unroll
        for (uint tn = 0; tn < tiles_n; ++tn) sum[tm][tn] = Format::multiply(w[tn], x[tm], sum[tm][tn]);
    }
  }

  uint wave_, first_row_, first_column_;
};

/// The tile of most kernels: four waves in a square, 64x64 each.
using TileF32 = MatrixTile<FormatF32, 128, 128, 64, 64>;

/// Four neighbours of a vector of n; what lies behind its end is 0.
__inline_device__ float4 four_of(const float* vector, uint column, uint n) {
  return load4(vector + column, static_cast<int64>(n) - column, 0);
}

/// Writes four neighbours of a row of an [m][n] matrix, as far as they are in it.
__inline_device__ void put_four(float* matrix, uint row, uint column, uint m, uint n, float4 values) {
  if (row < m) store4(matrix + static_cast<uint64>(row) * n + column, values, static_cast<int64>(n) - column);
}

/// A row's sum in a wave: of four partial sums here and four in the lane that has the row's other columns.
__inline_device__ float both_halves(float4 partial) {
  const float own = (partial[0] + partial[1]) + (partial[2] + partial[3]);
  return own + shuffle_xor(own, 32);
}

__inline_device__ float swish(float v) {
  return v * fast_sigmoid(v);
}
__inline_device__ float4 swish(float4 v) {
  return float4{swish(v[0]), swish(v[1]), swish(v[2]), swish(v[3])};
}
/// By the error function.
__inline_device__ float gelu(float v) {
  return 0.5f * v * (1.0f + __ocml_erf_f32(v * 0.707106781f));
}
