// Attention of one new token a sequence over keys and values that lie in pages of 16 tokens: q and out are
// [sequences][heads][128], k and v are [pages][16][kv_heads][128], in half precision; page p of sequence s is
// tables[s][p], and it has lengths[s] tokens (at least one). heads / kv_heads query heads share one of the
// others.
//
// K0 is paged_attention_part: a workgroup does 256 tokens of one head, and leaves in
// parts[sequence][head][part] the weighted sum of values (128 floats), the largest score and the sum of
// weights. paged_attention_combine puts the parts together.
#include "matrix_formats.h"

constexpr uint width = 128, page = 16, tokens_together = 256, record = width + 2;

/// Over the 16 lanes that have a token between them.
__inline_device__ float row_sum(float v) {
  v += dpp<0x121>(v); // row_ror by 1, 2, 4 and 8
  v += dpp<0x122>(v);
  v += dpp<0x124>(v);
  return v + dpp<0x128>(v);
}

/// Each 16 lanes have a token, eight numbers a lane: 16 tokens at a time, each wave four. Grid is (parts,
/// heads, sequences).
extern "C" __global__ void __workgroup__(256)
    paged_attention_part(const _Float16* __restrict__ q, const _Float16* __restrict__ k,
                         const _Float16* __restrict__ v, const int* __restrict__ tables,
                         const int* __restrict__ lengths, float* __restrict__ parts, uint heads,
                         uint kv_heads, uint most_pages, uint most_parts, float scale) {
  using Float8 = Packed<float, 8>;
  __shared__ float shared[16][record + 1];
  const uint length = static_cast<uint>(lengths[group_z()]), first = group_x() * tokens_together;
  if (first >= length) return;
  const uint end = first + tokens_together < length ? first + tokens_together : length;
  const uint group = lane_x() / 16, place = lane_x() % 16 * 8, kv_head = group_y() / (heads / kv_heads);
  const uint64 row = static_cast<uint64>(group_z()) * heads + group_y();
  const Float8 own =
      __builtin_convertvector(*reinterpret_cast<const Half8*>(q + row * width + place), Float8) *
      (scale * 1.44269504f); // exponents are of 2
  const int* table = tables + static_cast<uint64>(group_z()) * most_pages;
  Float8 sum = {};
  float most = -infinity, total = 0;
  for (uint token = first + group; token < end; token += 16) {
    const uint64 at =
        ((static_cast<uint64>(table[token / page]) * page + token % page) * kv_heads + kv_head) * width +
        place;
    const Float8 key = __builtin_convertvector(*reinterpret_cast<const Half8*>(k + at), Float8);
    const Float8 value = __builtin_convertvector(*reinterpret_cast<const Half8*>(v + at), Float8);
    const Float8 products = own * key;
    const float score = row_sum(((products[0] + products[1]) + (products[2] + products[3])) +
                                ((products[4] + products[5]) + (products[6] + products[7])));
    const float larger = __builtin_fmaxf(most, score);
    const float correction = __builtin_amdgcn_exp2f(most - larger);
    const float weight = __builtin_amdgcn_exp2f(score - larger);
    sum = sum * correction + value * weight;
    total = total * correction + weight;
    most = larger;
  }
#pragma unroll
  for (uint e = 0; e < 8; ++e) shared[group][place + e] = sum[e];
  if (place == 0) {
    shared[group][width] = most;
    shared[group][width + 1] = total;
  }
  barrier();
  if (lane_x() >= width) return;
  float largest = -infinity, all = 0, value = 0;
#pragma unroll
  for (uint g = 0; g < 16; ++g) largest = __builtin_fmaxf(largest, shared[g][width]);
#pragma unroll
  for (uint g = 0; g < 16; ++g) {
    const float factor = __builtin_amdgcn_exp2f(shared[g][width] - largest);
    value += shared[g][lane_x()] * factor;
    all += shared[g][width + 1] * factor;
  }
  float* to = parts + (row * most_parts + group_x()) * record;
  to[lane_x()] = value;
  if (lane_x() == 0) {
    to[width] = largest;
    to[width + 1] = all;
  }
}

/// Grid is (heads, sequences).
extern "C" __global__ void __workgroup__(128)
    paged_attention_combine(const float* __restrict__ parts, const int* __restrict__ lengths,
                            _Float16* __restrict__ out, uint heads, uint most_parts) {
  const uint count = (static_cast<uint>(lengths[group_y()]) + tokens_together - 1) / tokens_together;
  const uint64 row = static_cast<uint64>(group_y()) * heads + group_x();
  const float* from = parts + row * most_parts * record;
  float largest = -infinity, all = 0, value = 0;
  for (uint p = 0; p < count; ++p) largest = __builtin_fmaxf(largest, from[p * record + width]);
  for (uint p = 0; p < count; ++p) {
    const float factor = __builtin_amdgcn_exp2f(from[p * record + width] - largest);
    value += from[p * record + lane_x()] * factor;
    all += from[p * record + width + 1] * factor;
  }
  out[row * width + lane_x()] = static_cast<_Float16>(value / all);
}
