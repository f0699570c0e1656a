// Vectors of the matrix arithmetic: GCC's vector types, which both compilers turn into AVX2 or AVX-512 code.
#pragma once

#include <cstdint>
#include <immintrin.h>
#include <type_traits>

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
template <class T, class V>
void store_vector(T* to, const V& v) {
  __builtin_memcpy(to, &v, sizeof v);
}
template <class V, class T>
V broadcast(T value) {
  if constexpr (std::is_same_v<V, Vector<float, 4>>)
    return _mm_set1_ps(value);
  else if constexpr (std::is_same_v<V, Vector<float, 8>>)
    return _mm256_set1_ps(value);
  else
    return _mm256_set1_pd(value);
}

// a * b + c, rounded once.
inline Vector<float, 4> fused(Vector<float, 4> a, Vector<float, 4> b, Vector<float, 4> c) {
  return _mm_fmadd_ps(a, b, c);
}
inline Vector<float, 8> fused(Vector<float, 8> a, Vector<float, 8> b, Vector<float, 8> c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Vector<double, 4> fused(Vector<double, 4> a, Vector<double, 4> b, Vector<double, 4> c) {
  return _mm256_fmadd_pd(a, b, c);
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
