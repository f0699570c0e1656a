// Conversions between f16, f32, f64 and integers. To an integer: toward zero unless the instruction says
// otherwise, out of range to the nearest end, NaN to 0. To a float: rounded by MODE's field for the result's
// width (f64 to f32: the field for f64).
#include "emulator/families/float_bits.h"
#include "emulator/families/half.h"
#include "emulator/lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asmevo::emulator {

namespace {

// --- float to integer

// Within the range of I, which a double holds exactly.
template <class I>
double limited(double value) {
  constexpr double least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  const double number_only = value != value ? 0 : value;
  return number_only < least ? least : number_only > most ? most : number_only;
}
template <class I>
I to_integer(double value) {
  if constexpr (std::is_same_v<I, uint32_t>)
    return static_cast<uint32_t>(static_cast<int64_t>(limited<I>(value)));
  else
    return static_cast<I>(static_cast<int32_t>(limited<I>(value)));
}

// Without the detour over double, for the sake of speed.
int32_t to_i32(float value) {
  const float number_only = value != value ? 0 : value;
  constexpr float end = 0x1p31F;
  const bool above = number_only >= end;
  const float inside = above ? 0 : number_only < -end ? -end : number_only;
  return above ? std::numeric_limits<int32_t>::max() : static_cast<int32_t>(inside);
}
uint32_t to_u32(float value) {
  const float positive = value > 0 ? value : 0;
  constexpr float half = 0x1p31F, end = 0x1p32F;
  const bool above = positive >= end, upper = positive >= half;
  const float inside = above ? 0 : upper ? positive - half : positive;
  const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(inside)) | (upper ? 0x8000'0000U : 0);
  return above ? ~0U : bits;
}

int32_t floor_to_i32(float value) {
  return to_i32(std::floor(value));
}
// Nearest, halves up. The sum is exact in a double.
int32_t nearest_up_to_i32(float value) {
  return to_integer<int32_t>(std::floor(static_cast<double>(value) + 0.5));
}

template <class I>
I half_to_integer(const FloatMode& mode, Half value) {
  return to_integer<I>(static_cast<double>(input(mode, value)));
}

// --- normalised integers: 1 is the largest, -1 its negative.

// To the nearest, halves up (the manual does not say how), after limiting to [-1, 1] or [0, 1].
template <class I>
I normalised(double value) {
  constexpr double most = std::numeric_limits<I>::max(), least = std::is_signed_v<I> ? -1 : 0;
  const double number_only = value != value ? 0 : value;
  const double inside = number_only < least ? least : number_only > 1 ? 1 : number_only;
  return static_cast<I>(static_cast<int32_t>(std::floor(inside * most + 0.5)));
}

template <class I>
I normalised_half(const FloatMode& mode, Half value) {
  return normalised<I>(static_cast<double>(input(mode, value)));
}

template <class Low>
uint32_t pack(Low low, Low high) {
  return std::bit_cast<uint16_t>(low) | uint32_t{std::bit_cast<uint16_t>(high)} << 16;
}

template <class I>
uint32_t pack_normalised(float a, float b) {
  return pack(normalised<I>(static_cast<double>(a)), normalised<I>(static_cast<double>(b)));
}
template <class I>
uint32_t pack_normalised_half(const FloatMode& mode, Half a, Half b) {
  return pack(normalised_half<I>(mode, a), normalised_half<I>(mode, b));
}

// --- integer to float

float to_float(int32_t value) {
  return static_cast<float>(value);
}
// Both halves are exact; the sum rounds.
float to_float(uint32_t value) {
  const auto high = static_cast<float>(static_cast<int32_t>(value >> 16));
  const auto low = static_cast<float>(static_cast<int32_t>(value & 0xffff));
  return high * 0x1p16F + low;
}

template <unsigned Byte>
float byte_to_float(uint32_t value) {
  return static_cast<float>(static_cast<int32_t>(value >> (8 * Byte) & 0xff));
}

// A signed 4-bit integer, in sixteenths.
float offset_to_float(uint32_t value) {
  return static_cast<float>(static_cast<int32_t>(value << 28) >> 28) * 0x1p-4F;
}

// --- float to float

// The host's conversions would flush by the field for f64, which MXCSR follows here. Denormal floats are
// multiples of 2^-149.
float narrow(const FloatMode& mode, double value) {
  const bool small = std::fabs(value) < 0x1p-126;
  const double units = std::rint(small ? value * 0x1p149 : 0);
  const auto denormal = static_cast<uint32_t>(static_cast<int32_t>(std::fabs(units)));
  const uint32_t sign = std::signbit(value) ? sign_mask<float> : 0;
  const uint32_t result = small ? sign | denormal : bits_of(static_cast<float>(value));
  return from_bits<float>(flush_denormal<float>(result, mode.keeps_output_denormals32()));
}
double widen(const FloatMode& mode, float value) {
  const uint32_t bits = bits_of(flushed_input(mode, value)), size = magnitude<float>(bits);
  const double denormal = static_cast<double>(static_cast<int32_t>(size & 0x7f'ffff)) * 0x1p-149;
  const double result = size < 0x80'0000 ? denormal : static_cast<double>(from_bits<float>(size));
  return std::copysign(result, value);
}

template <Rounding Direction>
uint32_t pack_halves(const FloatMode& mode, float a, float b) {
  const HalfRounding how{Direction, mode.fp16_overflow(), mode.keeps_output_denormals64()};
  return pack(to_half(a, how), to_half(b, how));
}

// Rounding that does not come from MODE.
template <uint32_t Csr, auto F>
void rounding_as(Wave& wave, const MicroOp& op) {
  const MxcsrScope scope(Csr);
  lanewise<F>(wave, op);
}
constexpr uint32_t csr_toward_zero = FloatMode::csr_plain | 0x6000;

// --- saturating integers

template <class I>
uint32_t pack_saturated(int64_t a, int64_t b) {
  constexpr int64_t least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  return pack(static_cast<I>(std::clamp(a, least, most)), static_cast<I>(std::clamp(b, least, most)));
}

// A byte of the third source is replaced.
uint32_t insert_byte(float value, uint32_t position, uint32_t into) {
  const unsigned shift = (position & 3) * 8;
  const uint32_t byte = std::min(to_u32(value), 255U);
  return (into & ~(0xffU << shift)) | byte << shift;
}

// The same into what the result register holds.
void accumulate_byte(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[2];
  const auto value = fetch<float>(wave, op, 0, buffers[0]);
  const auto position = fetch<uint32_t>(wave, op, 1, buffers[1]);
  const Row& before = wave.vectors[op.result.index];
  Results<uint32_t> results;
  for (unsigned l = 0; l < lanes; ++l) results.set(l, insert_byte(value[l], position[l], before.lane[l]));
  write_result(wave, op, results);
}

constexpr OpcodeRow rows[] = {
    {"v_cvt_i32_f32", lanewise<to_i32>},
    {"v_cvt_u32_f32", lanewise<to_u32>},
    {"v_cvt_rpi_i32_f32", lanewise<nearest_up_to_i32>},
    {"v_cvt_flr_i32_f32", lanewise<floor_to_i32>},
    {"v_cvt_i32_f64", lanewise<to_integer<int32_t>>},
    {"v_cvt_u32_f64", lanewise<to_integer<uint32_t>>},
    {"v_cvt_i16_f16", lanewise<half_to_integer<int16_t>>},
    {"v_cvt_u16_f16", lanewise<half_to_integer<uint16_t>>},
    {"v_cvt_norm_i16_f16", lanewise<normalised_half<int16_t>>},
    {"v_cvt_norm_u16_f16", lanewise<normalised_half<uint16_t>>},

    {"v_cvt_f32_i32", lanewise<[](int32_t a) { return to_float(a); }>},
    {"v_cvt_f32_u32", lanewise<[](uint32_t a) { return to_float(a); }>},
    {"v_cvt_f32_ubyte0", lanewise<byte_to_float<0>>},
    {"v_cvt_f32_ubyte1", lanewise<byte_to_float<1>>},
    {"v_cvt_f32_ubyte2", lanewise<byte_to_float<2>>},
    {"v_cvt_f32_ubyte3", lanewise<byte_to_float<3>>},
    {"v_cvt_off_f32_i4", lanewise<offset_to_float>},
    {"v_cvt_f64_i32", lanewise<[](int32_t a) { return static_cast<double>(a); }>},
    {"v_cvt_f64_u32", lanewise<[](uint32_t a) { return static_cast<double>(a); }>},
    {"v_cvt_f16_i16",
     lanewise<[](const FloatMode& m, int16_t a) { return to_half(m, static_cast<float>(a)); }>},
    {"v_cvt_f16_u16",
     lanewise<[](const FloatMode& m, uint16_t a) { return to_half(m, static_cast<float>(a)); }>},

    {"v_cvt_f32_f16", lanewise<[](const FloatMode& m, Half a) { return input(m, a); }>},
    {"v_cvt_f16_f32", lanewise<[](const FloatMode& m, float a) { return to_half(m, a); }>},
    {"v_cvt_f32_f64", lanewise<narrow>},
    {"v_cvt_f64_f32", lanewise<widen>},
    {"v_cvt_pkrtz_f16_f32", rounding_as<csr_toward_zero, pack_halves<Rounding::TowardZero>>},
    {"v_cvt_pk_f16_f32", rounding_as<FloatMode::csr_plain, pack_halves<Rounding::NearestEven>>},

    {"v_cvt_pk_i16_i32", lanewise<[](int32_t a, int32_t b) { return pack_saturated<int16_t>(a, b); }>},
    {"v_cvt_pk_u16_u32", lanewise<[](uint32_t a, uint32_t b) { return pack_saturated<uint16_t>(a, b); }>},
    {"v_cvt_pknorm_i16_f32", lanewise<pack_normalised<int16_t>>},
    {"v_cvt_pknorm_u16_f32", lanewise<pack_normalised<uint16_t>>},
    {"v_cvt_pknorm_i16_f16", lanewise<pack_normalised_half<int16_t>>},
    {"v_cvt_pknorm_u16_f16", lanewise<pack_normalised_half<uint16_t>>},
    {"v_cvt_pk_u8_f32", lanewise<insert_byte>},
    {"v_cvt_pkaccum_u8_f32", accumulate_byte},
};

} // namespace

OpcodeRows vector_convert_rows() {
  return rows;
}

} // namespace asmevo::emulator
