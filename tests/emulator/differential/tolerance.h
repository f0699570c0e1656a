// When two results count as the same: NaNs of any payload, some places of transcendental functions.
#pragma once

#include "emulator/reference/real.h"
#include "emulator/reference/state.h"

#include <algorithm>

namespace asmevo::differential {

inline bool both_nan(reference::Format f, uint64_t a, uint64_t b) {
  return is_nan(f, a) && is_nan(f, b);
}
/// At most two places apart, or one of the two beyond the range of normal numbers and the other at its end.
inline bool within_places(reference::Format f, uint64_t a, uint64_t b) {
  constexpr int64_t places = 2;
  const auto ordered = [&](uint64_t v) {
    const auto size = static_cast<int64_t>(v & (f.sign_bit() - 1));
    return (v & f.sign_bit()) != 0 ? -size : size;
  };
  const int64_t apart = ordered(a) - ordered(b);
  if (apart >= -places && apart <= places) return true;
  const auto denormal = [&](uint64_t v) { return (v & f.infinity()) == 0; };
  const auto least = static_cast<int64_t>(uint64_t{1} << f.fraction_bits);
  // A result next to the least normal number may be flushed or not.
  return (denormal(a) || denormal(b)) &&
         std::max(std::abs(ordered(a)), std::abs(ordered(b))) <= least + places;
}

/// `a`, `b`: 32 bits, or 64 for f64.
inline bool tolerated(reference::Tolerance t, uint64_t a, uint64_t b) {
  using reference::Tolerance;
  using namespace reference;
  const auto halves = [&](Format f) {
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const uint64_t x = a >> shift & 0xffff, y = b >> shift & 0xffff;
      if (x != y && !both_nan(f, x, y)) return false;
    }
    return true;
  };
  switch (t) {
  case Tolerance::None: return a == b;
  case Tolerance::NanHalf: return halves(f16);
  case Tolerance::NanBfloat: return halves(bf16);
  case Tolerance::NanFloat: return both_nan(f32, a, b);
  case Tolerance::NanDouble: return both_nan(f64, a, b);
  case Tolerance::UlpHalf:
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const uint64_t x = a >> shift & 0xffff, y = b >> shift & 0xffff;
      if (x != y && !both_nan(f16, x, y) && (is_nan(f16, x) || is_nan(f16, y) || !within_places(f16, x, y)))
        return false;
    }
    return true;
  case Tolerance::UlpFloat:
    return both_nan(f32, a, b) || (!is_nan(f32, a) && !is_nan(f32, b) && within_places(f32, a, b));
  case Tolerance::Any: return true;
  case Tolerance::UlpDouble:
    return both_nan(f64, a, b) || (!is_nan(f64, a) && !is_nan(f64, b) && within_places(f64, a, b));
  }
  return false;
}
inline bool is_double(reference::Tolerance t) {
  return t == reference::Tolerance::NanDouble || t == reference::Tolerance::UlpDouble;
}

} // namespace asmevo::differential
