// One lane of a vector ALU instruction: its operands with everything the encoding does to them, and where its
// result goes. An instruction is a function of up to three values, each as bits.
#pragma once

#include "emulator/reference/real.h"
#include "emulator/reference/state.h"

#include <optional>
#include <span>

namespace asmevo::reference {

enum class Type : uint8_t { F16, F32, F64, I16, U16, I32, U32, I64, U64 };

constexpr bool is_float(Type t) {
  return t <= Type::F64;
}
constexpr bool is_wide(Type t) {
  return t == Type::F64 || t == Type::I64 || t == Type::U64;
}
constexpr bool is_narrow(Type t) {
  return t == Type::F16 || t == Type::I16 || t == Type::U16;
}
constexpr Format format(Type t) {
  return t == Type::F16 ? f16 : t == Type::F32 ? f32 : f64;
}

/// What a lane's function may ask for.
struct Lane {
  const isa::Instruction& instruction;
  State& state;
  unsigned number = 0;

  Mode mode() const { return {state.mode}; }
  /// MODE's fields for a type: 16-bit and 64-bit floats share one set.
  Rules rules(Type t) const;
  bool clamp() const { return instruction.mods.clamp; }
  /// An integer result: all of it, or the nearest that the type has where clamp is set.
  uint64_t fit(Type t, Signed value) const;
};

using Function = uint64_t (*)(const Lane&, uint64_t a, uint64_t b, uint64_t c);

struct Operation {
  std::string_view mnemonic;
  Type result = Type::U32;
  std::span<const Type> sources;
  Function run = nullptr;
  Tolerance tolerance = Tolerance::None;
};

/// The value of a scalar or constant operand of `dwords`.
uint64_t scalar_operand(const State&, const isa::Instruction&, unsigned source, unsigned dwords);
uint64_t scalar_value(const State&, const isa::Operand&, unsigned dwords);

/// Which lane DPP has this lane read its first source from; none: outside the row, or an inactive one.
std::optional<unsigned> dpp_lane(const isa::Instruction&, const State&, unsigned lane);
/// Whether DPP lets the lane be written, EXEC apart.
bool dpp_writes(const isa::Instruction&, const State&, unsigned lane);

/// Source `n` with neg, abs, sext, op_sel, SDWA and DPP.
uint64_t source(const Lane&, unsigned n, Type);
/// The bits of a source as they stand in the registers, for those that read them in their own way.
uint64_t raw_source(const Lane&, unsigned n, unsigned dwords);

/// omod, clamp, and the place in the register. `row` is the first of the destination.
uint64_t finished(const Lane&, Type, uint64_t value);
void place(const Lane&, Type, uint64_t value, std::array<uint32_t, 2>& rows);

/// All lanes of a plain operation.
void run_operation(const Operation&, const isa::Instruction&, State&);
/// A comparison's mask: bit l is what `test` says of lane l, 0 in inactive lanes.
using Test = bool (*)(const Lane&, uint64_t a, uint64_t b);

constexpr int64_t sign_extended(uint64_t value, unsigned bits) {
  if (bits == 0) return 0;
  return bits >= 64 ? static_cast<int64_t>(value) : static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

} // namespace asmevo::reference
