// Gating of a mixture of experts: of the softmax over a token's scores the `chosen` largest, in falling order
// (the lower expert first where two are equal), with their weights scaled to add up to 1. scores are
// [tokens][experts] floats, at most 256 experts; experts_out and weights_out are [tokens][chosen]. K0 is
// moe_topk: a wave a token, four experts a lane.
#include "common.h"

extern "C" __global__ void __workgroup__(256)
    moe_topk(const float* __restrict__ scores, int* __restrict__ experts_out, float* __restrict__ weights_out,
             uint tokens, uint experts, uint chosen) {
  const uint token = group_x() * 4 + wave_number(), lane = wave_lane();
  if (token >= tokens) return;
  const float* row = scores + static_cast<uint64>(token) * experts;
  float score[4];
#pragma unroll
  for (uint i = 0; i < 4; ++i) score[i] = i * 64 + lane < experts ? row[i * 64 + lane] : -infinity;
  const float most =
      wave_max(__builtin_fmaxf(__builtin_fmaxf(score[0], score[1]), __builtin_fmaxf(score[2], score[3])));
  float total = 0, own_weight = 0; // the softmax's own sum cancels out when the chosen are scaled to 1
  int own_expert = 0;
  for (uint c = 0; c < chosen; ++c) {
    float best = score[0];
    uint place = lane;
#pragma unroll
    for (uint i = 1; i < 4; ++i)
      if (score[i] > best) {
        best = score[i];
        place = i * 64 + lane;
      }
    const float largest = wave_max(best);
    // The lowest expert of those that have it: expert numbers below 256 are exact as floats.
    const float expert = -wave_max(best == largest ? -static_cast<float>(place) : -infinity);
    const uint winner = static_cast<uint>(expert);
    const float weight = fast_exp(largest - most);
    total += weight;
    if (lane == c) {
      own_weight = weight;
      own_expert = static_cast<int>(winner);
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i)
      if (i * 64 + lane == winner) score[i] = -infinity;
  }
  if (lane >= chosen) return;
  experts_out[static_cast<uint64>(token) * chosen + lane] = own_expert;
  weights_out[static_cast<uint64>(token) * chosen + lane] = own_weight / total;
}
