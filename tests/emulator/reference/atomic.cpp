#include "emulator/reference/atomic.h"

#include "emulator/reference/lane.h"

#include <string>

namespace asmevo::reference {

namespace {

struct Name {
  std::string_view name;
  AtomicOp op;
};
constexpr Name integers[] = {
    {"add", AtomicOp::Add},
    {"sub", AtomicOp::Sub},
    {"rsub", AtomicOp::Rsub},
    {"inc", AtomicOp::Inc},
    {"dec", AtomicOp::Dec},
    {"smin", AtomicOp::SMin},
    {"smax", AtomicOp::SMax},
    {"umin", AtomicOp::UMin},
    {"umax", AtomicOp::UMax},
    {"and", AtomicOp::And},
    {"or", AtomicOp::Or},
    {"xor", AtomicOp::Xor},
    {"swap", AtomicOp::Swap},
    {"cmpswap", AtomicOp::CompareSwap},
    {"wrxchg", AtomicOp::Swap},
    {"mskor", AtomicOp::MaskOr},
    {"cmpst", AtomicOp::CompareStore},
    {"wrap", AtomicOp::Wrap},
};

std::optional<AtomicOp> integer_named(std::string_view name) {
  for (const Name& n : integers)
    if (n.name == name) return n.op;
  return std::nullopt;
}

unsigned operands_of(AtomicOp op) {
  switch (op) {
  case AtomicOp::CompareSwap:
  case AtomicOp::CompareStore:
  case AtomicOp::MaskOr:
  case AtomicOp::Wrap:
  case AtomicOp::FloatCompareStore: return 2;
  default: return 1;
  }
}

std::optional<Atomic> float_named(std::string_view name, std::string_view type) {
  const bool wide = type == "f64";
  Atomic a{.bytes = wide ? 8U : 4U, .tolerance = wide ? Tolerance::NanDouble : Tolerance::NanFloat};
  if (type != "f32" && !wide) {
    if (name != "pk_add" || (type != "f16" && type != "bf16")) return std::nullopt;
    a.op = type == "f16" ? AtomicOp::AddHalves : AtomicOp::AddBfloats;
    a.tolerance = type == "f16" ? Tolerance::NanHalf : Tolerance::NanBfloat;
    return a;
  }
  if (name == "add")
    a.op = AtomicOp::FloatAdd;
  else if (name == "min")
    a.op = AtomicOp::FloatMin;
  else if (name == "max")
    a.op = AtomicOp::FloatMax;
  else if (name == "cmpst")
    a.op = AtomicOp::FloatCompareStore;
  else
    return std::nullopt;
  a.operands = operands_of(a.op);
  return a;
}

// --- floats: to nearest even, whatever MODE says

uint64_t add_parts(Format f, const AtomicRules& r, uint64_t old, uint64_t data) {
  const Rules rules{.keeps_inputs = !r.flushes_inputs, .keeps_outputs = !r.flushes_outputs};
  const auto part = [&](unsigned shift) {
    return sum(f, old >> shift & 0xffff, data >> shift & 0xffff, rules) << shift;
  };
  return part(0) | part(16);
}

// -0 is below +0; a signalling NaN wins, a quiet one loses.
uint64_t chosen(Format f, const AtomicRules& r, uint64_t old, uint64_t data, bool most) {
  if (is_signalling(f, old)) return old | f.quiet_bit();
  if (is_signalling(f, data)) return data | f.quiet_bit();
  if (is_nan(f, old)) return data;
  if (is_nan(f, data)) return old;
  const uint64_t a = flushed(f, old, !r.flushes_inputs), b = flushed(f, data, !r.flushes_inputs);
  int order = compare(unpack(f, b), unpack(f, a));
  if (order == 0 && a != b) order = (b & f.sign_bit()) != 0 ? -1 : 1;
  return (most ? order > 0 : order < 0) ? data : old;
}

uint64_t on_floats(const Atomic& a, const AtomicRules& r, uint64_t old, uint64_t data, uint64_t data1) {
  const Format f = a.bytes == 8 ? f64 : f32;
  switch (a.op) {
  case AtomicOp::FloatAdd:
    return sum(f, old, data, {.keeps_inputs = !r.flushes_inputs, .keeps_outputs = !r.flushes_outputs});
  case AtomicOp::FloatMin: return chosen(f, r, old, data, false);
  case AtomicOp::FloatMax: return chosen(f, r, old, data, true);
  case AtomicOp::FloatCompareStore: {
    const bool keeps = !r.flushes_inputs;
    const bool same = compare(unpack(f, old, keeps), unpack(f, data, keeps)) == 0;
    return flushed(f, same ? data1 : old, keeps);
  }
  case AtomicOp::AddHalves: return add_parts(f16, r, old, data);
  default: return add_parts(bf16, r, old, data);
  }
}

} // namespace

std::optional<Atomic> memory_atomic(std::string_view operation) {
  const size_t last = operation.rfind('_');
  if (last != std::string_view::npos && operation.find('f', last) != std::string_view::npos)
    return float_named(operation.substr(0, last), operation.substr(last + 1));
  const bool wide = operation.ends_with("_x2");
  if (wide) operation.remove_suffix(3);
  const auto op = integer_named(operation);
  if (!op) return std::nullopt;
  return Atomic{.op = *op, .bytes = wide ? 8U : 4U, .operands = operands_of(*op)};
}

std::optional<Atomic> lds_atomic(std::string_view operation) {
  const size_t last = operation.rfind('_');
  if (last == std::string_view::npos) return std::nullopt;
  std::string_view name = operation.substr(0, last);
  const std::string_view type = operation.substr(last + 1);
  if (name.ends_with("_rtn")) name.remove_suffix(4);
  if (type.find('f') != std::string_view::npos) return float_named(name, type);
  std::string text(name);
  if (text == "min" || text == "max") text = (type[0] == 'i' ? "s" : "u") + text;
  const auto op = integer_named(text);
  if (!op || (!type.ends_with("32") && !type.ends_with("64"))) return std::nullopt;
  return Atomic{.op = *op, .bytes = type.ends_with("64") ? 8U : 4U, .operands = operands_of(*op)};
}

// CDNA4 ISA, table 53: LDS obeys MODE, but its 64-bit add keeps denormals; memory keeps them. gfx90a's f32
// add in memory flushes.
AtomicRules lds_rules(const State& state, const Atomic& a) {
  if (a.op == AtomicOp::FloatAdd && a.bytes == 8) return {};
  const uint32_t denormals = a.tolerance == Tolerance::NanFloat ? state.mode >> 4 : state.mode >> 6;
  return {(denormals & 1) == 0, (denormals & 2) == 0};
}
AtomicRules memory_rules(const State& state, const Atomic& a) {
  const bool flushes = state.target.gfx == isa::Gfx::gfx90a && a.tolerance == Tolerance::NanFloat;
  return {flushes, flushes};
}

uint64_t updated(const Atomic& a, const AtomicRules& rules, uint64_t old, uint64_t data, uint64_t data1) {
  const unsigned bits = 8 * a.bytes;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : 0xffffffff;
  const int64_t x = sign_extended(old, bits), y = sign_extended(data, bits);
  switch (a.op) {
  case AtomicOp::Add: return (old + data) & mask;
  case AtomicOp::Sub: return (old - data) & mask;
  case AtomicOp::Rsub: return (data - old) & mask;
  case AtomicOp::Inc: return old >= data ? 0 : old + 1;
  case AtomicOp::Dec: return old == 0 || old > data ? data : old - 1;
  case AtomicOp::SMin: return y < x ? data : old;
  case AtomicOp::SMax: return y >= x ? data : old;
  case AtomicOp::UMin: return data < old ? data : old;
  case AtomicOp::UMax: return data >= old ? data : old;
  case AtomicOp::And: return old & data;
  case AtomicOp::Or: return old | data;
  case AtomicOp::Xor: return old ^ data;
  case AtomicOp::Swap: return data;
  case AtomicOp::CompareSwap: return old == data1 ? data : old;
  case AtomicOp::CompareStore: return old == data ? data1 : old;
  case AtomicOp::MaskOr: return (old & ~data) | data1;
  case AtomicOp::Wrap: return (old >= data ? old - data : old + data1) & mask;
  default: return on_floats(a, rules, old, data, data1);
  }
}

uint64_t read_bytes(const std::vector<uint8_t>& from, uint64_t offset, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned n = 0; n < bytes; ++n) value |= uint64_t{from[offset + n]} << (8 * n);
  return value;
}

void write_bytes(State& state, Space space, uint64_t offset, unsigned bytes, uint64_t value,
                 Tolerance tolerance) {
  for (unsigned n = 0; n < bytes; ++n)
    state.space(space)[offset + n] = static_cast<uint8_t>(value >> (8 * n));
  state.bytes.push_back({space, static_cast<uint32_t>(offset), bytes, tolerance});
}

} // namespace asmevo::reference
