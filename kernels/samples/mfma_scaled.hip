// gfx950's matrix instructions over 8, 6 and 4-bit floats, in which each 32 values along K share a scale (a
// power of two, as its exponent with a bias of 127). In memory A is [M][K] and B is [N][K] codes, one a byte
// whatever their width, and scales are [M][K / 32] and [N][K / 32] bytes: the kernel packs them into
// registers. On other targets this file is empty but for a kernel that says so.
#include "device.h"

#if defined(__gfx950__)

template <class T, uint n>
using Vector = T __attribute__((ext_vector_type(n)));

// Formats, as the instruction numbers them.
enum : uint { e4m3, e5m2, e2m3, e3m2, e2m1 };
constexpr uint bits_of(uint format) {
  return format <= e5m2 ? 8 : format == e2m1 ? 4 : 6;
}

/// The 32 codes that a lane holds, packed into 8 registers. 8-bit codes come from two places along K: 16 from
/// the lower half and 16 from the upper; narrower ones are 32 in a row.
template <uint format, uint k>
__device__ static Vector<int, 8> packed(const unsigned char* row, uint group) {
  uint words[8] = {};
  for (uint t = 0; t < 32; ++t) {
    const uint at =
        bits_of(format) == 8 ? (t < 16 ? 16 * group + t : k / 2 + 16 * group + t - 16) : 32 * group + t;
    const uint first = t * bits_of(format);
    const unsigned long placed = static_cast<unsigned long>(row[at]) << first % 32;
    words[first / 32] |= static_cast<uint>(placed);
    if (first % 32 + bits_of(format) > 32) words[first / 32 + 1] |= static_cast<uint>(placed >> 32);
  }
  Vector<int, 8> result;
  for (uint w = 0; w < 8; ++w) result[w] = static_cast<int>(words[w]);
  return result;
}

template <uint m, uint format_a, uint format_b>
__device__ static void scaled(const unsigned char* a, const unsigned char* b, const unsigned char* a_scales,
                              const unsigned char* b_scales, const float* c, float* d) {
  constexpr uint k = m == 32 ? 64 : 128, results = m * m / 64;
  const uint lane = lane_x(), row = lane % m, group = lane / m;
  auto row_of = [&](uint r) { return m == 32 ? r % 4 + 4 * group + r / 4 * 8 : r + 4 * group; };
  Vector<float, results> sum;
  for (uint r = 0; r < results; ++r) sum[r] = c[row_of(r) * m + row];
  const Vector<int, 8> a_items = packed<format_a, k>(a + row * k, group),
                       b_items = packed<format_b, k>(b + row * k, group);
  // The scale of A is in byte 0, that of B in byte 2.
  const int a_scale = a_scales[row * (k / 32) + group], b_scale = b_scales[row * (k / 32) + group] << 16;
  if constexpr (m == 32)
    sum = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a_items, b_items, sum, format_a, format_b, 0,
                                                          a_scale, 2, b_scale);
  else
    sum = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a_items, b_items, sum, format_a, format_b, 0,
                                                           a_scale, 2, b_scale);
  for (uint r = 0; r < results; ++r) d[row_of(r) * m + row] = sum[r];
}

#define SCALED(format_a, format_b)                                                                           \
  extern "C" __global__ void __launch_bounds__(64) scaled_32x32x64_##format_a##_##format_b(                  \
      const unsigned char* a, const unsigned char* b, const unsigned char* as, const unsigned char* bs,      \
      const float* c, float* d) {                                                                            \
    scaled<32, format_a, format_b>(a, b, as, bs, c, d);                                                      \
  }                                                                                                          \
  extern "C" __global__ void __launch_bounds__(64) scaled_16x16x128_##format_a##_##format_b(                 \
      const unsigned char* a, const unsigned char* b, const unsigned char* as, const unsigned char* bs,      \
      const float* c, float* d) {                                                                            \
    scaled<16, format_a, format_b>(a, b, as, bs, c, d);                                                      \
  }

SCALED(e4m3, e4m3)
SCALED(e5m2, e5m2)
SCALED(e2m3, e2m3)
SCALED(e3m2, e3m2)
SCALED(e2m1, e2m1)
SCALED(e4m3, e2m1)
SCALED(e2m3, e5m2)

#else

extern "C" __global__ void no_scaled_formats(uint* out) {
  out[index_x()] = 0;
}

#endif
