// Sums, products, selections of f16, f32 and f64.
#include "emulator/reference/operations.h"

namespace asmevo::reference {

namespace {

template <Type T>
uint64_t negated(uint64_t bits) {
  return bits ^ format(T).sign_bit();
}

template <Type T>
uint64_t add(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return sum(format(T), a, b, l.rules(T));
}
template <Type T>
uint64_t subtract(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return sum(format(T), a, negated<T>(b), l.rules(T));
}
template <Type T>
uint64_t subtract_from(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return sum(format(T), b, negated<T>(a), l.rules(T));
}
template <Type T>
uint64_t times(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return product(format(T), a, b, l.rules(T));
}
template <Type T>
uint64_t fma(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  return fused(format(T), a, b, c, l.rules(T));
}
template <Type T>
uint64_t fmac(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return fused(format(T), a, b, destination(l, T), l.rules(T));
}
template <Type T>
uint64_t fmaak(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return fused(format(T), a, b, literal(l, T), l.rules(T));
}
template <Type T>
uint64_t fmamk(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return fused(format(T), a, literal(l, T), b, l.rules(T));
}

// Two roundings. f32 takes denormals for zero whatever MODE says.
template <Type T>
uint64_t unfused(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  Rules rules = l.rules(T);
  if (T == Type::F32) rules.keeps_inputs = rules.keeps_outputs = false;
  const Real first = unpack(format(T), product(format(T), a, b, rules)); // no operand: stays as it is
  return pack(format(T), add(first, unpack(format(T), c, rules.keeps_inputs), rules.round), rules);
}
template <Type T>
uint64_t mac(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return unfused<T>(l, a, b, destination(l, T));
}
template <Type T>
uint64_t madak(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return unfused<T>(l, a, b, literal(l, T));
}
template <Type T>
uint64_t madmk(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  return unfused<T>(l, a, literal(l, T), b);
}

// 0 times anything is 0.
bool legacy_zero(const Rules& rules, uint64_t a, uint64_t b) {
  return unpack(f32, a, rules.keeps_inputs).zero() || unpack(f32, b, rules.keeps_inputs).zero();
}
uint64_t times_legacy(const Lane& l, uint64_t a, uint64_t b, uint64_t) {
  const Rules rules = l.rules(Type::F32);
  return legacy_zero(rules, a, b) ? 0 : product(f32, a, b, rules);
}
uint64_t mad_legacy(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  Rules rules = l.rules(Type::F32);
  rules.keeps_inputs = rules.keeps_outputs = false;
  return sum(f32, legacy_zero(rules, a, b) ? 0 : product(f32, a, b, rules), c, rules);
}

// --- selections

uint64_t quieted(Format f, uint64_t bits) {
  return bits | f.quiet_bit();
}
int order(Format f, uint64_t a, uint64_t b) {
  return compare(unpack(f, a), unpack(f, b));
}
bool negative(Format f, uint64_t bits) {
  return (bits & f.sign_bit()) != 0;
}
uint64_t select(Format f, bool ieee, uint64_t a, uint64_t b, bool most) {
  if (ieee && is_signalling(f, a)) return quieted(f, a);
  if (ieee && is_signalling(f, b)) return quieted(f, b);
  if (is_nan(f, a)) return b;
  if (is_nan(f, b)) return a;
  const int o = order(f, a, b);
  if (o == 0) return negative(f, a) == most ? b : a; // zeros by sign
  return (o < 0) == most ? b : a;
}
uint64_t select_2019(Format f, uint64_t a, uint64_t b, bool most) {
  if (is_nan(f, a)) return quieted(f, a);
  if (is_nan(f, b)) return quieted(f, b);
  return select(f, false, a, b, most);
}

// They compute nothing: both sides of MODE at once.
template <Type T, uint64_t (*F)(Format, bool ieee, uint64_t a, uint64_t b, uint64_t c)>
uint64_t selection(const Lane& l, uint64_t a, uint64_t b, uint64_t c) {
  constexpr Format f = format(T);
  const bool keeps = l.rules(T).keeps_inputs && l.rules(T).keeps_outputs;
  return F(f, l.mode().ieee(), flushed(f, a, keeps), flushed(f, b, keeps), flushed(f, c, keeps));
}

uint64_t least(Format f, bool ieee, uint64_t a, uint64_t b, uint64_t) {
  return select(f, ieee, a, b, false);
}
uint64_t most(Format f, bool ieee, uint64_t a, uint64_t b, uint64_t) {
  return select(f, ieee, a, b, true);
}
uint64_t least3(Format f, bool ieee, uint64_t a, uint64_t b, uint64_t c) {
  return select(f, ieee, select(f, ieee, a, b, false), c, false);
}
uint64_t most3(Format f, bool ieee, uint64_t a, uint64_t b, uint64_t c) {
  return select(f, ieee, select(f, ieee, a, b, true), c, true);
}
uint64_t median(Format f, bool ieee, uint64_t a, uint64_t b, uint64_t c) {
  if (is_nan(f, a) || is_nan(f, b) || is_nan(f, c)) return least3(f, ieee, a, b, c);
  const uint64_t top = most3(f, ieee, a, b, c);
  if (order(f, top, a) == 0) return select(f, ieee, b, c, true);
  if (order(f, top, b) == 0) return select(f, ieee, a, c, true);
  return select(f, ieee, a, b, true);
}
uint64_t least3_2019(Format f, bool, uint64_t a, uint64_t b, uint64_t c) {
  return select_2019(f, select_2019(f, a, b, false), c, false);
}
uint64_t most3_2019(Format f, bool, uint64_t a, uint64_t b, uint64_t c) {
  return select_2019(f, select_2019(f, a, b, true), c, true);
}

template <Type T>
constexpr std::span<const Type> two = types<T, T>;
template <Type T>
constexpr std::span<const Type> three = types<T, T, T>;
constexpr Type H = Type::F16, S = Type::F32, D = Type::F64;
constexpr Tolerance nan16 = any_nan(H), nan32 = any_nan(S), nan64 = any_nan(D);

constexpr Operation table[] = {
    {"v_add_f16", H, two<H>, add<H>, nan16},
    {"v_add_f32", S, two<S>, add<S>, nan32},
    {"v_add_f64", D, two<D>, add<D>, nan64},
    {"v_sub_f16", H, two<H>, subtract<H>, nan16},
    {"v_sub_f32", S, two<S>, subtract<S>, nan32},
    {"v_subrev_f16", H, two<H>, subtract_from<H>, nan16},
    {"v_subrev_f32", S, two<S>, subtract_from<S>, nan32},
    {"v_mul_f16", H, two<H>, times<H>, nan16},
    {"v_mul_f32", S, two<S>, times<S>, nan32},
    {"v_mul_f64", D, two<D>, times<D>, nan64},
    {"v_mul_legacy_f32", S, two<S>, times_legacy, nan32},
    {"v_fma_f16", H, three<H>, fma<H>, nan16},
    {"v_fma_legacy_f16", H, three<H>, fma<H>, nan16},
    {"v_fma_f32", S, three<S>, fma<S>, nan32},
    {"v_fma_f64", D, three<D>, fma<D>, nan64},
    {"v_fmac_f32", S, two<S>, fmac<S>, nan32},
    {"v_fmac_f64", D, two<D>, fmac<D>, nan64},
    {"v_fmaak_f32", S, two<S>, fmaak<S>, nan32},
    {"v_fmamk_f32", S, two<S>, fmamk<S>, nan32},
    {"v_mad_f32", S, three<S>, unfused<S>, nan32},
    {"v_mac_f32", S, two<S>, mac<S>, nan32},
    {"v_madak_f32", S, two<S>, madak<S>, nan32},
    {"v_madmk_f32", S, two<S>, madmk<S>, nan32},
    {"v_mad_legacy_f32", S, three<S>, mad_legacy, nan32},
    {"v_mad_f16", H, three<H>, unfused<H>, nan16},
    {"v_mad_legacy_f16", H, three<H>, unfused<H>, nan16},
    {"v_mac_f16", H, two<H>, mac<H>, nan16},
    {"v_madak_f16", H, two<H>, madak<H>, nan16},
    {"v_madmk_f16", H, two<H>, madmk<H>, nan16},
    {"v_min_f16", H, two<H>, selection<H, least>, nan16},
    {"v_min_f32", S, two<S>, selection<S, least>, nan32},
    {"v_min_f64", D, two<D>, selection<D, least>, nan64},
    {"v_max_f16", H, two<H>, selection<H, most>, nan16},
    {"v_max_f32", S, two<S>, selection<S, most>, nan32},
    {"v_max_f64", D, two<D>, selection<D, most>, nan64},
    {"v_min3_f16", H, three<H>, selection<H, least3>, nan16},
    {"v_min3_f32", S, three<S>, selection<S, least3>, nan32},
    {"v_max3_f16", H, three<H>, selection<H, most3>, nan16},
    {"v_max3_f32", S, three<S>, selection<S, most3>, nan32},
    {"v_med3_f16", H, three<H>, selection<H, median>, nan16},
    {"v_med3_f32", S, three<S>, selection<S, median>, nan32},
    {"v_minimum3_f32", S, three<S>, selection<S, least3_2019>, nan32},
    {"v_maximum3_f32", S, three<S>, selection<S, most3_2019>, nan32},
};

} // namespace

uint64_t float_minimum(Format f, bool ieee, uint64_t a, uint64_t b) {
  return select(f, ieee, a, b, false);
}
uint64_t float_maximum(Format f, bool ieee, uint64_t a, uint64_t b) {
  return select(f, ieee, a, b, true);
}
uint64_t float_minimum_2019(Format f, uint64_t a, uint64_t b) {
  return select_2019(f, a, b, false);
}
uint64_t float_maximum_2019(Format f, uint64_t a, uint64_t b) {
  return select_2019(f, a, b, true);
}

std::span<const Operation> float_operations() {
  return table;
}

} // namespace asmevo::reference
