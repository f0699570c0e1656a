// The element types of buffers and scalar arguments, to and from numbers. Elements of 4 and 6 bits lie
// packed, the first in the lowest bits.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace asmevo::oracle {

struct ElementType {
  enum class Kind : uint8_t { Float, Signed, Unsigned, Opaque };
  /// What the codes with the largest exponent of a float are.
  enum class Specials : uint8_t {
    Ieee, // infinities and NaNs
    Ocp,  // e4m3 of the OCP 8-bit format: NaN only where exponent and mantissa are all ones
    Fnuz, // NaN is the code of minus zero
    None, // numbers only
    Scale // e8m0: unsigned powers of two; all ones is NaN
  };

  std::string_view name;
  Kind kind = Kind::Opaque;
  uint32_t bits = 8;
  uint8_t exponent_bits = 0, mantissa_bits = 0;
  int16_t bias = 0;
  Specials specials = Specials::Ieee;

  bool is_float() const { return kind == Kind::Float; }
  bool is_integer() const { return kind == Kind::Signed || kind == Kind::Unsigned; }
  bool is_opaque() const { return kind == Kind::Opaque; }
  /// Elements start and end at bytes.
  bool whole_bytes() const { return bits % 8 == 0; }
  friend bool operator==(const ElementType& a, const ElementType& b) {
    return a.name == b.name && a.bits == b.bits;
  }
};

/// All types with a name of their own.
std::span<const ElementType> element_types();

/// By name: f64 f32 f16 bf16 fp8_e4m3 fp8_e5m2 (OCP) fp8_e4m3fnuz fp8_e5m2fnuz fp6_e2m3 fp6_e3m2 fp4_e2m1
/// e8m0 i64 i32 i16 i8 i4 u64 u32 u16 u8 u4, ptr (u64), and opaqueN: N bytes without meaning (opaque: 1).
/// BadInput names them.
Result<ElementType> element_type(std::string_view name);
/// As the name stands in a launch spec; "opaque16" for opaque types of several bytes.
std::string name_of(const ElementType&);

/// The code of the nearest number, ties to even. What is too large becomes the largest finite number;
/// infinities stay where there are any, else NaN, else the largest. Integers: cut towards zero and clamped.
uint64_t encode(const ElementType&, double value);
double decode(const ElementType&, uint64_t code);

/// Exact for all of 64 bits. BadInput: outside the range of the type.
Result<uint64_t> encode_integer(const ElementType&, int64_t value);
/// Of an integer type, sign-extended.
int64_t decode_integer(const ElementType&, uint64_t code);

/// The code as text: numbers in the shortest form that reads back as the same, opaque as hex.
std::string show(const ElementType&, uint64_t code);

/// What memory that nobody has written is filled with: NaNs where the type has them, so that they show.
uint8_t poison_byte(const ElementType&);

} // namespace asmevo::oracle
