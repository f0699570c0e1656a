// Conversions between number formats.
#include "emulator/reference/operations.h"

namespace asmevo::reference {

namespace {

constexpr Type H = Type::F16, S = Type::F32, D = Type::F64, U = Type::U32, I = Type::I32;
template <Type... T>
constexpr std::span<const Type> of = types<T...>;

template <Type From, Round R, int64_t least, int64_t most>
uint64_t to_int(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return static_cast<uint32_t>(saturated(to_integer(number<From>(l, a), R), least, most));
}
template <Type From, Round R>
constexpr Function to_i32 = to_int<From, R, INT32_MIN, INT32_MAX>;
template <Type From>
constexpr Function to_u32 = to_int<From, Round::TowardZero, 0, UINT32_MAX>;

// floor(x + 1/2), exactly.
uint64_t nearest_up(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  const Real half = unpack(f32, 0x3f000000);
  const Real shifted = add(number<S>(l, a), half, Round::NearestEven);
  return static_cast<uint32_t>(saturated(to_integer(shifted, Round::Down), INT32_MIN, INT32_MAX));
}

template <Type From, Type To>
uint64_t from_int(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  if constexpr (From == Type::I32)
    return round_to<To>(l, integer(sign_extended(a, 32)));
  else if constexpr (From == Type::I16)
    return round_to<To>(l, integer(sign_extended(a, 16)));
  else
    return round_to<To>(l, integer(a));
}
template <unsigned byte>
uint64_t from_byte(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<S>(l, integer(a >> (8 * byte) & 0xff));
}
uint64_t from_nibble(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<S>(l, scale(integer(sign_extended(a & 15, 4)), -4));
}

// Between formats: an instruction with a 16-bit or 64-bit operand rounds by those fields of MODE. Denormals
// by the fields of each side; to f16, by those for f16 on both sides.
uint64_t half_to_single(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<S>(l, number<H>(l, a));
}
uint64_t single_to_half(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<H>(l, unpack(f32, a, l.rules(H).keeps_inputs));
}
uint64_t double_to_single(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  Rules rules = l.rules(S);
  rules.round = l.rules(D).round;
  rules.flushes_rounded = true;
  return pack(f32, number<D>(l, a), rules);
}
uint64_t single_to_double(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  return round_to<D>(l, number<S>(l, a));
}

uint64_t pair(uint64_t low, uint64_t high) {
  return (low & 0xffff) | (high & 0xffff) << 16;
}
template <Round R>
uint64_t two_halves(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  Rules rules = l.rules(H);
  rules.round = R;
  return pair(pack(f16, number<S>(l, a), rules), pack(f16, number<S>(l, b), rules));
}
template <int64_t least, int64_t most, bool has_sign>
uint64_t two_ints(const Lane&, uint64_t a, uint64_t b, uint64_t) {
  const auto limited = [](uint64_t v) {
    const int64_t x = has_sign ? sign_extended(v, 32) : static_cast<int64_t>(v);
    return static_cast<uint64_t>(x < least ? least : x > most ? most : x);
  };
  return pair(limited(a), limited(b));
}

// [-1, 1] or [0, 1] to all of an integer's range, halves up.
template <Type From, bool has_sign>
uint64_t normalised(const Lane& l, uint64_t a, uint64_t, uint64_t) {
  Real value = number<From>(l, a);
  if (value.nan()) return 0;
  const Real one = integer(uint64_t{1});
  if (compare(value, one) == 1) value = one;
  const Real least = has_sign ? -one : Real{};
  if (compare(value, least) == -1) value = least;
  const Real scaled = multiply(value, integer(uint64_t{has_sign ? 32767U : 65535U}));
  const Real up = add(scaled, unpack(f32, 0x3f000000), Round::NearestEven);
  return static_cast<uint64_t>(saturated(to_integer(up, Round::Down), -32768, 65535)) & 0xffff;
}
template <Type From, bool has_sign>
uint64_t two_normalised(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return pair(normalised<From, has_sign>(l, a, 0, 0), normalised<From, has_sign>(l, b, 0, 0));
}

uint64_t with_byte(uint64_t row, uint64_t at, uint64_t byte) {
  const unsigned shift = 8 * (at & 3);
  return (row & ~(uint64_t{0xff} << shift)) | byte << shift;
}
uint64_t float_byte(const Lane& l, uint64_t a) {
  return static_cast<uint64_t>(saturated(to_integer(number<S>(l, a), Round::TowardZero), 0, 255));
}
uint64_t byte_into_third(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return with_byte(c, b, float_byte(l, a));
}
uint64_t byte_into_result(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return with_byte(destination(l, U), b, float_byte(l, a));
}

constexpr Round cut = Round::TowardZero;
constexpr Operation table[] = {
    {"v_cvt_i32_f32", I, of<S>, to_i32<S, cut>},
    {"v_cvt_u32_f32", U, of<S>, to_u32<S>},
    {"v_cvt_flr_i32_f32", I, of<S>, to_i32<S, Round::Down>},
    {"v_cvt_rpi_i32_f32", I, of<S>, nearest_up},
    {"v_cvt_i32_f64", I, of<D>, to_i32<D, cut>},
    {"v_cvt_u32_f64", U, of<D>, to_u32<D>},
    {"v_cvt_i16_f16", Type::I16, of<H>,
     [](const Lane& l, uint64_t a, uint64_t, uint64_t) {
       return to_int<H, cut, INT16_MIN, INT16_MAX>(l, a, 0, 0) & 0xffff;
     }},
    {"v_cvt_u16_f16", Type::U16, of<H>, to_int<H, cut, 0, UINT16_MAX>},
    {"v_cvt_norm_i16_f16", Type::I16, of<H>, normalised<H, true>},
    {"v_cvt_norm_u16_f16", Type::U16, of<H>, normalised<H, false>},
    {"v_cvt_f32_i32", S, of<I>, from_int<I, S>},
    {"v_cvt_f32_u32", S, of<U>, from_int<U, S>},
    {"v_cvt_f64_i32", D, of<I>, from_int<I, D>},
    {"v_cvt_f64_u32", D, of<U>, from_int<U, D>},
    {"v_cvt_f16_i16", H, of<Type::I16>, from_int<Type::I16, H>},
    {"v_cvt_f16_u16", H, of<Type::U16>, from_int<Type::U16, H>},
    {"v_cvt_f32_ubyte0", S, of<U>, from_byte<0>},
    {"v_cvt_f32_ubyte1", S, of<U>, from_byte<1>},
    {"v_cvt_f32_ubyte2", S, of<U>, from_byte<2>},
    {"v_cvt_f32_ubyte3", S, of<U>, from_byte<3>},
    {"v_cvt_off_f32_i4", S, of<U>, from_nibble},
    {"v_cvt_f32_f16", S, of<H>, half_to_single, any_nan(S)},
    {"v_cvt_f16_f32", H, of<S>, single_to_half, any_nan(H)},
    {"v_cvt_f32_f64", S, of<D>, double_to_single, any_nan(S)},
    {"v_cvt_f64_f32", D, of<S>, single_to_double, any_nan(D)},
    {"v_cvt_pkrtz_f16_f32", U, of<S, S>, two_halves<Round::TowardZero>, any_nan(H)},
    {"v_cvt_pk_f16_f32", U, of<S, S>, two_halves<Round::NearestEven>, any_nan(H)},
    {"v_cvt_pk_i16_i32", U, of<I, I>, two_ints<INT16_MIN, INT16_MAX, true>},
    {"v_cvt_pk_u16_u32", U, of<U, U>, two_ints<0, UINT16_MAX, false>},
    {"v_cvt_pknorm_i16_f32", U, of<S, S>, two_normalised<S, true>},
    {"v_cvt_pknorm_u16_f32", U, of<S, S>, two_normalised<S, false>},
    {"v_cvt_pknorm_i16_f16", U, of<H, H>, two_normalised<H, true>},
    {"v_cvt_pknorm_u16_f16", U, of<H, H>, two_normalised<H, false>},
    {"v_cvt_pk_u8_f32", U, of<S, U, U>, byte_into_third},
    {"v_cvt_pkaccum_u8_f32", U, of<S, U>, byte_into_result},
};

} // namespace

std::span<const Operation> convert_operations() {
  return table;
}

} // namespace asmevo::reference
