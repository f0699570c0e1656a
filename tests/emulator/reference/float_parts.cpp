// Floats to integral floats, their parts, division's last step, cube maps, and what is known only to within
// a place: transcendental functions.
#include "emulator/reference/operations.h"

#include <cmath>
#include <cstring>

namespace asmevo::reference {

namespace {

constexpr Type H = Type::F16, S = Type::F32, D = Type::F64;
template <Type T>
constexpr std::span<const Type> one = types<T>;
template <Type T>
constexpr std::span<const Type> three = types<T, T, T>;

template <Type T, Round R>
uint64_t integral(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<T>(l, to_integer(number<T>(l, a), R));
}

// a - floor(a), below 1.
template <Type T>
uint64_t fraction(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  const Real value = number<T>(l, a);
  const Rules rules = l.rules(T);
  const uint64_t rest = pack(format(T), add(value, -to_integer(value, Round::Down), rules.round), rules);
  return rest == format(T).one() ? rest - 1 : rest;
}

template <Type T, Type Power>
uint64_t times_power(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return round_to<T>(l, scale(number<T>(l, a), sign_extended(b, Power == Type::I16 ? 16 : 32)));
}

template <Type T>
uint64_t mantissa(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  const Real value = number<T>(l, a);
  if (value.kind != Real::Kind::Finite) return round_to<T>(l, value);
  return round_to<T>(l, scale(value, -(value.magnitude() + 1)));
}
template <Type T>
uint64_t exponent(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  const Real value = number<T>(l, a);
  if (value.kind != Real::Kind::Finite) return 0;
  const auto bits = static_cast<uint32_t>(value.magnitude() + 1);
  return T == H ? bits & 0xffff : bits;
}

// The quotient s0 of s2 / s1, put right where the steps before could not.
template <Type T>
uint64_t division_fixup(const Lane& l, uint64_t q, uint64_t d, uint64_t n) {
  constexpr Format f = format(T);
  const uint64_t sign = (n ^ d) & f.sign_bit();
  const Rules rules = l.rules(T);
  const Real numerator = unpack(f, n, rules.keeps_inputs), denominator = unpack(f, d, rules.keeps_inputs);
  if (numerator.nan()) return n | f.quiet_bit();
  if (denominator.nan()) return d | f.quiet_bit();
  if (numerator.zero() && denominator.zero()) return f.sign_bit() | f.infinity() | f.quiet_bit();
  if (numerator.infinite() && denominator.infinite()) return f.sign_bit() | f.infinity() | f.quiet_bit();
  if (denominator.zero() || numerator.infinite()) return sign | f.infinity();
  if (denominator.infinite() || numerator.zero()) return sign;
  return sign | (q & ~f.sign_bit());
}

// --- cube maps: the face is that of the largest coordinate, z before y before x

enum class Axis : uint8_t { X, Y, Z };
struct Cube {
  uint64_t x, y, z;
  Axis axis;
  bool negative;
};
Cube cube(const Lane& l, uint64_t x, uint64_t y, uint64_t z) {
  const auto size = [&](uint64_t v) { return number<S>(l, v & 0x7fffffff); };
  const auto at_least = [&](uint64_t a, uint64_t b) {
    const int o = compare(size(a), size(b));
    return o == 0 || o == 1;
  };
  Cube c{x, y, z, Axis::X, false};
  if (at_least(z, x) && at_least(z, y))
    c.axis = Axis::Z;
  else if (at_least(y, x))
    c.axis = Axis::Y;
  const uint64_t major = c.axis == Axis::Z ? z : c.axis == Axis::Y ? y : x;
  c.negative = compare(number<S>(l, major), Real{}) == -1;
  return c;
}
uint64_t minus(uint64_t v) {
  return v ^ 0x80000000;
}
uint64_t cube_face(const Lane& l, uint64_t x, uint64_t y, uint64_t z) {
  const Cube c = cube(l, x, y, z);
  const uint64_t face = (c.axis == Axis::Z ? 4 : c.axis == Axis::Y ? 2 : 0) + (c.negative ? 1 : 0);
  return pack(f32, integer(face), {});
}
uint64_t cube_s(const Lane& l, uint64_t x, uint64_t y, uint64_t z) {
  const Cube c = cube(l, x, y, z);
  if (c.axis == Axis::Z) return c.negative ? minus(x) : x;
  if (c.axis == Axis::Y) return x;
  return c.negative ? z : minus(z);
}
uint64_t cube_t(const Lane& l, uint64_t x, uint64_t y, uint64_t z) {
  const Cube c = cube(l, x, y, z);
  if (c.axis == Axis::Y) return c.negative ? minus(z) : z;
  return minus(y);
}
uint64_t cube_major(const Lane& l, uint64_t x, uint64_t y, uint64_t z) {
  const Cube c = cube(l, x, y, z);
  return round_to<S>(l, scale(number<S>(l, c.axis == Axis::Z ? z : c.axis == Axis::Y ? y : x), 1));
}

constexpr Operation parts[] = {
    {"v_trunc_f16", H, one<H>, integral<H, Round::TowardZero>, any_nan(H)},
    {"v_trunc_f32", S, one<S>, integral<S, Round::TowardZero>, any_nan(S)},
    {"v_trunc_f64", D, one<D>, integral<D, Round::TowardZero>, any_nan(D)},
    {"v_ceil_f16", H, one<H>, integral<H, Round::Up>, any_nan(H)},
    {"v_ceil_f32", S, one<S>, integral<S, Round::Up>, any_nan(S)},
    {"v_ceil_f64", D, one<D>, integral<D, Round::Up>, any_nan(D)},
    {"v_floor_f16", H, one<H>, integral<H, Round::Down>, any_nan(H)},
    {"v_floor_f32", S, one<S>, integral<S, Round::Down>, any_nan(S)},
    {"v_floor_f64", D, one<D>, integral<D, Round::Down>, any_nan(D)},
    {"v_rndne_f16", H, one<H>, integral<H, Round::NearestEven>, any_nan(H)},
    {"v_rndne_f32", S, one<S>, integral<S, Round::NearestEven>, any_nan(S)},
    {"v_rndne_f64", D, one<D>, integral<D, Round::NearestEven>, any_nan(D)},
    {"v_fract_f16", H, one<H>, fraction<H>, any_nan(H)},
    {"v_fract_f32", S, one<S>, fraction<S>, any_nan(S)},
    {"v_fract_f64", D, one<D>, fraction<D>, any_nan(D)},
    {"v_ldexp_f16", H, types<H, Type::I16>, times_power<H, Type::I16>, any_nan(H)},
    {"v_ldexp_f32", S, types<S, Type::I32>, times_power<S, Type::I32>, any_nan(S)},
    {"v_ldexp_f64", D, types<D, Type::I32>, times_power<D, Type::I32>, any_nan(D)},
    {"v_frexp_mant_f16", H, one<H>, mantissa<H>, any_nan(H)},
    {"v_frexp_mant_f32", S, one<S>, mantissa<S>, any_nan(S)},
    {"v_frexp_mant_f64", D, one<D>, mantissa<D>, any_nan(D)},
    {"v_frexp_exp_i16_f16", Type::I16, one<H>, exponent<H>},
    {"v_frexp_exp_i32_f32", Type::I32, one<S>, exponent<S>},
    {"v_frexp_exp_i32_f64", Type::I32, one<D>, exponent<D>},
    {"v_div_fixup_f16", H, three<H>, division_fixup<H>, any_nan(H)},
    {"v_div_fixup_legacy_f16", H, three<H>, division_fixup<H>, any_nan(H)},
    {"v_cubeid_f32", S, three<S>, cube_face},
    {"v_cubesc_f32", S, three<S>, cube_s, any_nan(S)},
    {"v_cubetc_f32", S, three<S>, cube_t, any_nan(S)},
    {"v_cubema_f32", S, three<S>, cube_major, any_nan(S)},
};

// --- transcendental functions, by the host's in a longer format

template <Type T>
long double value_of(const Lane& l, uint64_t bits) {
  // f32 takes denormals for zero whatever MODE says.
  const Real r = T == S ? unpack(f32, bits, false) : number<T>(l, bits);
  if (r.nan()) return NAN;
  const long double sign = r.negative ? -1 : 1;
  if (r.infinite()) return sign * INFINITY;
  return sign * std::ldexp(static_cast<long double>(static_cast<uint64_t>(r.digits)), r.exponent);
}
template <Type T>
uint64_t nearest(const Lane& l, long double v) {
  Rules rules = l.rules(T);
  if (T == S) rules = {.keeps_outputs = false}; // to nearest whatever MODE says
  if (std::isnan(v)) return pack(format(T), nan(), rules);
  Real r{.negative = std::signbit(v)};
  if (std::isinf(v)) {
    r.kind = Real::Kind::Infinite;
  } else if (v != 0) {
    int power = 0;
    r.kind = Real::Kind::Finite;
    r.digits = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(v), &power), 64));
    r.exponent = power - 64;
  }
  return pack(format(T), r, rules);
}
template <Type T, long double (*F)(long double)>
uint64_t by_host(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return nearest<T>(l, F(value_of<T>(l, a)));
}

long double reciprocal(long double x) {
  return 1 / x;
}
long double root(long double x) {
  return std::sqrt(x);
}
long double reciprocal_root(long double x) {
  return x == 0 ? 1 / x : 1 / std::sqrt(x); // -0 gives -Inf
}
long double power_of_two(long double x) {
  constexpr long double beyond = 10000; // any format, and finite all the same
  return std::exp2(std::isinf(x) ? x : x < -beyond ? -beyond : x > beyond ? beyond : x);
}
long double logarithm(long double x) {
  return std::log2(x);
}
// Of turns: whole quarters aside, which is exact, an eighth of a turn at most is left. Nothing beyond 256.
template <bool cosine>
long double of_turns(long double x) {
  if (std::isinf(x) || std::isnan(x)) return NAN;
  if (std::fabs(x) > 256) return cosine ? 1 : 0;
  const long double quarters = std::nearbyint(4 * x), angle = (x - quarters / 4) * 2 * std::acos(-1.0L);
  const int quarter = (static_cast<int>(quarters) + (cosine ? 1 : 0)) & 3;
  const long double part = (quarter & 1) != 0 ? std::cos(angle) : std::sin(angle);
  if (part == 0 && x != 0) return 0; // half turns: without a sign
  return quarter < 2 ? part : -part;
}

constexpr Tolerance ulp16 = Tolerance::UlpHalf, ulp32 = Tolerance::UlpFloat, ulp64 = Tolerance::UlpDouble;
constexpr Operation transcendental[] = {
    {"v_rcp_f16", H, one<H>, by_host<H, reciprocal>, ulp16},
    {"v_rcp_f32", S, one<S>, by_host<S, reciprocal>, ulp32},
    {"v_rcp_iflag_f32", S, one<S>, by_host<S, reciprocal>, ulp32},
    {"v_rcp_f64", D, one<D>, by_host<D, reciprocal>, ulp64},
    {"v_sqrt_f16", H, one<H>, by_host<H, root>, ulp16},
    {"v_sqrt_f32", S, one<S>, by_host<S, root>, ulp32},
    {"v_sqrt_f64", D, one<D>, by_host<D, root>, ulp64},
    {"v_rsq_f16", H, one<H>, by_host<H, reciprocal_root>, ulp16},
    {"v_rsq_f32", S, one<S>, by_host<S, reciprocal_root>, ulp32},
    {"v_rsq_f64", D, one<D>, by_host<D, reciprocal_root>, ulp64},
    {"v_exp_f16", H, one<H>, by_host<H, power_of_two>, ulp16},
    {"v_exp_f32", S, one<S>, by_host<S, power_of_two>, ulp32},
    {"v_exp_legacy_f32", S, one<S>, by_host<S, power_of_two>, ulp32},
    {"v_log_f16", H, one<H>, by_host<H, logarithm>, ulp16},
    {"v_log_f32", S, one<S>, by_host<S, logarithm>, ulp32},
    {"v_log_legacy_f32", S, one<S>, by_host<S, logarithm>, ulp32},
    {"v_sin_f16", H, one<H>, by_host<H, of_turns<false>>, ulp16},
    {"v_sin_f32", S, one<S>, by_host<S, of_turns<false>>, ulp32},
    {"v_cos_f16", H, one<H>, by_host<H, of_turns<true>>, ulp16},
    {"v_cos_f32", S, one<S>, by_host<S, of_turns<true>>, ulp32},
};

} // namespace

std::span<const Operation> float_part_operations() {
  return parts;
}
std::span<const Operation> transcendental_operations() {
  return transcendental;
}

} // namespace asmevo::reference
