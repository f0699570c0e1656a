#include "oracle/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace asmevo::oracle {

namespace {

using Kind = ElementType::Kind;
using Specials = ElementType::Specials;

constexpr ElementType table[] = {
    {"f64", Kind::Float, 64, 11, 52, 1023, Specials::Ieee},
    {"f32", Kind::Float, 32, 8, 23, 127, Specials::Ieee},
    {"f16", Kind::Float, 16, 5, 10, 15, Specials::Ieee},
    {"bf16", Kind::Float, 16, 8, 7, 127, Specials::Ieee},
    {"fp8_e4m3", Kind::Float, 8, 4, 3, 7, Specials::Ocp},
    {"fp8_e5m2", Kind::Float, 8, 5, 2, 15, Specials::Ieee},
    {"fp8_e4m3fnuz", Kind::Float, 8, 4, 3, 8, Specials::Fnuz},
    {"fp8_e5m2fnuz", Kind::Float, 8, 5, 2, 16, Specials::Fnuz},
    {"fp6_e2m3", Kind::Float, 6, 2, 3, 1, Specials::None},
    {"fp6_e3m2", Kind::Float, 6, 3, 2, 3, Specials::None},
    {"fp4_e2m1", Kind::Float, 4, 2, 1, 1, Specials::None},
    {"e8m0", Kind::Float, 8, 8, 0, 127, Specials::Scale},
    {"i64", Kind::Signed, 64},
    {"i32", Kind::Signed, 32},
    {"i16", Kind::Signed, 16},
    {"i8", Kind::Signed, 8},
    {"i4", Kind::Signed, 4},
    {"u64", Kind::Unsigned, 64},
    {"u32", Kind::Unsigned, 32},
    {"u16", Kind::Unsigned, 16},
    {"u8", Kind::Unsigned, 8},
    {"u4", Kind::Unsigned, 4},
    {"ptr", Kind::Unsigned, 64},
    {"opaque", Kind::Opaque, 8},
};
constexpr uint32_t most_opaque_bytes = 4096;

uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Codes of a small float (sign aside).
struct Codes {
  uint64_t sign, infinity, largest, nan;

  explicit Codes(const ElementType& t) {
    const uint64_t all = low_bits(t.exponent_bits + t.mantissa_bits);
    sign = t.specials == Specials::Scale ? 0 : all + 1;
    infinity = all ^ low_bits(t.mantissa_bits);
    switch (t.specials) {
    case Specials::Ieee:
      largest = infinity - 1;
      nan = infinity | (low_bits(t.mantissa_bits) + 1) / 2; // quiet: the highest bit of the mantissa
      break;
    case Specials::Ocp:
    case Specials::Scale: largest = all - 1, nan = all; break;
    case Specials::Fnuz: largest = all, nan = sign; break;
    case Specials::None: largest = nan = all; break;
    }
  }
};

// e8m0 has no mantissa and no zero: the nearest power of two, ties (in the exponent's middle) to the even
// exponent.
uint64_t encode_scale(double value) {
  if (std::isnan(value)) return 0xff;
  if (!(value > 0)) return 0;
  const double exponent = std::nearbyint(std::log2(value));
  return static_cast<uint64_t>(std::clamp(exponent + 127, 0.0, 254.0));
}

uint64_t encode_small(const ElementType& t, double value) {
  if (t.specials == Specials::Scale) return encode_scale(value);
  const Codes codes(t);
  const uint64_t sign = std::signbit(value) ? codes.sign : 0;
  if (std::isnan(value)) return codes.nan;
  if (std::isinf(value)) {
    if (t.specials == Specials::Ieee) return sign | codes.infinity;
    return t.specials == Specials::None ? sign | codes.largest : codes.nan;
  }
  // The code of a finite number is its mantissa in units of the last place, plus the exponent above it:
  // rounding up carries into the exponent by itself.
  const double size = std::fabs(value);
  const int least = 1 - t.bias;
  const int exponent = std::max(size == 0 ? least : std::ilogb(size), least);
  const double units = std::nearbyint(std::ldexp(size, t.mantissa_bits - exponent)); // ties to even
  uint64_t code = static_cast<uint64_t>(units);
  if (code >> t.mantissa_bits != 0) code += static_cast<uint64_t>(exponent - least) << t.mantissa_bits;
  code = std::min(code, codes.largest);
  if (t.specials == Specials::Fnuz && code == 0) return 0; // minus zero is NaN there
  return sign | code;
}

double decode_small(const ElementType& t, uint64_t code) {
  const Codes codes(t);
  code &= low_bits(t.bits);
  if (t.specials == Specials::Scale)
    return code == 0xff ? std::numeric_limits<double>::quiet_NaN()
                        : std::ldexp(1.0, static_cast<int>(code) - 127);
  const uint64_t size = code & (codes.sign - 1);
  const bool negative = (code & codes.sign) != 0;
  if (t.specials == Specials::Fnuz && code == codes.sign) return std::numeric_limits<double>::quiet_NaN();
  if (size > codes.largest)
    return t.specials == Specials::Ieee && size == codes.infinity
               ? (negative ? -1 : 1) * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  const auto exponent = static_cast<int>(size >> t.mantissa_bits);
  const uint64_t mantissa = size & low_bits(t.mantissa_bits);
  const double units =
      static_cast<double>(exponent == 0 ? mantissa : mantissa | uint64_t{1} << t.mantissa_bits);
  const double value = std::ldexp(units, std::max(exponent, 1) - t.bias - t.mantissa_bits);
  return negative ? -value : value;
}

} // namespace

std::span<const ElementType> element_types() {
  return table;
}

Result<ElementType> element_type(std::string_view name) {
  for (const ElementType& t : table)
    if (t.name == name) return t;
  constexpr std::string_view opaque = "opaque";
  if (name.starts_with(opaque)) {
    uint32_t bytes = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + opaque.size(), end, bytes);
    if (parsed.ec == std::errc{} && parsed.ptr == end && bytes >= 1 && bytes <= most_opaque_bytes)
      return ElementType{opaque, Kind::Opaque, bytes * 8};
  }
  if (name == "fp8" || name == "bf8" || name == "fp4")
    return bad_input("'{}' is not exact enough: {}", name,
                     name == "fp4"   ? "fp4_e2m1"
                     : name == "fp8" ? "fp8_e4m3fnuz (gfx942) or fp8_e4m3 (OCP, gfx950)"
                                     : "fp8_e5m2fnuz (gfx942) or fp8_e5m2 (OCP, gfx950)");
  std::string known;
  for (const ElementType& t : table) known += fmt::format(" {}", t.name);
  return bad_input("unknown dtype '{}'; known:{} opaqueN", printable(name), known);
}

std::string name_of(const ElementType& t) {
  if (t.is_opaque() && t.bits != 8) return fmt::format("{}{}", t.name, t.bits / 8);
  return std::string(t.name);
}

uint64_t encode(const ElementType& t, double value) {
  switch (t.kind) {
  case Kind::Float:
    if (t.bits == 64) return std::bit_cast<uint64_t>(value);
    if (t.bits == 32 && std::fabs(value) <= std::numeric_limits<float>::max())
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    return encode_small(t, value);
  case Kind::Signed: {
    if (std::isnan(value)) return 0;
    const double limit = std::ldexp(1.0, static_cast<int>(t.bits) - 1);
    if (value >= limit) return low_bits(t.bits - 1);
    if (value <= -limit) return uint64_t{1} << (t.bits - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & low_bits(t.bits);
  }
  case Kind::Unsigned:
    if (std::isnan(value) || value <= 0) return 0;
    if (value >= std::ldexp(1.0, static_cast<int>(t.bits))) return low_bits(t.bits);
    return static_cast<uint64_t>(value);
  case Kind::Opaque: break;
  }
  return std::isnan(value) || value <= 0 ? 0 : static_cast<uint64_t>(std::min(value, 255.0));
}

double decode(const ElementType& t, uint64_t code) {
  switch (t.kind) {
  case Kind::Float:
    if (t.bits == 64) return std::bit_cast<double>(code);
    if (t.bits == 32) return std::bit_cast<float>(static_cast<uint32_t>(code));
    return decode_small(t, code);
  case Kind::Signed: return static_cast<double>(decode_integer(t, code));
  case Kind::Unsigned:
  case Kind::Opaque: break;
  }
  return static_cast<double>(code & low_bits(t.bits));
}

Result<uint64_t> encode_integer(const ElementType& t, int64_t value) {
  const bool fits =
      t.kind == Kind::Signed
          ? t.bits == 64 || (value >= -(int64_t{1} << (t.bits - 1)) && value < int64_t{1} << (t.bits - 1))
          : value >= 0 && (t.bits >= 64 || static_cast<uint64_t>(value) <= low_bits(t.bits));
  if (!fits) return bad_input("{} does not fit in {}", value, name_of(t));
  return static_cast<uint64_t>(value) & low_bits(t.bits);
}

int64_t decode_integer(const ElementType& t, uint64_t code) {
  code &= low_bits(t.bits);
  if (t.kind != Kind::Signed || t.bits >= 64) return static_cast<int64_t>(code);
  const unsigned unused = 64 - t.bits;
  return static_cast<int64_t>(code << unused) >> unused;
}

std::string show(const ElementType& t, uint64_t code) {
  switch (t.kind) {
  case Kind::Float:
    if (t.bits == 32) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(code)));
    if (t.bits == 64) return fmt::format("{}", std::bit_cast<double>(code));
    return fmt::format("{:.6g}", decode_small(t, code));
  case Kind::Signed: return fmt::format("{}", decode_integer(t, code));
  case Kind::Unsigned:
    if (t.name == "ptr") return fmt::format("{:#x}", code);
    return fmt::format("{}", code & low_bits(t.bits));
  case Kind::Opaque: break;
  }
  return fmt::format("{:02x}", code);
}

uint8_t poison_byte(const ElementType& t) {
  if (!t.is_float()) return 0xa5;
  return t.specials == Specials::Fnuz ? 0x80 : 0xff;
}

} // namespace asmevo::oracle
