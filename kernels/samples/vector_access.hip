// Wide and narrow memory accesses: vectors of up to 16 bytes with a scalar tail, rows of odd length that put
// vectors on addresses of any alignment, bytes and halves that share registers.
#include "device.h"

using float4 = float __attribute__((ext_vector_type(4)));
using half2 = _Float16 __attribute__((ext_vector_type(2)));
using half8 = _Float16 __attribute__((ext_vector_type(8)));

extern "C" __global__ void scale_f32x4(const float* in, float* out, float factor, uint n) {
  const uint i = index_x() * 4;
  if (i + 4 <= n) {
    *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(in + i) * factor;
    return;
  }
  for (uint k = i; k < n; ++k) out[k] = in[k] * factor;
}

extern "C" __global__ void add_f16x8(const _Float16* x, const _Float16* y, _Float16* out, uint n) {
  const uint i = index_x() * 8;
  if (i + 8 <= n) {
    *reinterpret_cast<half8*>(out + i) =
        *reinterpret_cast<const half8*>(x + i) + *reinterpret_cast<const half8*>(y + i);
    return;
  }
  for (uint k = i; k < n; ++k) out[k] = x[k] + y[k];
}

/// Rows of any length: a row's vectors are aligned to their elements only.
extern "C" __global__ void row_sums(const float* in, float* out, uint columns) {
  struct __attribute__((packed, aligned(4))) Unaligned {
    float4 value;
  };
  const float* row = in + index_x() * columns;
  float4 sum = {};
  uint at = 0;
  for (; at + 4 <= columns; at += 4) sum += reinterpret_cast<const Unaligned*>(row + at)->value;
  float total = sum.x + sum.y + sum.z + sum.w;
  for (; at < columns; ++at) total += row[at];
  out[index_x()] = total;
}

/// Interleaved 8-bit samples to planes of 16-bit ones, and back into bytes.
extern "C" __global__ void split_bytes(const unsigned char* in, short* even, unsigned short* odd,
                                       signed char* sum, uint pairs) {
  const uint i = index_x();
  if (i >= pairs) return;
  const unsigned char low = in[2 * i], high = in[2 * i + 1];
  even[i] = static_cast<short>(static_cast<signed char>(low));
  odd[i] = high;
  sum[i] = static_cast<signed char>(low + high);
}

extern "C" __global__ void pack_halves(const _Float16* x, const _Float16* y, half2* out, uint n) {
  const uint i = index_x();
  if (i < n) out[i] = half2{y[i], x[i]} * half2{x[n - 1 - i], y[n - 1 - i]};
}

/// A struct passed by value, and one of 12 bytes in memory.
struct Body {
  float x, y, z;
};
struct Step {
  Body velocity;
  double seconds;
  short count;
};
extern "C" __global__ void move_bodies(Body* bodies, Step step, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  Body b = bodies[i];
  for (int k = 0; k < step.count; ++k) {
    b.x += step.velocity.x * static_cast<float>(step.seconds);
    b.y += step.velocity.y * static_cast<float>(step.seconds);
    b.z += step.velocity.z * static_cast<float>(step.seconds);
  }
  bodies[i] = b;
}
