// out = x * W^T where W is in 4-bit integers with a scale and a zero point for every 128 of a row, as
// activation-aware quantisation makes them: W[j][i] = (code[j][i] - zeros[j][i / 128]) * scales[j][i / 128].
// x is [m][k] and out [m][n] in half precision, codes are [n][k / 8] words, the first in the lowest bits, k
// is a multiple of 8. K0 is gemm_int4: codes become half-precision numbers on their way from registers to
// LDS.
#include "matrix_formats.h"

using Tile = MatrixTile<FormatF16, 128, 128, 64, 64>;

/// 128 rows of W: 32 columns of one row are 4 words, of which each lane has two.
struct Int4Side {
  const uint* codes;
  const _Float16 *scales, *zeros;
  uint words[2];
  _Float16 scale, zero;
  static constexpr uint bytes = 64;

  __device__ Int4Side(const uint* w, const _Float16* s, const _Float16* z, uint first, uint n, uint k) {
    const uint row = first + lane_x() / 2 < n ? first + lane_x() / 2 : n - 1, groups = (k + 127) / 128;
    codes = w + static_cast<uint64>(row) * (k / 8);
    scales = s + static_cast<uint64>(row) * groups;
    zeros = z + static_cast<uint64>(row) * groups;
  }
  __device__ void fetch(uint at) { fetch_rest(at, at + Tile::block_k); }
  __device__ void fetch_rest(uint at, uint k) {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      const uint word = at / 8 + lane_x() % 2 * 2 + i;
      words[i] = word < k / 8 ? codes[word] : 0; // for a whole block that is always so
    }
    scale = scales[at / 128];
    zero = zeros[at / 128];
  }
  __device__ void put(unsigned char (&tile)[128][bytes + 16]) const {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      Half8 numbers;
#pragma unroll
      for (uint pair = 0; pair < 4; ++pair) {
        // 0x6400 is 1024 in half precision, whose last bit counts 1: a code below 16 can be or-ed in.
        using Half2 = Packed<_Float16, 2>;
        const uint low = words[i] >> (pair * 8) & 0xf, high = words[i] >> (pair * 8 + 4) & 0xf;
        Half2 both = __builtin_bit_cast(Half2, low | high << 16 | 0x64006400u);
        both = (both - (static_cast<_Float16>(1024) + zero)) * scale;
        numbers[pair * 2] = both[0];
        numbers[pair * 2 + 1] = both[1];
      }
      *reinterpret_cast<Half8*>(&tile[lane_x() / 2][lane_x() % 2 * 32 + i * 16]) = numbers;
    }
  }
};

extern "C" __global__ void __workgroup__(256)
    gemm_int4(const _Float16* __restrict__ x, const uint* __restrict__ codes,
              const _Float16* __restrict__ scales, const _Float16* __restrict__ zeros,
              _Float16* __restrict__ out, uint m, uint n, uint k) {
  __shared__ Tile::Storage lds;
  Tile tile(group_y() * 128, group_x() * 128);
  Tile::Side<128> x_side(x, group_y() * 128, m, k);
  Int4Side w_side(codes, scales, zeros, group_x() * 128, n, k);
  tile.multiply(lds, x_side, w_side, k, [](uint) {});
  put_tile(tile, out, m, n, [](auto four) { return four; });
}
