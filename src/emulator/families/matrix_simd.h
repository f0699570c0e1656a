// Vectors of the matrix arithmetic: GCC's vector types, which both compilers turn into AVX2 or AVX-512 code.
#pragma once

#include <cstdint>

namespace asmevo::emulator::detail {

template <class T, unsigned W>
struct VectorType {
  // NOLINTNEXTLINE(modernize-use-using): the attribute needs it
  typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T, unsigned W>
using Vector = typename VectorType<T, W>::type;

template <class V, class T>
V load_vector(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
V smaller(V a, V b) {
  return a < b ? a : b;
}
template <class V>
V larger(V a, V b) {
  return a > b ? a : b;
}

/// 2^e as doubles.
inline Vector<double, 4> power_of_two(Vector<int32_t, 4> e) {
  return (Vector<double, 4>)(__builtin_convertvector(e + 1023, Vector<int64_t, 4>) << 52);
}

} // namespace asmevo::emulator::detail
