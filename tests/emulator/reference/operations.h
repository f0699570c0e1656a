// The tables of plain lane operations, and what they share.
#pragma once

#include "emulator/reference/lane.h"

namespace asmevo::reference {

std::span<const Operation> float_operations();
std::span<const Operation> float_part_operations(); // rounding to integers, exponents, fixups, cube maps
std::span<const Operation> transcendental_operations();
std::span<const Operation> convert_operations();
std::span<const Operation> integer_operations();
std::span<const Operation> bit_operations();

template <Type... T>
inline constexpr Type types[] = {T...};

/// Which NaN a float result is stays open.
constexpr Tolerance any_nan(Type t) {
  return t == Type::F16 ? Tolerance::NanHalf : t == Type::F32 ? Tolerance::NanFloat : Tolerance::NanDouble;
}

template <Type T>
Real number(const Lane& l, uint64_t bits) {
  return unpack(format(T), bits, l.rules(T).keeps_inputs);
}
template <Type T>
uint64_t round_to(const Lane& l, const Real& value) {
  return pack(format(T), value, l.rules(T));
}

/// What the destination register held (narrow: the half that is written).
inline uint64_t destination(const Lane& l, Type t) {
  const isa::Operand* to = l.instruction.find(isa::Role::Vdst);
  if (is_wide(t)) return l.state.vector64(to->reg.first, l.number);
  const uint32_t row = l.state.vectors[to->reg.first][l.number];
  return is_narrow(t) ? row & 0xffff : row;
}
/// The constant in an instruction's last dword.
inline uint64_t literal(const Lane& l, Type t) {
  const uint64_t value = l.instruction.words[l.instruction.dwords - 1U];
  return is_narrow(t) ? value & 0xffff : value;
}

// Minimum and maximum as the pseudocode of V_MIN_F32 and V_MAX_F32 has them; `ieee`: signalling NaNs win.
uint64_t float_minimum(Format, bool ieee, uint64_t a, uint64_t b);
uint64_t float_maximum(Format, bool ieee, uint64_t a, uint64_t b);
/// IEEE 754-2019's: a NaN wins.
uint64_t float_minimum_2019(Format, uint64_t a, uint64_t b);
uint64_t float_maximum_2019(Format, uint64_t a, uint64_t b);

} // namespace asmevo::reference
