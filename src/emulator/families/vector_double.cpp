// f64 arithmetic.
#include "emulator/families/division.h"
#include "emulator/families/float_parts.h"
#include "emulator/families/float_select.h"
#include "emulator/lanes.h"

#include <array>
#include <cmath>

namespace asmevo::emulator {

namespace {

// The fraction bits of 2 / pi, the most significant first. The hardware has 1201 of them.
constexpr std::array<uint64_t, 19> two_over_pi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
constexpr unsigned two_over_pi_bits = 1201;

bool two_over_pi_bit(unsigned index) {
  return index < two_over_pi_bits && (two_over_pi[index / 64] >> (63 - index % 64) & 1) != 0;
}

// 53 bits of 2 / pi for the reduction of a large argument: segment n starts at bit 53 * n, later for
// arguments beyond 2^54, whose product with the first bits is a multiple of 4 and does not matter. For
// arguments from 2^945 on the result is 2^128 times larger, lest it be denormal (the program makes the
// argument smaller by as much).
double trig_preop(double value, uint32_t segment) {
  const int exponent = exponent_field<double>(bits_of(value));
  unsigned first = (segment & 31) * 53;
  if (exponent > 1077) first += static_cast<unsigned>(exponent - 1077);
  uint64_t digits = 0;
  for (unsigned i = 0; i < 53; ++i) digits = digits << 1 | (two_over_pi_bit(first + i) ? 1 : 0);
  int scale = -53 - static_cast<int>(first) + (exponent >= 1968 ? 128 : 0);
  if (constexpr int least = -1074; scale < least) { // rounds toward zero
    digits = least - scale < 53 ? digits >> (least - scale) : 0;
    scale = least;
  }
  const Parts p = parts(static_cast<double>(digits));
  return scaled(p, int64_t{p.exponent} + scale);
}

constexpr OpcodeRow rows[] = {
    {"v_add_f64", lanewise<[](double a, double b) { return a + b; }>},
    {"v_mul_f64", lanewise<[](double a, double b) { return a * b; }>},
    {"v_fma_f64", lanewise<[](double a, double b, double c) { return std::fma(a, b, c); }>},
    {"v_fmac_f64", lanewise<[](double a, double b, double c) { return std::fma(a, b, c); }>},

    {"v_min_f64", lanewise<extreme<Extreme::Least, double>>},
    {"v_max_f64", lanewise<extreme<Extreme::Greatest, double>>},

    {"v_trunc_f64", lanewise<[](double a) { return std::trunc(a); }>},
    {"v_ceil_f64", lanewise<[](double a) { return std::ceil(a); }>},
    {"v_floor_f64", lanewise<[](double a) { return std::floor(a); }>},
    {"v_rndne_f64", lanewise<[](double a) { return __builtin_roundeven(a); }>},
    {"v_fract_f64", lanewise<fraction<double>>},

    {"v_ldexp_f64", lanewise<[](double a, int32_t n) { return load_exponent(a, n); }>},
    {"v_frexp_mant_f64", lanewise<[](double a) { return parts(a).mantissa; }>},
    {"v_frexp_exp_i32_f64", lanewise<[](double a) -> int32_t { return parts(a).exponent; }>},

    {"v_div_scale_f64", run_div_scale<double>},
    {"v_div_fmas_f64", run_div_fmas<double>},
    {"v_div_fixup_f64", lanewise<div_fixup<double>>},

    {"v_trig_preop_f64", lanewise<trig_preop>},
};

} // namespace

OpcodeRows vector_double_rows() {
  return rows;
}

} // namespace asmevo::emulator
