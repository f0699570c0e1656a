// One element a lane, every operation a row of the output, in every float type: what the types' arithmetic,
// divisions, square roots and rounding become, and the functions that clang makes of instructions alone (f32
// and f16 only; there is no library here).
#include "device.h"

/// Rows of an output of n columns, one after another.
template <class T>
struct Rows {
  T* at;
  uint n;
  __device__ void put(T value) {
    *at = value;
    at += n;
  }
};

// kernels/reference/elementwise.h has the same rows in the same order.
template <class T>
__device__ void arithmetic(const T* x, const T* y, T* out, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  const T a = x[i], b = y[i];
  Rows<T> rows{out + i, n};
  rows.put(a + b);
  rows.put(a - b);
  rows.put(a * b);
  rows.put(a / b);
  rows.put(__builtin_elementwise_fma(a, b, a));
  rows.put(__builtin_elementwise_sqrt(__builtin_elementwise_abs(a)));
  rows.put(__builtin_elementwise_minnum(a, b));
  rows.put(__builtin_elementwise_maxnum(a, b));
  rows.put(__builtin_elementwise_floor(a));
  rows.put(__builtin_elementwise_ceil(a));
  rows.put(__builtin_elementwise_trunc(a));
  rows.put(__builtin_elementwise_roundeven(a));
  rows.put(__builtin_elementwise_copysign(a, b));
  rows.put(a < b ? -a : b);
  rows.put(static_cast<T>(static_cast<int>(a)));
  rows.put(static_cast<T>(static_cast<uint>(b < T(0) ? -b : b)));
}

template <class T>
__device__ void functions(const T* x, T* out, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  const T a = x[i], positive = __builtin_elementwise_abs(a);
  Rows<T> rows{out + i, n};
  rows.put(__builtin_elementwise_exp(a));
  rows.put(__builtin_elementwise_exp2(a));
  rows.put(__builtin_elementwise_log(positive));
  rows.put(__builtin_elementwise_log2(positive));
  rows.put(__builtin_elementwise_log10(positive));
  rows.put(__builtin_elementwise_sin(a));
  rows.put(__builtin_elementwise_cos(a));
}

extern "C" __global__ void arithmetic_f32(const float* x, const float* y, float* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_f16(const _Float16* x, const _Float16* y, _Float16* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_bf16(const __bf16* x, const __bf16* y, __bf16* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void arithmetic_f64(const double* x, const double* y, double* out, uint n) {
  arithmetic(x, y, out, n);
}
extern "C" __global__ void functions_f32(const float* x, float* out, uint n) {
  functions(x, out, n);
}
extern "C" __global__ void functions_f16(const _Float16* x, _Float16* out, uint n) {
  functions(x, out, n);
}

/// Every float type from and to every other: rows f32, f16, bf16, f64 of the double that came in, as f64.
extern "C" __global__ void convert(const double* x, double* out, uint n) {
  const uint i = index_x();
  if (i >= n) return;
  Rows<double> rows{out + i, n};
  const float single = static_cast<float>(x[i]);
  rows.put(single);
  rows.put(static_cast<_Float16>(single));
  rows.put(static_cast<__bf16>(single));
  rows.put(static_cast<double>(static_cast<long>(x[i])));
  rows.put(static_cast<float>(static_cast<long>(x[i])));
  rows.put(static_cast<double>(static_cast<unsigned long>(x[i] < 0 ? -x[i] : x[i])));
}
