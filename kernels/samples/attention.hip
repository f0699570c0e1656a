// out = softmax(Q * K^T * scale) * V for one head, a tile of K and V at a time: the softmax is taken over
// what has been seen so far, and sums are corrected when a larger score turns up ("online softmax"). Q is
// [queries][32], K and V are [keys][32], with any number of queries and keys; `causal` lets query i see keys
// up to i + keys - queries.
#include "device.h"

constexpr uint width = 32;
constexpr float none = -__builtin_huge_valf();

/// A lane a query: scores and sums in its registers, 16 keys at a time in LDS.
extern "C" __global__ void __launch_bounds__(64)
    attention_f32(const float* q, const float* k, const float* v, float* out, uint queries, uint keys,
                  float scale, uint causal) {
  constexpr uint tile = 16;
  __shared__ float k_tile[tile][width], v_tile[tile][width];
  const uint query = index_x();
  float own[width], sum[width] = {}, most = none, total = 0;
  for (uint d = 0; d < width; ++d) own[d] = query < queries ? q[query * width + d] * scale : 0;
  for (uint first = 0; first < keys; first += tile) {
    barrier();
    for (uint e = lane_x(); e < tile * width; e += group_size_x()) {
      const bool inside = first + e / width < keys;
      k_tile[e / width][e % width] = inside ? k[first * width + e] : 0;
      v_tile[e / width][e % width] = inside ? v[first * width + e] : 0;
    }
    barrier();
    for (uint t = 0; t < tile && first + t < keys; ++t) {
      if (causal && first + t + queries > query + keys) continue;
      float score = 0;
      for (uint d = 0; d < width; ++d) score += own[d] * k_tile[t][d];
      const float larger = score > most ? score : most;
      const float correction = __builtin_expf(most - larger), weight = __builtin_expf(score - larger);
      for (uint d = 0; d < width; ++d) sum[d] = sum[d] * correction + weight * v_tile[t][d];
      total = total * correction + weight;
      most = larger;
    }
  }
  if (query >= queries) return;
  for (uint d = 0; d < width; ++d) out[query * width + d] = total > 0 ? sum[d] / total : 0;
}

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float4 = float __attribute__((ext_vector_type(4)));

/// A wave 16 queries, by matrix instructions: the scores of 16 keys come out with keys along the lanes, so
/// that the softmax of a query is a reduction over 16 lanes, and go through LDS to become the A of the second
/// product.
extern "C" __global__ void __launch_bounds__(64)
    attention_f16(const _Float16* q, const _Float16* k, const _Float16* v, _Float16* out, uint queries,
                  uint keys, float scale, uint causal) {
  __shared__ _Float16 weights[16][20];
  const uint lane = wave_lane(), column = lane % 16, part = lane / 16, first_query = group_x() * 16;
  auto load = [&](const _Float16* from, uint row, uint rows, uint at) {
    return row < rows ? *reinterpret_cast<const half4*>(from + row * width + at) : half4{};
  };
  const half4 q_low = load(q, first_query + column, queries, part * 4),
              q_high = load(q, first_query + column, queries, 16 + part * 4);
  float4 sum[2] = {}, most = none, total = 0;
  for (uint first = 0; first < keys; first += 16) {
    const uint key = first + column;
    float4 score = {};
    score = __builtin_amdgcn_mfma_f32_16x16x16f16(q_low, load(k, key, keys, part * 4), score, 0, 0, 0);
    score = __builtin_amdgcn_mfma_f32_16x16x16f16(q_high, load(k, key, keys, 16 + part * 4), score, 0, 0, 0);
    for (uint r = 0; r < 4; ++r) {
      const uint query = first_query + part * 4 + r;
      const bool seen = key < keys && !(causal && key + queries > query + keys);
      float s = seen ? score[r] * scale : none, larger = s > most[r] ? s : most[r];
      for (uint step = 8; step > 0; step /= 2) {
        const float other = shuffle_xor(larger, step);
        larger = other > larger ? other : larger;
      }
      const float base = larger == none ? 0 : larger;
      const float correction = __builtin_expf(most[r] - base), weight = __builtin_expf(s - base);
      float added = weight;
      for (uint step = 8; step > 0; step /= 2) added += shuffle_xor(added, step);
      total[r] = total[r] * correction + added;
      most[r] = larger;
      sum[0][r] *= correction;
      sum[1][r] *= correction;
      weights[part * 4 + r][column] = static_cast<_Float16>(weight);
    }
    barrier();
    const half4 w = *reinterpret_cast<half4*>(&weights[column][part * 4]);
    for (uint side = 0; side < 2; ++side) {
      half4 values;
      for (uint t = 0; t < 4; ++t) {
        const uint row = first + part * 4 + t;
        values[t] = row < keys ? v[row * width + side * 16 + column] : static_cast<_Float16>(0);
      }
      sum[side] = __builtin_amdgcn_mfma_f32_16x16x16f16(w, values, sum[side], 0, 0, 0);
    }
    barrier();
  }
  for (uint r = 0; r < 4; ++r) {
    const uint query = first_query + part * 4 + r;
    if (query >= queries) continue;
    for (uint side = 0; side < 2; ++side)
      out[query * width + side * 16 + column] =
          static_cast<_Float16>(total[r] > 0 ? sum[side][r] / total[r] : 0);
  }
}
