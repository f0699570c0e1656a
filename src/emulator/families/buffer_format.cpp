// Formatted buffer loads and stores (CDNA4 ISA, 9.1.4): MUBUF ones take format and channel selects from the
// resource, MTBUF ones the format from the instruction. A format is a data format (how many components of how
// many bits) and a number format (what the bits mean). Components of 32 bits are never converted. Narrower
// integers are extended, and clamped when stored; scaled and normalised ones are floats in registers.
#include "emulator/families/buffer_address.h"
#include "emulator/half_bits.h"
#include "emulator/opcode_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace asmevo::emulator {

namespace {

enum NumFormat : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, snorm_ogl, floating };

// The component at the lowest address first.
struct DataFormat {
  std::array<uint8_t, 4> bits;
  unsigned total_bits() const { return 0U + bits[0] + bits[1] + bits[2] + bits[3]; }
};

constexpr std::array<DataFormat, 16> data_formats = {{
    {{0, 0, 0, 0}}, // invalid: reads 0, writes nothing
    {{8, 0, 0, 0}},
    {{16, 0, 0, 0}},
    {{8, 8, 0, 0}},
    {{32, 0, 0, 0}},
    {{16, 16, 0, 0}},
    {{11, 11, 10, 0}}, // named 10_11_11, from the highest bits down
    {{10, 11, 11, 0}},
    {{2, 10, 10, 10}},
    {{10, 10, 10, 2}},
    {{8, 8, 8, 8}},
    {{32, 32, 0, 0}},
    {{16, 16, 16, 16}},
    {{32, 32, 32, 0}},
    {{32, 32, 32, 32}},
    {{0, 0, 0, 0}},
}};

struct Format {
  DataFormat data;
  NumFormat numbers;
  std::array<uint8_t, 4> select; // for each register: 0, 1, or 4 + component
  unsigned bytes() const { return data.total_bits() / 8; }
};

Format format_of(const MicroOp& op, const BufferResource& r) {
  if (op.instruction->family == isa::Family::Mtbuf) {
    const uint8_t f = op.mods().format;
    return {data_formats[f & 15], static_cast<NumFormat>(f >> 4 & 7), {4, 5, 6, 7}};
  }
  return {data_formats[r.data_format],
          static_cast<NumFormat>(r.num_format),
          {r.select[0], r.select[1], r.select[2], r.select[3]}};
}

bool holds_integers(NumFormat n) {
  return n == uint || n == sint;
}

int32_t sign_extended(uint32_t value, unsigned bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

// --- floats of 10 and 11 bits: no sign, 5 bits of exponent with bias 15

float small_float_value(uint32_t value, unsigned mantissa_bits) {
  const uint32_t exponent = value >> mantissa_bits, mantissa = value & ((1U << mantissa_bits) - 1);
  if (exponent == 31) return mantissa != 0 ? NAN : INFINITY;
  const uint32_t implied = exponent == 0 ? 0 : 1U << mantissa_bits;
  return std::ldexp(static_cast<float>(mantissa | implied),
                    static_cast<int>(std::max(exponent, 1U)) - 15 - static_cast<int>(mantissa_bits));
}

uint32_t small_float_bits(float value, unsigned mantissa_bits) {
  const uint32_t infinity = 31U << mantissa_bits;
  if (std::isnan(value)) return infinity | 1;
  if (!(value > 0)) return 0;
  if (std::isinf(value)) return infinity;
  const int exponent = std::max(std::ilogb(value), -14);
  const auto steps = static_cast<uint64_t>(
      std::nearbyint(std::ldexp(double{value}, static_cast<int>(mantissa_bits) - exponent)));
  // A mantissa that rounds up into the next binade carries into the exponent by itself.
  const uint64_t bits = (static_cast<uint64_t>(exponent + 14) << mantissa_bits) + steps;
  return static_cast<uint32_t>(std::min<uint64_t>(bits, infinity));
}

// --- one component

// As a 32-bit register holds it: float or integer.
uint32_t decoded(uint32_t value, unsigned bits, NumFormat numbers) {
  if (bits == 32) return value;
  const double signed_value = sign_extended(value, bits), most = (1U << (bits - 1)) - 1;
  float f = 0;
  switch (numbers) {
  case uint: return value;
  case sint: return static_cast<uint32_t>(sign_extended(value, bits));
  case unorm: f = static_cast<float>(value / static_cast<double>((1U << bits) - 1)); break;
  case snorm:
  case snorm_ogl: f = static_cast<float>(std::max(signed_value / most, -1.0)); break;
  case uscaled: f = static_cast<float>(value); break;
  case sscaled: f = static_cast<float>(signed_value); break;
  case floating:
    if (bits == 16)
      f = half_to_float(value);
    else if (bits == 10 || bits == 11)
      f = small_float_value(value, bits - 5);
    break;
  }
  return std::bit_cast<uint32_t>(f);
}

// To the nearest integer in [low, high]; NaN is 0.
uint32_t rounded(double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return static_cast<uint32_t>(static_cast<int64_t>(std::nearbyint(std::clamp(value, low, high))));
}

uint32_t encoded(uint32_t value, unsigned bits, NumFormat numbers) {
  if (bits == 32) return value;
  const uint32_t most = (1U << bits) - 1;
  const double top = most >> 1, f = double{std::bit_cast<float>(value)};
  switch (numbers) {
  case uint: return std::min(value, most);
  case sint: return rounded(static_cast<int32_t>(value), -top - 1, top) & most;
  case unorm: return rounded(f * most, 0, most);
  case snorm:
  case snorm_ogl: return rounded(f * top, -top, top) & most;
  case uscaled: return rounded(std::trunc(f), 0, most);
  case sscaled: return rounded(std::trunc(f), -top - 1, top) & most;
  case floating:
    if (bits == 16) return float_to_half(std::bit_cast<float>(value));
    return bits == 10 || bits == 11 ? small_float_bits(std::bit_cast<float>(value), bits - 5) : 0;
  }
  return 0;
}

// --- one lane

using Components = std::array<uint32_t, 4>;

Components unpack(const uint8_t* from, const Format& f) {
  uint32_t words[4] = {};
  std::memcpy(words, from, f.bytes());
  Components c{};
  for (unsigned i = 0, at = 0; i < 4; at += f.data.bits[i++]) {
    const unsigned bits = f.data.bits[i];
    if (bits == 0) continue;
    const uint32_t raw = words[at / 32] >> at % 32;
    c[i] = decoded(bits == 32 ? raw : raw & ((1U << bits) - 1), bits, f.numbers);
  }
  return c;
}

void pack(uint8_t* to, const Components& c, const Format& f) {
  uint32_t words[4] = {};
  for (unsigned i = 0, at = 0; i < 4; at += f.data.bits[i++])
    if (const unsigned bits = f.data.bits[i]; bits != 0)
      words[at / 32] |= encoded(c[i], bits, f.numbers) << at % 32;
  std::memcpy(to, words, f.bytes());
}

uint32_t selected(const Components& c, unsigned select, NumFormat numbers) {
  if (select >= 4) return c[select - 4];
  return select != 1 ? 0 : holds_integers(numbers) ? 1 : std::bit_cast<uint32_t>(1.0F);
}

// --- registers: a component each, or (d16) two, or one in the upper half

enum class Packing : uint8_t { Dwords, Halves, HighHalf };

template <unsigned count, Packing packing>
constexpr unsigned register_count = packing == Packing::Halves ? (count + 1) / 2 : count;

uint32_t narrowed(uint32_t value, NumFormat numbers) {
  return holds_integers(numbers) ? value & 0xffff : float_to_half(std::bit_cast<float>(value));
}
uint32_t widened(uint32_t half, NumFormat numbers) {
  if (numbers == sint) return static_cast<uint32_t>(sign_extended(half, 16));
  return numbers == uint ? half : std::bit_cast<uint32_t>(half_to_float(half));
}

template <unsigned count, Packing packing>
void put(Row* rows, unsigned lane, unsigned component, uint32_t value, NumFormat numbers) {
  if constexpr (packing == Packing::Dwords) {
    rows[component].lane[lane] = value;
  } else {
    const unsigned shift = packing == Packing::HighHalf ? 16 : component % 2 * 16;
    uint32_t& r = rows[component / 2].lane[lane];
    r = (r & ~(0xffffU << shift)) | narrowed(value, numbers) << shift;
  }
}

template <unsigned count, Packing packing>
uint32_t get(const Row* rows, unsigned lane, unsigned component, NumFormat numbers) {
  if constexpr (packing == Packing::Dwords) return rows[component].lane[lane];
  const unsigned shift = packing == Packing::HighHalf ? 16 : component % 2 * 16;
  return widened(rows[component / 2].lane[lane] >> shift & 0xffff, numbers);
}

bool resolve(Wave& wave, const MicroOp& op, const BufferResource& r, const Format& f, uint64_t mask,
             bool stores, LanePointers& p) {
  const unsigned bytes = f.bytes();
  if (bytes == 0) { // no format: reads 0
    if (!stores) for_each_lane(mask, [&](unsigned l) { p.give_zeros(l); });
    return true;
  }
  return resolve_buffer_whole(wave, op, r, true, mask,
                              stores ? Access::storing(bytes) : Access::loading(bytes), p);
}

template <unsigned count, Packing packing>
void load_format(Wave& wave, const MicroOp& op) {
  const BufferResource r(wave, op.source[MicroOp::base]);
  const Format f = format_of(op, r);
  const bool to_lds = op.mods().lds;
  const uint32_t first = to_lds ? lds_slot_base(wave, op) : 0;
  const uint64_t mask = to_lds ? lds_slot_mask(wave, op, 1, first) : wave.exec();
  LanePointers p;
  if (!resolve(wave, op, r, f, mask, false, p)) return;
  const MxcsrScope plain(FloatMode::csr_plain);
  Row lds_data[4];
  Row* rows = to_lds ? lds_data : wave.vectors + op.result.index;
  for_each_lane(p.mask, [&](unsigned l) {
    const Components c = unpack(p.at[l], f);
    for (unsigned i = 0; i < count; ++i)
      put<count, packing>(rows, l, i, selected(c, f.select[i], f.numbers), f.numbers);
  });
  if (to_lds) write_lds_slots(wave, rows, 1, p.mask, first);
}

template <unsigned count, Packing packing>
void store_format(Wave& wave, const MicroOp& op) {
  const BufferResource r(wave, op.source[MicroOp::base]);
  const Format f = format_of(op, r);
  LanePointers p;
  if (!resolve(wave, op, r, f, wave.exec(), true, p)) return;
  const MxcsrScope plain(FloatMode::csr_plain);
  const Row* rows = wave.vectors + op.source[MicroOp::data].index;
  for_each_lane(p.mask, [&](unsigned l) {
    Components c{};
    // The selects say from where registers are read, so they say where registers go.
    for (unsigned i = count; i-- > 0;)
      if (f.select[i] >= 4) c[f.select[i] - 4U] = get<count, packing>(rows, l, i, f.numbers);
    pack(p.at[l], c, f);
  });
  write_back(wave, p);
}

constexpr auto whole = Packing::Dwords, halves = Packing::Halves, high = Packing::HighHalf;

constexpr OpcodeRow rows[] = {
    {"buffer_load_format_x", load_format<1, whole>},
    {"buffer_load_format_xy", load_format<2, whole>},
    {"buffer_load_format_xyz", load_format<3, whole>},
    {"buffer_load_format_xyzw", load_format<4, whole>},
    {"buffer_load_format_d16_x", load_format<1, halves>},
    {"buffer_load_format_d16_xy", load_format<2, halves>},
    {"buffer_load_format_d16_xyz", load_format<3, halves>},
    {"buffer_load_format_d16_xyzw", load_format<4, halves>},
    {"buffer_load_format_d16_hi_x", load_format<1, high>},
    {"buffer_store_format_x", store_format<1, whole>},
    {"buffer_store_format_xy", store_format<2, whole>},
    {"buffer_store_format_xyz", store_format<3, whole>},
    {"buffer_store_format_xyzw", store_format<4, whole>},
    {"buffer_store_format_d16_x", store_format<1, halves>},
    {"buffer_store_format_d16_xy", store_format<2, halves>},
    {"buffer_store_format_d16_xyz", store_format<3, halves>},
    {"buffer_store_format_d16_xyzw", store_format<4, halves>},
    {"buffer_store_format_d16_hi_x", store_format<1, high>},
    {"tbuffer_load_format_x", load_format<1, whole>},
    {"tbuffer_load_format_xy", load_format<2, whole>},
    {"tbuffer_load_format_xyz", load_format<3, whole>},
    {"tbuffer_load_format_xyzw", load_format<4, whole>},
    {"tbuffer_load_format_d16_x", load_format<1, halves>},
    {"tbuffer_load_format_d16_xy", load_format<2, halves>},
    {"tbuffer_load_format_d16_xyz", load_format<3, halves>},
    {"tbuffer_load_format_d16_xyzw", load_format<4, halves>},
    {"tbuffer_store_format_x", store_format<1, whole>},
    {"tbuffer_store_format_xy", store_format<2, whole>},
    {"tbuffer_store_format_xyz", store_format<3, whole>},
    {"tbuffer_store_format_xyzw", store_format<4, whole>},
    {"tbuffer_store_format_d16_x", store_format<1, halves>},
    {"tbuffer_store_format_d16_xy", store_format<2, halves>},
    {"tbuffer_store_format_d16_xyz", store_format<3, halves>},
    {"tbuffer_store_format_d16_xyzw", store_format<4, halves>},
};

} // namespace

OpcodeRows buffer_format_rows() {
  return rows;
}

} // namespace asmevo::emulator
