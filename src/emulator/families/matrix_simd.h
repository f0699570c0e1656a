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

// To what is twice as wide: in one instruction, where __builtin_convertvector becomes several.
inline Vector<int32_t, 4> widen(Vector<int16_t, 4> v) {
  return (Vector<int32_t, 4>)_mm_cvtepi16_epi32(_mm_cvtsi64_si128((int64_t)v));
}
inline Vector<int32_t, 8> widen(Vector<int16_t, 8> v) {
  return (Vector<int32_t, 8>)_mm256_cvtepi16_epi32((__m128i)v);
}
inline Vector<int64_t, 4> widen(Vector<int32_t, 4> v) {
  return (Vector<int64_t, 4>)_mm256_cvtepi32_epi64((__m128i)v);
}
inline Vector<double, 4> to_doubles(Vector<int32_t, 4> v) {
  return _mm256_cvtepi32_pd((__m128i)v);
}
#ifdef __AVX512F__
inline Vector<int32_t, 16> widen(Vector<int16_t, 16> v) {
  // With a mask of ones: GCC 12 warns of its own header otherwise.
  return (Vector<int32_t, 16>)_mm512_maskz_cvtepi16_epi32(0xffff, (__m256i)v);
}
inline Vector<int64_t, 8> widen(Vector<int32_t, 8> v) {
  return (Vector<int64_t, 8>)_mm512_cvtepi32_epi64((__m256i)v);
}
inline Vector<double, 8> to_doubles(Vector<int32_t, 8> v) {
  return _mm512_maskz_cvtepi32_pd(0xff, (__m256i)v);
}
inline Vector<double, 8> fused(Vector<double, 8> a, Vector<double, 8> b, Vector<double, 8> c) {
  return _mm512_fmadd_pd(a, b, c);
}
#endif

/// 2^e as doubles.
template <unsigned W>
Vector<double, W> power_of_two(Vector<int32_t, W> e) {
  return (Vector<double, W>)(widen(e + 1023) << 52);
}

/// Bytes of the widest vectors.
#ifdef __AVX512F__
inline constexpr unsigned vector_bytes = 64;
#else
inline constexpr unsigned vector_bytes = 32;
#endif

/// The lower or upper half of a vector's elements.
template <unsigned W, class T>
[[gnu::always_inline]] inline Vector<T, W / 2> half_of(const Vector<T, W>& v, bool upper) {
  // By name, so that they stay in registers.
  if constexpr (W == 8)
    return upper ? __builtin_shufflevector(v, v, 4, 5, 6, 7) : __builtin_shufflevector(v, v, 0, 1, 2, 3);
  else if constexpr (W == 16)
    return upper ? __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
                 : __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  else
    return upper
               ? __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
               : __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
template <unsigned W, class T>
[[gnu::always_inline]] inline Vector<T, W> both_halves(const Vector<T, W / 2>& low,
                                                       const Vector<T, W / 2>& high) {
  if constexpr (W == 8)
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  else
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

} // namespace asmevo::emulator::detail
