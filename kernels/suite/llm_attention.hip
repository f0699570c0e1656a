// Attention forward in half precision: out = softmax(q * k^T * scale) * v for each head, 128 numbers wide. q
// and out are [batch][heads][queries][128], k and v are [batch][kv_heads][keys][128]; heads / kv_heads query
// heads share one of the others. With `causal`, query i sees keys up to i + keys - queries. K0 is
// attention_forward.
//
// A wave has 32 queries, 32 keys at a time: scores come out with a query a lane, 16 keys in its registers, so
// that the softmax is arithmetic in a lane and one exchange with the other half of the wave, and exactly
// where the second product wants its operand. Sums are corrected when a larger score turns up.
#include "matrix_formats.h"

constexpr uint width = 128, keys_together = 32, waves = 4;

struct Storage {
  alignas(16) _Float16 k[keys_together][width + 8];
  alignas(16) _Float16 v[width][keys_together + 4]; // by columns
};

/// Keys `first` to `first + 31` and their values; those that do not exist are 0.
__inline_device__ void load_keys(Storage& lds, const _Float16* k, const _Float16* v, uint first, uint keys) {
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const uint at = i * 256 + lane_x(), row = at / 16, column = at % 16 * 8;
    Half8 part = {};
    if (first + row < keys)
      part = *reinterpret_cast<const Half8*>(k + static_cast<uint64>(first + row) * width + column);
    *reinterpret_cast<Half8*>(&lds.k[row][column]) = part;
  }
  using Half2 = Packed<_Float16, 2>;
  const uint row = lane_x() / 16 * 2,
             column = lane_x() % 16 * 8; // two keys a lane, so that pairs are written
  const _Float16* from = v + static_cast<uint64>(first + row) * width + column;
  Half8 even = {}, odd = {};
  if (first + row < keys) even = *reinterpret_cast<const Half8*>(from);
  if (first + row + 1 < keys) odd = *reinterpret_cast<const Half8*>(from + width);
#pragma unroll
  for (uint e = 0; e < 8; ++e) *reinterpret_cast<Half2*>(&lds.v[column + e][row]) = Half2{even[e], odd[e]};
}

extern "C" __global__ void __workgroup__(256)
    attention_forward(const _Float16* __restrict__ q, const _Float16* __restrict__ k,
                      const _Float16* __restrict__ v, _Float16* __restrict__ out, uint heads, uint kv_heads,
                      uint queries, uint keys, float scale, uint causal) {
  __shared__ Storage lds;
  const uint wave = __builtin_amdgcn_readfirstlane(lane_x() / 64), lane = wave_lane() % 32;
  const uint half = wave_lane() / 32, head = group_y();
  const uint64 kv = (static_cast<uint64>(group_z()) * kv_heads + head / (heads / kv_heads)) * keys * width;
  const uint64 own_head = (static_cast<uint64>(group_z()) * heads + head) * queries * width;
  const uint query = (group_x() * waves + wave) * 32 + lane;
  const uint existing = query < queries ? query : queries - 1;
  const _Float16* q_row = q + own_head + static_cast<uint64>(existing) * width + half * 4;
  Half4 own[width / 8];
#pragma unroll
  for (uint i = 0; i < width / 8; ++i) own[i] = *reinterpret_cast<const Half4*>(q_row + i * 8);

  // Keys that the last query of the workgroup sees.
  const int64 seen = static_cast<int64>(group_x() + 1) * (waves * 32) + keys - queries;
  const uint end = causal != 0 && seen < keys ? (seen > 0 ? static_cast<uint>(seen) : 0) : keys;
  const int64 last_key = causal != 0 ? static_cast<int64>(query) + keys - queries : keys;
  const float factor = scale * 1.44269504f; // exponents are of 2
  float16 sum[width / 32] = {};
  float most = -infinity, total = 0;
  for (uint first = 0; first < end; first += keys_together) {
    barrier();
    load_keys(lds, k + kv, v + kv, first, keys);
    barrier();
    float16 score = {};
#pragma unroll
    for (uint i = 0; i < width / 8; ++i) {
      const Half4 part = *reinterpret_cast<const Half4*>(&lds.k[lane][i * 8 + half * 4]);
      score = __builtin_amdgcn_mfma_f32_32x32x8f16(part, own[i], score, 0, 0, 0);
    }
    float larger = most;
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
      const uint key = first + i / 4 * 8 + half * 4 + i % 4;
      score[i] = key < keys && key <= last_key ? score[i] * factor : -infinity;
      larger = __builtin_fmaxf(larger, score[i]);
    }
    larger = __builtin_fmaxf(larger, shuffle_xor(larger, 32));
    const float base = larger == -infinity ? 0 : larger;
    const float correction = __builtin_amdgcn_exp2f(most - base);
    most = larger;
    float added = 0;
    Half4 weights[4];
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
      const float weight = __builtin_amdgcn_exp2f(score[i] - base);
      added += weight;
      weights[i / 4][i % 4] = static_cast<_Float16>(weight);
    }
    total = total * correction + added + shuffle_xor(added, 32);
#pragma unroll
    for (uint part = 0; part < width / 32; ++part) {
      sum[part] *= correction;
#pragma unroll
      for (uint i = 0; i < 4; ++i) {
        const Half4 values = *reinterpret_cast<const Half4*>(&lds.v[part * 32 + lane][i * 8 + half * 4]);
        sum[part] = __builtin_amdgcn_mfma_f32_32x32x8f16(values, weights[i], sum[part], 0, 0, 0);
      }
    }
  }
  if (query >= queries) return;
  const float inverse = total > 0 ? 1.0f / total : 0;
  _Float16* to = out + own_head + static_cast<uint64>(query) * width + half * 4;
#pragma unroll
  for (uint part = 0; part < width / 32; ++part)
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      Half4 values;
#pragma unroll
      for (uint e = 0; e < 4; ++e) values[e] = static_cast<_Float16>(sum[part][i * 4 + e] * inverse);
      *reinterpret_cast<Half4*>(to + part * 32 + i * 8) = values;
    }
}
