// f16 arithmetic: half.h says how. Results zero the upper half of the register but for the forms of VOP3 with
// op_sel (v_mad_f16, v_fma_f16, v_div_fixup_f16); those called legacy zero it too.
#include "emulator/families/division.h"
#include "emulator/families/float_parts.h"
#include "emulator/families/float_select.h"
#include "emulator/families/half.h"
#include "emulator/lanes.h"

#include <cmath>

namespace asmevo::emulator {

namespace {

// An operation that a float holds, rounded to f16.
template <auto F>
Half unary(const FloatMode& mode, Half a) {
  return to_half(mode, F(input(mode, a)));
}
template <auto F>
Half binary(const FloatMode& mode, Half a, Half b) {
  return to_half(mode, F(input(mode, a), input(mode, b)));
}

// The exact sum of a product and an f16 needs more than a float; where a double rounds it, the f16 nearby is
// no tie.
Half fused(const FloatMode& mode, Half a, Half b, Half c) {
  const auto wide = [&](Half h) { return static_cast<double>(input(mode, h)); };
  return to_half(mode, wide(a) * wide(b) + wide(c));
}

// v_mad and v_mac round the product to f16 first.
Half multiply_add(const FloatMode& mode, Half a, Half b, Half c) {
  const Half product = to_half(mode, input(mode, a) * input(mode, b));
  return to_half(mode, to_float(product) + input(mode, c));
}
Half multiply_add_constant(const FloatMode& mode, Half a, Half b, Half k) {
  return multiply_add(mode, a, k, b);
}

Half fraction_half(const FloatMode& mode, Half value) {
  constexpr float below_one = 0x1.ffcp-1F;
  const float x = input(mode, value), difference = x - std::floor(x);
  return to_half(mode, difference > below_one ? below_one : difference);
}

Half mantissa(const FloatMode& mode, Half value) {
  return to_half(mode, static_cast<float>(parts(static_cast<double>(input(mode, value))).mantissa));
}
int16_t exponent(const FloatMode& mode, Half value) {
  return static_cast<int16_t>(parts(static_cast<double>(input(mode, value))).exponent);
}

constexpr OpcodeRow rows[] = {
    {"v_add_f16", lanewise<binary<[](float a, float b) { return a + b; }>>},
    {"v_sub_f16", lanewise<binary<[](float a, float b) { return a - b; }>>},
    {"v_subrev_f16", lanewise<binary<[](float a, float b) { return b - a; }>>},
    {"v_mul_f16", lanewise<binary<[](float a, float b) { return a * b; }>>},
    {"v_fma_f16", lanewise<fused>},
    {"v_fma_legacy_f16", lanewise<fused>},
    {"v_mad_f16", lanewise<multiply_add>},
    {"v_mad_legacy_f16", lanewise<multiply_add>},
    {"v_mac_f16", lanewise<multiply_add>},
    {"v_madak_f16", lanewise<multiply_add>},
    {"v_madmk_f16", lanewise<multiply_add_constant>},

    {"v_min_f16", lanewise<extreme<Extreme::Least, Half>>},
    {"v_max_f16", lanewise<extreme<Extreme::Greatest, Half>>},
    {"v_min3_f16", lanewise<extreme3<Extreme::Least, Half>>},
    {"v_max3_f16", lanewise<extreme3<Extreme::Greatest, Half>>},
    {"v_med3_f16", lanewise<median<Half>>},

    {"v_trunc_f16", lanewise<unary<[](float a) { return std::trunc(a); }>>},
    {"v_ceil_f16", lanewise<unary<[](float a) { return std::ceil(a); }>>},
    {"v_floor_f16", lanewise<unary<[](float a) { return std::floor(a); }>>},
    {"v_rndne_f16", lanewise<unary<[](float a) { return __builtin_roundevenf(a); }>>},
    {"v_fract_f16", lanewise<fraction_half>},

    {"v_ldexp_f16", lanewise<[](const FloatMode& m, Half a, int16_t n) { return load_exponent(m, a, n); }>},
    {"v_frexp_mant_f16", lanewise<mantissa>},
    {"v_frexp_exp_i16_f16", lanewise<exponent>},

    {"v_div_fixup_f16", lanewise<div_fixup<Half>>},
    {"v_div_fixup_legacy_f16", lanewise<div_fixup<Half>>},
};

} // namespace

OpcodeRows vector_half_rows() {
  return rows;
}

} // namespace asmevo::emulator
