// exp, log, rcp, rsq, sqrt, sin, cos. Hardware approximates them, f32 and f16 to within 1 ulp, and nobody has
// published how; here they are the exact results rounded (rcp and sqrt of f32, sqrt and rcp of f64) or within
// 0.51 ulp of them (the others: computed in double with an error below 2^-35, then rounded to nearest
// whatever MODE says). Hardware's f64 rcp, rsq and sqrt have some 2^-25 of error, which programs remove with
// Newton steps; ours have none to remove.
//
// What holds beside the value:
//   - f32: denormal operands count as zero and denormal results become zero even where MODE keeps denormals.
//   Compilers
//     know and scale around it. f16 and f64 obey MODE.
//   - sin and cos take revolutions (the program multiplies by 1/2pi). Beyond |x| = 256 sin gives 0 and cos 1.
//   - v_exp_legacy and v_log_legacy are v_exp and v_log.
#include "emulator/families/float_bits.h"
#include "emulator/families/half.h"
#include "emulator/lanes.h"

#include <cmath>
#include <numbers>

namespace asmevo::emulator {

namespace {

/// a[0] + a[1] x + a[2] x^2 ...
template <size_t N>
double polynomial(const double (&a)[N], double x) {
  double sum = a[N - 1];
  for (size_t i = N - 1; i-- > 0;) sum = sum * x + a[i];
  return sum;
}

// Adding this leaves an integer in a double's low bits.
constexpr double round_magic = 0x1.8p52;

constexpr double ln2 = std::numbers::ln2;

// 2^x for a float or an f16. The nearest integer goes into the exponent; for what remains, at most 1/2, the
// Taylor series is good to 2^-37 after nine terms.
double exp2_wide(double x) {
  constexpr auto a = [] {
    struct Series {
      double of[10];
    } s{};
    double term = 1;
    for (int n = 0; n < 10; ++n, term *= ln2 / n) s.of[n] = term;
    return s;
  }();
  constexpr double far = 300; // beyond every result's range
  // One comparison after the other, and floor: compilers make a loop over lanes of it that has no branches.
  // And floor is the same whatever MXCSR says; f16's functions run in its direction.
  const double below = x < far ? x : far, bounded = below > -far ? below : -far;
  const double whole = __builtin_floor(bounded + 0.5);
  const double p = polynomial(a.of, bounded - whole);
  const auto bits = std::bit_cast<uint64_t>(p) + (std::bit_cast<uint64_t>(whole + round_magic) << 52);
  // Infinities are exact: a large or small finite result would be rounded in MODE's direction.
  const double special = x < 0 ? 0 : x;
  return std::fabs(x) <= std::numeric_limits<double>::max() ? std::bit_cast<double>(bits) : special;
}

// log2 of a positive normal float: its exponent, and for the mantissa m in [sqrt(1/2), sqrt(2)) the series of
// 2 artanh(s) / ln 2 in s = (m - 1) / (m + 1), |s| < 0.172. m - 1 is exact, so results near zero are good
// too.
double log2_positive(float x) {
  constexpr uint32_t sqrt_half = 0x3f3504f3;
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto exponent = static_cast<int32_t>(bits - sqrt_half) >> 23;
  const auto m = static_cast<double>(std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)));
  constexpr double a[] = {2 / ln2,       2 / (3 * ln2),  2 / (5 * ln2), 2 / (7 * ln2),
                          2 / (9 * ln2), 2 / (11 * ln2), 2 / (13 * ln2)};
  const double s = (m - 1) / (m + 1);
  return static_cast<double>(exponent) + s * polynomial(a, s * s);
}

double log2_wide(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const bool positive = x > 0 && bits < infinity_bits<float>;
  const double result = log2_positive(positive ? x : 1.0F);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double special = x == 0 ? -infinity : x > 0 ? infinity : std::numeric_limits<double>::quiet_NaN();
  return positive ? result : special;
}

// sin(2 pi x) for |x| <= 1/4: the Taylor series, to 2^-38 of the result.
double sin_quarter(double x) {
  constexpr auto a = [] {
    struct Series {
      double of[8];
    } s{};
    constexpr double turn = 2 * std::numbers::pi;
    double term = turn;
    for (int n = 0; n < 8; ++n, term *= -turn * turn / ((2 * n) * (2 * n + 1))) s.of[n] = term;
    return s;
  }();
  return x * polynomial(a.of, x * x);
}

// The part of a turn that x goes beyond whole ones, between -1/2 and 1/2, exact.
double turn_part(double x) {
  return x - __builtin_roundeven(x);
}

double sin_turns(double x) {
  const double part = turn_part(x), mirrored = part > 0.25 ? 0.5 - part : part < -0.25 ? -0.5 - part : part;
  const double result = sin_quarter(mirrored);
  return std::fabs(x) > 256 ? (x - x) : x == 0 ? x : result; // Inf gives NaN
}

double cos_turns(double x) {
  const double result = sin_quarter(0.25 - std::fabs(turn_part(x)));
  return std::fabs(x) > 256 ? 1 + (x - x) : result;
}

// --- f32

// Denormals count as zero on both sides.
template <auto F>
float without_denormals(float x) {
  const auto flush = [](float v) { return from_bits<float>(flush_denormal<float>(bits_of(v), false)); };
  return flush(static_cast<float>(F(flush(x))));
}

template <auto F>
void single(Wave& wave, const MicroOp& op) {
  const MxcsrScope plain(FloatMode::csr_plain);
  lanewise<without_denormals<F>>(wave, op);
}

// --- f16: the same functions, rounded to f16.

template <auto F>
Half half(const FloatMode& mode, Half x) {
  return to_half(mode, F(input(mode, x)));
}

double widened_exp2(float x) {
  return exp2_wide(static_cast<double>(x));
}
double widened_sin(float x) {
  return sin_turns(static_cast<double>(x));
}
double widened_cos(float x) {
  return cos_turns(static_cast<double>(x));
}
float reciprocal(float x) {
  return 1 / x;
}
float square_root(float x) {
  return std::sqrt(x);
}
double reciprocal_root(float x) {
  return 1 / std::sqrt(static_cast<double>(x));
}

constexpr OpcodeRow rows[] = {
    {"v_exp_f32", single<widened_exp2>},
    {"v_exp_legacy_f32", single<widened_exp2>},
    {"v_log_f32", single<log2_wide>},
    {"v_log_legacy_f32", single<log2_wide>},
    {"v_rcp_f32", single<reciprocal>},
    {"v_rcp_iflag_f32", single<reciprocal>}, // differs in the exceptions it raises
    {"v_rsq_f32", single<reciprocal_root>},
    {"v_sqrt_f32", single<square_root>},
    {"v_sin_f32", single<widened_sin>},
    {"v_cos_f32", single<widened_cos>},

    {"v_exp_f16", lanewise<half<widened_exp2>>},
    {"v_log_f16", lanewise<half<log2_wide>>},
    {"v_rcp_f16", lanewise<half<reciprocal>>},
    {"v_rsq_f16", lanewise<half<reciprocal_root>>},
    {"v_sqrt_f16", lanewise<half<square_root>>},
    {"v_sin_f16", lanewise<half<widened_sin>>},
    {"v_cos_f16", lanewise<half<widened_cos>>},

    {"v_rcp_f64", lanewise<[](double x) { return 1 / x; }>},
    {"v_rsq_f64", lanewise<[](double x) { return 1 / std::sqrt(x); }>},
    {"v_sqrt_f64", lanewise<[](double x) { return std::sqrt(x); }>},
};

} // namespace

OpcodeRows transcendental_rows() {
  return rows;
}

} // namespace asmevo::emulator
