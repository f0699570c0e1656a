// KernelBench level 1, 36: y = x / sqrt(mean of x^2 over the channels + epsilon), x
// [batch][channels][pixels]. A lane has four pixels and a wave every fourth channel, in registers between the
// two passes where there are no more than 64. K0 is rms_norm.
#include "common.h"

constexpr uint waves = 4, kept = 16; // channels in registers, of each wave

__inline_device__ float4 inverse_root(float4 square_sum, float scale, float epsilon) {
#pragma unroll
  for (uint i = 0; i < 4; ++i)
    square_sum[i] = __builtin_amdgcn_rsqf(__builtin_fmaf(square_sum[i], scale, epsilon));
  return square_sum;
}

/// The sum over the workgroup's waves, lane by lane.
__inline_device__ float4 add_waves(float4 value, float4 (&part)[waves][64], uint wave) {
  part[wave][wave_lane()] = value;
  barrier();
  float4 sum = part[0][wave_lane()];
#pragma unroll
  for (uint i = 1; i < waves; ++i) sum += part[i][wave_lane()];
  return sum;
}

/// `all`: four pixels for each lane, 64 channels.
template <bool all>
__inline_device__ void normalise(const float* x, float* y, uint wave, uint channels, uint pixels, int64 left,
                                 float epsilon, float4 (&part)[waves][64]) {
  float4 value[kept], sum = {};
#pragma unroll
  for (uint i = 0; i < kept; ++i) {
    const uint channel = wave + i * waves;
    value[i] = float4{};
    if (all)
      value[i] = load4(x + uint64{channel} * pixels);
    else if (channel < channels)
      value[i] = load4(x + uint64{channel} * pixels, left, 0);
  }
#pragma unroll
  for (uint i = 0; i < kept; ++i) sum += value[i] * value[i];
  if constexpr (!all)
    for (uint channel = wave + kept * waves; channel < channels; channel += waves) {
      const float4 more = load4(x + uint64{channel} * pixels, left, 0);
      sum += more * more;
    }
  const float4 scale = inverse_root(add_waves(sum, part, wave), 1.0f / static_cast<float>(channels), epsilon);
#pragma unroll
  for (uint i = 0; i < kept; ++i) {
    const uint channel = wave + i * waves;
    if (all)
      store4(y + uint64{channel} * pixels, value[i] * scale);
    else if (channel < channels)
      store4(y + uint64{channel} * pixels, value[i] * scale, left);
  }
  if constexpr (!all)
    for (uint channel = wave + kept * waves; channel < channels; channel += waves)
      store4(y + uint64{channel} * pixels, load4(x + uint64{channel} * pixels, left, 0) * scale, left);
}

extern "C" __global__ void __workgroup__(64 * waves)
    rms_norm(const float* __restrict__ x, float* __restrict__ y, uint channels, uint pixels, float epsilon) {
  __shared__ float4 part[waves][64];
  const uint wave = __builtin_amdgcn_readfirstlane(wave_number());
  const uint first = group_x() * 256, pixel = first + wave_lane() * 4;
  const uint64 start = uint64{group_y()} * channels * pixels;
  x += start + pixel;
  y += start + pixel;
  if (channels == kept * waves && first + 256 <= pixels)
    normalise<true>(x, y, wave, channels, pixels, 4, epsilon, part);
  else
    normalise<false>(x, y, wave, channels, pixels, static_cast<int64>(pixels) - pixel, epsilon, part);
}
