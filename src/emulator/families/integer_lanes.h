// How integer instructions that can saturate are written: once, as a function that gives the exact result in
// a wider type. Without clamp its low bits are the result, with clamp the nearest value that the result's
// type has:
//
//   saturating<int32_t, [](int32_t a, int32_t b) { return int64_t{a} + b; }>("v_add_i32"),
#pragma once

#include "emulator/lanes.h"

#include <limits>

namespace asmevo::emulator {

template <class R, class Wide>
constexpr R saturate(Wide exact) {
  constexpr Wide low = std::numeric_limits<R>::min(), high = std::numeric_limits<R>::max();
  return static_cast<R>(exact < low ? low : exact > high ? high : exact);
}

/// F's result made an R, in both ways.
template <class R, auto F, class Arguments = typename SignatureOf<F>::Arguments>
struct Narrowed;
template <class R, auto F, class... A>
struct Narrowed<R, F, std::tuple<A...>> {
  static constexpr R wrapped(A... a) { return static_cast<R>(F(a...)); }
  static constexpr R saturated(A... a) { return saturate<R>(F(a...)); }
};

template <class R, auto F>
constexpr OpcodeRow saturating(std::string_view mnemonic) {
  using N = Narrowed<R, F>;
  return {mnemonic, lanewise<N::wrapped>, lanewise<N::saturated>};
}

/// Bits `shift` + `bits` - 1 to `shift` of a value.
template <unsigned bits>
constexpr uint32_t unsigned_part(uint32_t value, unsigned shift) {
  return value >> shift & ((1U << bits) - 1);
}
template <unsigned bits>
constexpr int32_t signed_part(uint32_t value, unsigned shift) {
  return static_cast<int32_t>(value << (32 - bits - shift)) >> (32 - bits);
}

template <class T>
constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
constexpr T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

} // namespace asmevo::emulator
