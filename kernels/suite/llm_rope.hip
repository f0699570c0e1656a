// Rotary position embedding, in place: x[token][head][i] and x[token][head][64 + i] are turned by the angle
// of position positions[token], whose cosines and sines are table[position][2][64]. x is [tokens][heads][128]
// in half precision. K0 is rope: a lane turns eight pairs.
#include "matrix_formats.h"

extern "C" __global__ void __workgroup__(256)
    rope(_Float16* __restrict__ x, const int* __restrict__ positions, const float* __restrict__ table,
         uint tokens, uint heads) {
  using Float8 = Packed<float, 8>;
  const uint at = group_x() * 256 + lane_x(), part = at % 8 * 8, row = at / 8; // a row is one head's
  if (row >= tokens * heads) return;
  const float* angles = table + static_cast<int64>(positions[row / heads]) * 128 + part;
  _Float16* first = x + static_cast<uint64>(row) * 128 + part;
  const Float8 cosine = *reinterpret_cast<const Float8*>(angles);
  const Float8 sine = *reinterpret_cast<const Float8*>(angles + 64);
  const Float8 a = __builtin_convertvector(*reinterpret_cast<const Half8*>(first), Float8);
  const Float8 b = __builtin_convertvector(*reinterpret_cast<const Half8*>(first + 64), Float8);
  *reinterpret_cast<Half8*>(first) = __builtin_convertvector(a * cosine - b * sine, Half8);
  *reinterpret_cast<Half8*>(first + 64) = __builtin_convertvector(b * cosine + a * sine, Half8);
}
