// KernelBench 2/41: z = x * W^T + b; out = max(gelu(batchnorm(z)), 0), where a column of z is normalised by
// its own mean and variance, then gamma and beta. x is [m][k], W is [n][k], out is [m][n].
//
// K0 is matmul_column_moments: it leaves z in `out`, and for every 64 rows the sum of each column and the
// sum of squared distances from those rows' mean in moments[ceil(m / 64)][2][n]. column_scales makes of these
// what a column is to be multiplied with and what added; scale_gelu_relu goes over `out` in place.
#include "matrix_tile.h"

/// Adds each of 32 values over 32 lanes: lane i of either half has the sum of value i afterwards. Each step
/// sends half of the values to the lane that keeps them, so that it is 31 moves and not 160.
template <uint half = 16>
__inline_device__ float add_across(const float (&values)[2 * half]) {
  const bool upper = (wave_lane() & half) != 0;
  float kept[half];
#pragma unroll
  for (uint i = 0; i < half; ++i) {
    const float sent = upper ? values[i] : values[i + half];
    kept[i] = (upper ? values[i + half] : values[i]) + shuffle_xor(sent, half);
  }
  if constexpr (half == 1)
    return kept[0];
  else
    return add_across<half / 2>(kept);
}

extern "C" __global__ void __workgroup__(256)
    matmul_column_moments(const float* __restrict__ x, const float* __restrict__ w,
                          const float* __restrict__ b, float* __restrict__ out, float* __restrict__ moments,
                          uint m, uint n, uint k) {
  __shared__ TileF32::Storage lds;
  TileF32 tile(group_y() * 128, group_x() * 128);
  tile.multiply(lds, x, w, m, n, k);
  float sums[32];
#pragma unroll
  for (uint tn = 0; tn < 2; ++tn)
#pragma unroll
    for (uint group = 0; group < 4; ++group) {
      const uint column = tile.column(tn, group);
      const float4 bias = four_of(b, column, n);
      float4 z[2];
#pragma unroll
      for (uint tm = 0; tm < 2; ++tm) {
        z[tm] = tile.four(tm, tn, group) + bias;
        tile.set_four(tm, tn, group, z[tm]);
        put_four(out, tile.row(tm), column, m, n, z[tm]);
        z[tm] *= tile.row(tm) < m ? 1.0f : 0.0f;
      }
#pragma unroll
      for (uint e = 0; e < 4; ++e) sums[tn * 16 + group * 4 + e] = z[0][e] + z[1][e];
    }
  const uint first = tile.first_wave_row();
  if (first >= m) return;
  const float count = static_cast<float>(m - first < 64 ? m - first : 64);
  const float total = add_across(sums), own_mean = total / count;
  float squares[32];
#pragma unroll
  for (uint i = 0; i < 32; ++i) {
    const float mean = shuffle(own_mean, i | (wave_lane() & 32));
    squares[i] = 0;
#pragma unroll
    for (uint tm = 0; tm < 2; ++tm) {
      const float off = tile.row(tm) < m ? tile.sum[tm][i / 16][i % 16] - mean : 0;
      squares[i] += off * off;
    }
  }
  const float square = add_across(squares);
  const uint place = wave_lane() % 32;
  const uint column = tile.column(place / 16, place % 16 / 4) + place % 4;
  if (column >= n) return;
  float* to = moments + static_cast<uint64>(first / 64) * 2 * n + column;
  to[0] = total;
  to[n] = square;
}

/// A lane a column: puts together what all blocks of 64 rows have.
extern "C" __global__ void __workgroup__(64)
    column_scales(const float* __restrict__ moments, const float* __restrict__ gamma,
                  const float* __restrict__ beta, float* __restrict__ scales, uint m, uint n) {
  const uint column = group_x() * 64 + lane_x();
  if (column >= n) return;
  const uint blocks = (m + 63) / 64;
  float total = 0;
  for (uint block = 0; block < blocks; ++block) total += moments[static_cast<uint64>(block) * 2 * n + column];
  const float mean = total / static_cast<float>(m);
  float square = 0;
  for (uint block = 0; block < blocks; ++block) {
    const float count = static_cast<float>(block + 1 < blocks ? 64 : m - block * 64);
    const float* of = moments + static_cast<uint64>(block) * 2 * n + column;
    const float off = of[0] / count - mean;
    square += of[n] + off * off * count;
  }
  const float scale = gamma[column] * __builtin_amdgcn_rsqf(square / static_cast<float>(m) + 1e-5f);
  scales[column] = scale;
  scales[n + column] = beta[column] - mean * scale;
}

/// Four columns a lane, `rows` rows; grid is (ceil(n / 1024), ceil(m / rows)).
extern "C" __global__ void __workgroup__(256)
    scale_gelu_relu(float* __restrict__ out, const float* __restrict__ scales, uint m, uint n, uint rows) {
  const uint column = (group_x() * 256 + lane_x()) * 4;
  if (column >= n) return;
  const float4 scale = four_of(scales, column, n), shift = four_of(scales + n, column, n);
  const uint first = group_y() * rows, end = first + rows < m ? first + rows : m;
  for (uint row = first; row < end; ++row) {
    float* at = out + static_cast<uint64>(row) * n + column;
    float4 z = load4(at, static_cast<int64>(n) - column, 0) * scale + shift;
#pragma unroll
    for (uint e = 0; e < 4; ++e) z[e] = __builtin_fmaxf(gelu(z[e]), 0);
    store4(at, z, static_cast<int64>(n) - column);
  }
}
