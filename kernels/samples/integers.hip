// Integer arithmetic, an operation a row: 32 and 64 bits, signed and unsigned, with the divisions that become
// long sequences of instructions, bit counts and shifts, saturation, dot products of bytes.
#include "device.h"

template <class T>
struct Rows {
  T* at;
  uint n;
  __device__ void put(T value) {
    *at = value;
    at += n;
  }
};

// kernels/reference/integers.h has the same rows in the same order.
template <class T>
__device__ void arithmetic(const T* x, const T* y, T* out, uint n) {
  constexpr T bits = sizeof(T) * 8;
  const uint i = index_x();
  if (i >= n) return;
  const T a = x[i], b = y[i], divisor = b == 0 ? T(7) : b, shift = b & (bits - 1);
  Rows<T> rows{out + i, n};
  rows.put(a + b);
  rows.put(a - b);
  rows.put(a * b);
  // The one signed division that overflows is left out.
  const T dividend = divisor == T(-1) ? T(a / 2) : a;
  rows.put(dividend / divisor);
  rows.put(dividend % divisor);
  rows.put(a & ~b);
  rows.put(a ^ (b | T(5)));
  rows.put(a << shift);
  rows.put(a >> shift);
  rows.put(a < b ? a : b);
  rows.put(a < b ? b : a);
  rows.put(__builtin_elementwise_add_sat(a, b));
  rows.put(__builtin_elementwise_sub_sat(a, b));
  rows.put(__builtin_elementwise_bitreverse(a));
  rows.put(__builtin_elementwise_popcount(a));
  rows.put(__builtin_elementwise_fshl(a, b, shift));
  rows.put(a == 0 ? bits : T(__builtin_clzg(static_cast<unsigned long>(a))));
  rows.put(a == 0 ? bits : T(__builtin_ctzg(static_cast<unsigned long>(a))));
}

extern "C" __global__ void arithmetic_i32(const int* x, const int* y, int* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_u32(const uint* x, const uint* y, uint* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_i64(const long* x, const long* y, long* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_u64(const unsigned long* x, const unsigned long* y, unsigned long* out,
                                          uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_i16(const short* x, const short* y, short* out, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  Rows<short> rows{out + i, n};
  rows.put(static_cast<short>(x[i] + y[i]));
  rows.put(static_cast<short>(x[i] * y[i]));
  rows.put(__builtin_elementwise_add_sat(x[i], y[i]));
  rows.put(__builtin_elementwise_max(x[i], y[i]));
  rows.put(static_cast<short>(x[i] >> (y[i] & 15)));
}

/// Dot products of four signed and unsigned bytes, and of two 16-bit halves.
extern "C" __global__ void dots(const int* x, const int* y, int* out, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  Rows<int> rows{out + i, n};
  rows.put(__builtin_amdgcn_sdot4(x[i], y[i], 11, false));
  rows.put(
      static_cast<int>(__builtin_amdgcn_udot4(static_cast<uint>(x[i]), static_cast<uint>(y[i]), 11u, false)));
  using short2 = short __attribute__((ext_vector_type(2)));
  rows.put(
      __builtin_amdgcn_sdot2(__builtin_bit_cast(short2, x[i]), __builtin_bit_cast(short2, y[i]), -3, false));
  rows.put(
      static_cast<int>(__builtin_amdgcn_perm(static_cast<uint>(x[i]), static_cast<uint>(y[i]), 0x07050c02u)));
  rows.put(
      static_cast<int>(__builtin_amdgcn_alignbyte(static_cast<uint>(x[i]), static_cast<uint>(y[i]), 3u)));
  rows.put(static_cast<int>(__builtin_amdgcn_sad_u8(static_cast<uint>(x[i]), static_cast<uint>(y[i]), 5u)));
}
