#include "infer/given_value.h"

#include "infer/argument_facts.h"
#include "oracle/element_types.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace asmevo::infer {

namespace {

// "12", "-3", "0x1f" as 64 bits; none: something else, or too large.
std::optional<uint64_t> integer_in(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  constexpr uint64_t most_negative = uint64_t{1} << 63;
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end || (negative && value > most_negative))
    return std::nullopt;
  return negative ? ~value + 1 : value;
}

// What a number with a fraction is taken for in so many bytes; None: there is no such type.
ValueType float_of(uint64_t bytes) {
  switch (bytes) {
  case 8: return ValueType::F64;
  case 4: return ValueType::F32;
  case 2: return ValueType::F16;
  default: return ValueType::None;
  }
}

} // namespace

uint64_t float_bits(ValueType type, double value, isa::Gfx gfx) {
  const auto element = oracle::element_type(dtype_of(type, gfx));
  return element ? oracle::encode(*element, value) : 0;
}

Result<GivenValue> GivenValue::parse(const std::string& argument, const std::string& text) {
  GivenValue v;
  v.argument_ = argument;
  v.text_ = text;
  char* end = nullptr;
  v.number_ = std::strtod(text.c_str(), &end);
  const bool skipped = !text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0;
  if (text.empty() || skipped || end != text.c_str() + text.size())
    return bad_input("--set {}: '{}' is no number", printable(argument), printable(text));
  if (!std::isfinite(v.number_))
    return bad_input("--set {}: '{}' is no finite number", printable(argument), printable(text));
  const auto integer = integer_in(text);
  v.whole_ = integer.has_value();
  v.bits_ = integer.value_or(0);
  return v;
}

bool GivenValue::fits(ValueType type, isa::Gfx gfx) const {
  if (is_integer(type)) {
    if (!whole_) return false;
    const unsigned bits = bits_of(type);
    if (number_ < 0) return bits == 64 || static_cast<int64_t>(bits_) >= -(int64_t{1} << (bits - 1));
    return bits == 64 || bits_ >> bits == 0;
  }
  const auto element = oracle::element_type(dtype_of(type, gfx));
  if (!is_float(type) || !element) return false;
  const double largest =
      oracle::decode(*element, oracle::encode(*element, std::numeric_limits<double>::max()));
  return std::abs(number_) <= largest;
}

uint64_t GivenValue::encoded(ValueType type, uint64_t bytes, isa::Gfx gfx) const {
  if (!whole_ && !is_float(type)) type = float_of(bytes);
  if (is_float(type)) return float_bits(type, number_, gfx);
  return bytes >= 8 ? bits_ : bits_ & ((uint64_t{1} << 8 * bytes) - 1);
}

Status GivenValue::check(ValueType type, isa::Gfx gfx) const {
  if (fits(type, gfx)) return {};
  return bad_input("--set {}: '{}' is no {}, which the kernel takes it for", printable(argument_),
                   printable(text_), dtype_of(type, gfx));
}

Result<GivenValues> pin(const std::map<std::string, std::string>& values, KernargFields& fields) {
  GivenValues given;
  for (const auto& [name, text] : values) {
    const auto at = std::ranges::find(fields.fields(), name, &KernargField::name);
    if (at == fields.fields().end()) {
      std::string names;
      for (const KernargField& f : fields.fields()) names += (names.empty() ? "" : ", ") + f.name;
      return bad_input("--set: no argument '{}'; there are {}", printable(name), printable(names, 400));
    }
    ASMEVO_TRY(GivenValue value, GivenValue::parse(name, text));
    at->pinned = !at->pointer;
    given.emplace(at->offset, std::move(value));
  }
  return given;
}

void apply(const GivenValues& given, KernargFields& fields, const Observations& seen, isa::Gfx gfx) {
  for (const auto& [offset, value] : given) {
    const auto at = std::ranges::find(fields.fields(), offset, &KernargField::offset);
    if (at == fields.fields().end() || at->pointer) continue;
    at->value = value.encoded(type_of_scalar(seen, offset, at->size).type, at->size, gfx);
  }
}

Status check(const GivenValues& given, const KernargFields& fields, const Observations& seen, isa::Gfx gfx) {
  for (const auto& [offset, value] : given) {
    const std::string argument = printable(value.argument());
    const auto at = std::ranges::find(fields.fields(), offset, &KernargField::offset);
    if (at == fields.fields().end())
      return bad_input("--set {}: the kernel takes it for the upper half of a pointer", argument);
    if (at->pointer) {
      const ValueType type = type_of_region(seen, at->region).type;
      if (!value.whole()) return bad_input("--set {}: elements of a buffer are integers", argument);
      if (type != ValueType::None && type != ValueType::Pointer) ASMEVO_CHECK(value.check(type, gfx));
      continue;
    }
    const TypeFacts facts = type_of_scalar(seen, offset, at->size);
    const bool guessed = facts.confidence == Confidence::Low && !value.whole();
    ASMEVO_CHECK(value.check(guessed ? float_of(at->size) : facts.type, gfx));
  }
  return {};
}

} // namespace asmevo::infer
