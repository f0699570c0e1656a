// KernelBench level 1, 95: mean over rows of log(sum of e^z) - z[target]. A wave has a row; the rows' losses
// are then added in a fixed order. K0 is row_losses.
#include "common.h"

constexpr uint waves = 4, quads = 8, block = 64 * 4 * quads; // elements a wave takes at a time

struct Running {
  float largest = -infinity, sum = 0;
};

template <uint count>
__inline_device__ void take(Running& running, const float4 (&z)[count]) {
  float largest = running.largest;
#pragma unroll
  for (uint i = 0; i < count; ++i)
#pragma unroll
    for (uint j = 0; j < 4; ++j) largest = __builtin_fmaxf(largest, z[i][j]);
  float sum = running.sum * fast_exp(running.largest - largest);
#pragma unroll
  for (uint i = 0; i < count; ++i)
#pragma unroll
    for (uint j = 0; j < 4; ++j) sum += fast_exp(z[i][j] - largest);
  running = {largest, sum};
}

extern "C" __global__ void __workgroup__(waves * 64)
    row_losses(const float* __restrict__ z, const int64* __restrict__ targets, float* __restrict__ losses,
               uint rows, uint columns) {
  const uint row = group_x() * waves + __builtin_amdgcn_readfirstlane(wave_number());
  if (row >= rows) return;
  z += uint64{row} * columns;
  const float picked = z[targets[row]];
  const uint lane = wave_lane() * 4;
  Running running;
  uint at = 0;
  for (; at + block <= columns; at += block) {
    float4 value[quads];
#pragma unroll
    for (uint i = 0; i < quads; ++i) value[i] = load4(z + (at + i * 256 + lane));
    take(running, value);
  }
  for (at += lane; at < columns; at += 256) {
    const float4 value[1] = {load4(z + at, static_cast<int64>(columns) - at, -infinity)};
    take(running, value);
  }
  const float largest = wave_max(running.largest);
  const float sum = wave_sum(running.sum * fast_exp(running.largest - largest));
  if (wave_lane() == 0) losses[row] = __ocml_log_f32(sum) + (largest - picked);
}

extern "C" __global__ void __workgroup__(1024)
    mean_loss(const float* __restrict__ losses, float* __restrict__ mean, uint rows) {
  __shared__ float part[16];
  float sum = 0;
  for (uint row = lane_x(); row < rows; row += 1024) sum += losses[row];
  sum = block_reduce<16>(sum, Sum{}, part);
  if (lane_x() == 0) *mean = sum / static_cast<float>(rows);
}
