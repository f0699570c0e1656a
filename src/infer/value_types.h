// What an instruction says of the values it reads and gives: v_cvt_f32_f16 reads a half-precision number and
// gives a single-precision one, v_perm_b32 moves bytes whatever they are. Told from the mnemonic.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace asmevo::infer {

enum class ValueType : uint8_t {
  None, // nothing is known, or it does not matter
  F64,
  F32,
  F16,
  Bf16,
  Fp8, // e4m3, of the target's kind
  Bf8, // e5m2
  Fp6,
  Bf6,
  Fp4,
  I64,
  U64,
  I32,
  U32,
  I16,
  U16,
  I8,
  U8,
  I4,
  U4,
  Pointer,
};
inline constexpr size_t value_type_count = static_cast<size_t>(ValueType::Pointer) + 1;

bool is_float(ValueType);
bool is_integer(ValueType);
unsigned bits_of(ValueType); // 0: None
/// As the launch spec writes it; fp8 differs between targets.
std::string_view dtype_of(ValueType, isa::Gfx);

/// What happens to the bits of the sources.
enum class Operation : uint8_t {
  Other,   // results have nothing to do with the sources' bits
  Move,    // results are sources as they are: moves, selections, lane exchanges
  Bits,    // bits of the sources, shifted, masked and put together
  Add,     // integers; addresses are made of it
  Compute, // values in, other values out
};

struct ValueUse {
  Operation operation = Operation::Other;
  std::array<ValueType, 5> source{}; // by Role::Src0 to Src4
  ValueType result = ValueType::None;
};

ValueUse value_use(const isa::Instruction&);

/// The type an atomic in memory works on; None for others.
ValueType atomic_type(const isa::Instruction&);

} // namespace asmevo::infer
