// f32 arithmetic. MXCSR rounds and flushes as MODE says, so most instructions are what C++ writes.
#include "emulator/families/division.h"
#include "emulator/families/float_parts.h"
#include "emulator/families/float_select.h"
#include "emulator/lanes.h"

#include <cmath>

namespace asmevo::emulator {

namespace {

// DirectX 9's multiplication: zero times anything, NaN and Inf included, is +0.
float multiply_legacy(float a, float b) {
  return a == 0 || b == 0 ? 0.0F : a * b;
}

// v_mad and v_mac round the product and never see a denormal, whatever MODE says (gfx90a alone has them for
// f32).
template <auto F>
void flushing(Wave& wave, const MicroOp& op) {
  constexpr uint32_t daz_ftz = 0x8040;
  const MxcsrScope scope(wave.mode.csr32() | daz_ftz);
  lanewise<F>(wave, op);
}

float multiply_add(float a, float b, float c) {
  return a * b + c;
}

// --- cube maps: the face a direction points at, and where on it. x, y, z in that order.

struct CubeAxes {
  bool z_major, y_major; // else x
};
CubeAxes cube_axes(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return {az >= ax && az >= ay, ay >= ax};
}

float cube_face(float x, float y, float z) {
  const auto [z_major, y_major] = cube_axes(x, y, z);
  return z_major ? (z < 0 ? 5.0F : 4.0F) : y_major ? (y < 0 ? 3.0F : 2.0F) : x < 0 ? 1.0F : 0.0F;
}
float cube_s(float x, float y, float z) {
  const auto [z_major, y_major] = cube_axes(x, y, z);
  return z_major ? (z < 0 ? -x : x) : y_major ? x : x < 0 ? z : -z;
}
float cube_t(float x, float y, float z) {
  const auto [z_major, y_major] = cube_axes(x, y, z);
  return !z_major && y_major ? (y < 0 ? -z : z) : -y;
}
float cube_major(float x, float y, float z) {
  const auto [z_major, y_major] = cube_axes(x, y, z);
  return (z_major ? z : y_major ? y : x) * 2;
}

constexpr OpcodeRow rows[] = {
    {"v_add_f32", lanewise<[](float a, float b) { return a + b; }>},
    {"v_sub_f32", lanewise<[](float a, float b) { return a - b; }>},
    {"v_subrev_f32", lanewise<[](float a, float b) { return b - a; }>},
    {"v_mul_f32", lanewise<[](float a, float b) { return a * b; }>},
    {"v_mul_legacy_f32", lanewise<multiply_legacy>},
    {"v_fma_f32", lanewise<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fmac_f32", lanewise<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    // The constant is the third source of both.
    {"v_fmaak_f32", lanewise<[](float a, float b, float k) { return std::fma(a, b, k); }>},
    {"v_fmamk_f32", lanewise<[](float a, float b, float k) { return std::fma(a, k, b); }>},
    {"v_mad_f32", flushing<multiply_add>},
    {"v_mac_f32", flushing<multiply_add>},
    {"v_madak_f32", flushing<multiply_add>},
    {"v_madmk_f32", flushing<[](float a, float b, float k) { return multiply_add(a, k, b); }>},
    {"v_mad_legacy_f32", flushing<[](float a, float b, float c) { return multiply_legacy(a, b) + c; }>},

    {"v_min_f32", lanewise<extreme<Extreme::Least, float>>},
    {"v_max_f32", lanewise<extreme<Extreme::Greatest, float>>},
    {"v_min3_f32", lanewise<extreme3<Extreme::Least, float>>},
    {"v_max3_f32", lanewise<extreme3<Extreme::Greatest, float>>},
    {"v_med3_f32", lanewise<median<float>>},
    {"v_minimum3_f32", lanewise<nan_propagating_extreme3<Extreme::Least, float>>},
    {"v_maximum3_f32", lanewise<nan_propagating_extreme3<Extreme::Greatest, float>>},

    {"v_trunc_f32", lanewise<[](float a) { return std::trunc(a); }>},
    {"v_ceil_f32", lanewise<[](float a) { return std::ceil(a); }>},
    {"v_floor_f32", lanewise<[](float a) { return std::floor(a); }>},
    {"v_rndne_f32", lanewise<[](float a) { return __builtin_roundevenf(a); }>},
    {"v_fract_f32", lanewise<fraction<float>>},

    {"v_ldexp_f32", lanewise<[](float a, int32_t n) { return load_exponent(a, n); }>},
    {"v_frexp_mant_f32",
     lanewise<[](float a) { return static_cast<float>(parts(static_cast<double>(a)).mantissa); }>},
    {"v_frexp_exp_i32_f32",
     lanewise<[](float a) -> int32_t { return parts(static_cast<double>(a)).exponent; }>},

    {"v_div_scale_f32", run_div_scale<float>},
    {"v_div_fmas_f32", run_div_fmas<float>},
    {"v_div_fixup_f32", lanewise<div_fixup<float>>},

    {"v_cubeid_f32", lanewise<cube_face>},
    {"v_cubesc_f32", lanewise<cube_s>},
    {"v_cubetc_f32", lanewise<cube_t>},
    {"v_cubema_f32", lanewise<cube_major>},
};

} // namespace

OpcodeRows vector_float_rows() {
  return rows;
}

} // namespace asmevo::emulator
