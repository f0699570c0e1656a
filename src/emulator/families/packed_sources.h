// Sources of VOP3P instructions: pairs of 16-bit values in 32 bits, or pairs of 32-bit values in 64. op_sel
// says which half of a source goes into the low result, op_sel_hi which into the high one; neg_lo and neg_hi
// negate them.
#pragma once

#include "emulator/lanes.h"

#include <array>

namespace asmevo::emulator {

/// 16-bit values in memory order: lane l's low half is element 2 * l, its high half 2 * l + 1.
template <class T>
using Halves = std::array<T, size_t{2} * lanes>;

/// A source's register, or its scalar or constant in every lane of `buffer`.
inline const uint32_t* plain_row(const Wave& wave, const Place& p, Row& buffer) {
  if (p.vector()) return wave.vectors[p.index].lane;
  const uint32_t value = wave.scalar32(p);
  for (uint32_t& v : buffer.lane) v = value;
  return buffer.lane;
}

/// Two 16-bit values a lane, chosen and negated as the instruction says. Sources of other encodings than
/// VOP3P (DPP, SDWA) come as they are.
inline const uint32_t* pair_source(Wave& wave, const MicroOp& op, unsigned index, bool is_float,
                                   SourceBuffer& buffer) {
  if (op.instruction->family != isa::Family::Vop3p) return fetch<uint32_t>(wave, op, index, buffer).low;
  const isa::Modifiers& m = op.mods();
  const auto bit = [&](unsigned mask) { return mask >> index & 1; };
  const uint32_t* from = plain_row(wave, op.source[index], buffer.low);
  const unsigned low_shift = 16 * bit(m.op_sel), high_shift = 16 * bit(m.op_sel_hi);
  const uint32_t flip = is_float ? bit(m.neg) << 15 | bit(m.neg_hi) << 31 : 0;
  if (low_shift == 0 && high_shift == 16 && flip == 0) [[likely]]
    return from;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t v = from[l];
    buffer.low.lane[l] = ((v >> low_shift & 0xffff) | v >> high_shift << 16) ^ flip;
  }
  return buffer.low.lane;
}

template <class T>
Halves<T> as_halves(const uint32_t* row) {
  Halves<T> halves;
  __builtin_memcpy(halves.data(), row, sizeof halves);
  return halves;
}

/// Writes pairs of 16-bit results, under EXEC and whatever the encoding has beside (DPP, SDWA).
template <class T>
void write_halves(Wave& wave, const MicroOp& op, const Halves<T>& halves) {
  Results<uint32_t> results;
  results.low = std::bit_cast<Row>(halves);
  write_result(wave, op, results);
}

/// The result of a clamped float operation.
inline float clamp_to_unit(float value, bool dx10_clamp) {
  // By the sign: MXCSR may take a denormal for 0.
  const float not_nan = value > 1 ? 1.0F : std::bit_cast<uint32_t>(value) >> 31 != 0 ? 0.0F : value;
  return value == value ? not_nan : dx10_clamp ? 0.0F : value;
}

} // namespace asmevo::emulator
