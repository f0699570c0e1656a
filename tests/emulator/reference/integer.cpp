// Integer arithmetic of vector instructions that is done lane by lane.
#include "emulator/reference/operations.h"

#include <algorithm>

namespace asmevo::reference {

namespace {

constexpr Type I16 = Type::I16, U16 = Type::U16, I32 = Type::I32, U32 = Type::U32, U64 = Type::U64;
template <Type... T>
constexpr std::span<const Type> of = types<T...>;

template <Type T>
Signed value(uint64_t bits) {
  if constexpr (T == I16)
    return sign_extended(bits, 16);
  else if constexpr (T == I32)
    return sign_extended(bits, 32);
  else
    return static_cast<Signed>(bits);
}
template <Type T>
uint64_t bits(Signed v) {
  return is_narrow(T) ? static_cast<uint16_t>(v) : static_cast<uint32_t>(v);
}
Signed low24(uint64_t v, bool has_sign) {
  return has_sign ? sign_extended(v & 0xffffff, 24) : static_cast<int64_t>(v & 0xffffff);
}

template <Type T>
uint64_t add(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return l.fit(T, value<T>(a) + value<T>(b));
}
template <Type T>
uint64_t subtract(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return l.fit(T, value<T>(a) - value<T>(b));
}
template <Type T>
uint64_t subtract_from(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return l.fit(T, value<T>(b) - value<T>(a));
}
template <Type T>
uint64_t multiply_add(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return l.fit(T, value<T>(a) * value<T>(b) + value<T>(c));
}
template <Type T, Type Sum>
uint64_t widening_add(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return l.fit(Sum, value<T>(a) * value<T>(b) + value<Sum>(c));
}
template <Type T>
uint64_t multiply24(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return l.fit(T, low24(a, T == I32) * low24(b, T == I32));
}
template <Type T>
uint64_t multiply_add24(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return l.fit(T, low24(a, T == I32) * low24(b, T == I32) + value<T>(c));
}
template <Type T>
uint64_t high_of_24(const Lane&, uint64_t a, uint64_t b, uint64_t) {
  return static_cast<uint32_t>((low24(a, T == I32) * low24(b, T == I32)) >> 32);
}
template <Type T>
uint64_t high(const Lane&, uint64_t a, uint64_t b, uint64_t) {
  return static_cast<uint32_t>((value<T>(a) * value<T>(b)) >> 32);
}
template <Type T>
uint64_t least(const Lane&, uint64_t a, uint64_t b, uint64_t) {
  return bits<T>(std::min(value<T>(a), value<T>(b)));
}
template <Type T>
uint64_t most(const Lane&, uint64_t a, uint64_t b, uint64_t) {
  return bits<T>(std::max(value<T>(a), value<T>(b)));
}
template <Type T>
uint64_t least3(const Lane&, uint64_t a, uint64_t b, uint64_t c) {
  return bits<T>(std::min({value<T>(a), value<T>(b), value<T>(c)}));
}
template <Type T>
uint64_t most3(const Lane&, uint64_t a, uint64_t b, uint64_t c) {
  return bits<T>(std::max({value<T>(a), value<T>(b), value<T>(c)}));
}
template <Type T>
uint64_t median(const Lane&, uint64_t a, uint64_t b, uint64_t c) {
  Signed all[] = {value<T>(a), value<T>(b), value<T>(c)};
  std::ranges::sort(all);
  return bits<T>(all[1]);
}

Signed distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}
uint64_t field(uint64_t v, unsigned n, unsigned width) {
  return v >> (n * width) & ((uint64_t{1} << width) - 1);
}
Signed differences(uint64_t a, uint64_t b, unsigned width, bool masked) {
  Signed total = 0;
  for (unsigned n = 0; n < 32 / width; ++n) {
    const uint64_t reference = field(b, n, width);
    if (!masked || reference != 0) total += distance(field(a, n, width), reference);
  }
  return total;
}
template <unsigned width, bool masked>
uint64_t sad(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return l.fit(U32, differences(a, b, width, masked) + static_cast<Signed>(c));
}
uint64_t sad_high(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return l.fit(U32, (differences(a, b, 8, false) << 16) + static_cast<Signed>(c));
}
// Four windows of bytes, one byte apart.
template <bool masked>
uint64_t quad_sad(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result = 0;
  for (unsigned n = 0; n < 4; ++n)
    result |= l.fit(U16, differences(a >> (8 * n) & 0xffffffff, b, 8, masked) +
                             static_cast<Signed>(field(c, n, 16)))
              << (16 * n);
  return result;
}

uint64_t lerp(const Lane&, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result = 0;
  for (unsigned n = 0; n < 4; ++n)
    result |= (field(a, n, 8) + field(b, n, 8) + (c >> (8 * n) & 1)) >> 1 << (8 * n);
  return result;
}

// Exact, then all of it or the nearest.
template <unsigned width, bool has_sign>
uint64_t dot(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  const auto part = [](uint64_t v, unsigned n) -> Signed {
    const uint64_t f = field(v, n, width);
    return has_sign ? sign_extended(f, width) : static_cast<int64_t>(f);
  };
  Signed total = has_sign ? value<I32>(c) : value<U32>(c);
  for (unsigned n = 0; n < 32 / width; ++n) total += part(a, n) * part(b, n);
  return l.fit(has_sign ? I32 : U32, total);
}
template <unsigned width>
uint64_t dot_into(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return dot<width, true>(l, a, b, destination(l, I32));
}

constexpr Operation table[] = {
    {"v_add_u32", U32, of<U32, U32>, add<U32>},
    {"v_sub_u32", U32, of<U32, U32>, subtract<U32>},
    {"v_subrev_u32", U32, of<U32, U32>, subtract_from<U32>},
    {"v_add_i32", I32, of<I32, I32>, add<I32>},
    {"v_sub_i32", I32, of<I32, I32>, subtract<I32>},
    {"v_add_u16", U16, of<U16, U16>, add<U16>},
    {"v_sub_u16", U16, of<U16, U16>, subtract<U16>},
    {"v_subrev_u16", U16, of<U16, U16>, subtract_from<U16>},
    {"v_add_i16", I16, of<I16, I16>, add<I16>},
    {"v_sub_i16", I16, of<I16, I16>, subtract<I16>},
    {"v_mul_lo_u16", U16, of<U16, U16>,
     [](const Lane& l, uint64_t a, uint64_t b, uint64_t) { return l.fit(U16, static_cast<int64_t>(a * b)); }},
    {"v_mul_lo_u32", U32, of<U32, U32>,
     [](const Lane&, uint64_t a, uint64_t b, uint64_t) { return a * b & 0xffffffff; }},
    {"v_mul_hi_u32", U32, of<U32, U32>, high<U32>},
    {"v_mul_hi_i32", I32, of<I32, I32>, high<I32>},
    {"v_mul_u32_u24", U32, of<U32, U32>, multiply24<U32>},
    {"v_mul_i32_i24", I32, of<I32, I32>, multiply24<I32>},
    {"v_mul_hi_u32_u24", U32, of<U32, U32>, high_of_24<U32>},
    {"v_mul_hi_i32_i24", I32, of<I32, I32>, high_of_24<I32>},
    {"v_mad_u32_u24", U32, of<U32, U32, U32>, multiply_add24<U32>},
    {"v_mad_i32_i24", I32, of<I32, I32, I32>, multiply_add24<I32>},
    {"v_mad_u16", U16, of<U16, U16, U16>, multiply_add<U16>},
    {"v_mad_i16", I16, of<I16, I16, I16>, multiply_add<I16>},
    {"v_mad_legacy_u16", U16, of<U16, U16, U16>, multiply_add<U16>},
    {"v_mad_legacy_i16", I16, of<I16, I16, I16>, multiply_add<I16>},
    {"v_mad_u32_u16", U32, of<U16, U16, U32>, widening_add<U16, U32>},
    {"v_mad_i32_i16", I32, of<I16, I16, I32>, widening_add<I16, I32>},
    {"v_add3_u32", U32, of<U32, U32, U32>,
     [](const Lane&, uint64_t a, uint64_t b, uint64_t c) { return (a + b + c) & 0xffffffff; }},
    {"v_min_u32", U32, of<U32, U32>, least<U32>},
    {"v_min_i32", I32, of<I32, I32>, least<I32>},
    {"v_min_u16", U16, of<U16, U16>, least<U16>},
    {"v_min_i16", I16, of<I16, I16>, least<I16>},
    {"v_max_u32", U32, of<U32, U32>, most<U32>},
    {"v_max_i32", I32, of<I32, I32>, most<I32>},
    {"v_max_u16", U16, of<U16, U16>, most<U16>},
    {"v_max_i16", I16, of<I16, I16>, most<I16>},
    {"v_min3_u32", U32, of<U32, U32, U32>, least3<U32>},
    {"v_min3_i32", I32, of<I32, I32, I32>, least3<I32>},
    {"v_min3_u16", U16, of<U16, U16, U16>, least3<U16>},
    {"v_min3_i16", I16, of<I16, I16, I16>, least3<I16>},
    {"v_max3_u32", U32, of<U32, U32, U32>, most3<U32>},
    {"v_max3_i32", I32, of<I32, I32, I32>, most3<I32>},
    {"v_max3_u16", U16, of<U16, U16, U16>, most3<U16>},
    {"v_max3_i16", I16, of<I16, I16, I16>, most3<I16>},
    {"v_med3_u32", U32, of<U32, U32, U32>, median<U32>},
    {"v_med3_i32", I32, of<I32, I32, I32>, median<I32>},
    {"v_med3_u16", U16, of<U16, U16, U16>, median<U16>},
    {"v_med3_i16", I16, of<I16, I16, I16>, median<I16>},
    {"v_sad_u8", U32, of<U32, U32, U32>, sad<8, false>},
    {"v_sad_hi_u8", U32, of<U32, U32, U32>, sad_high},
    {"v_sad_u16", U32, of<U32, U32, U32>, sad<16, false>},
    {"v_sad_u32", U32, of<U32, U32, U32>, sad<32, false>},
    {"v_msad_u8", U32, of<U32, U32, U32>, sad<8, true>},
    {"v_qsad_pk_u16_u8", U64, of<U64, U32, U64>, quad_sad<false>},
    {"v_mqsad_pk_u16_u8", U64, of<U64, U32, U64>, quad_sad<true>},
    {"v_lerp_u8", U32, of<U32, U32, U32>, lerp},
    {"v_dot2c_i32_i16", I32, of<U32, U32>, dot_into<16>},
    {"v_dot4c_i32_i8", I32, of<U32, U32>, dot_into<8>},
    {"v_dot8c_i32_i4", I32, of<U32, U32>, dot_into<4>},
    {"v_dot2_i32_i16", I32, of<U32, U32, U32>, dot<16, true>},
    {"v_dot2_u32_u16", U32, of<U32, U32, U32>, dot<16, false>},
    {"v_dot4_i32_i8", I32, of<U32, U32, U32>, dot<8, true>},
    {"v_dot4_u32_u8", U32, of<U32, U32, U32>, dot<8, false>},
    {"v_dot8_i32_i4", I32, of<U32, U32, U32>, dot<4, true>},
    {"v_dot8_u32_u4", U32, of<U32, U32, U32>, dot<4, false>},
};

} // namespace

std::span<const Operation> integer_operations() {
  return table;
}

} // namespace asmevo::reference
