// Integer arithmetic: add, subtract, multiply, their combinations, minimum, maximum, median, and sums of
// absolute differences. Logic, shifts and bit fields are in vector_bits.cpp.
#include "emulator/families/integer_lanes.h"

#include <array>

namespace asmevo::emulator {

namespace {

// --- Additions with carry. F gives the sum or difference in 64 bits: bit 32 is the carry or borrow, and from
// which side an unsigned result left its range is all that saturation needs to know.

enum class Overflow : uint8_t { Wraps, ToOnes, ToZero };

template <auto F, Overflow overflow = Overflow::Wraps>
void with_carry(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer_a, buffer_b;
  const auto a = fetch<uint32_t>(wave, op, 0, buffer_a);
  const auto b = fetch<uint32_t>(wave, op, 1, buffer_b);
  const uint64_t carries = wave.scalar64(op.source[2]);
  Results<uint32_t> results;
  alignas(64) uint8_t flags[lanes];
  for (unsigned half = 0; half < lanes; half += 32) {
    const auto carries_here = static_cast<uint32_t>(carries >> half);
    for (unsigned n = 0; n < 32; ++n) {
      const unsigned l = half + n;
      const uint64_t sum = F(uint64_t{a[l]}, uint64_t{b[l]}, uint64_t{carries_here >> n & 1});
      const uint32_t carry = sum >> 32 & 1;
      flags[l] = static_cast<uint8_t>(carry);
      auto value = static_cast<uint32_t>(sum);
      if constexpr (overflow == Overflow::ToOnes) value |= 0U - carry;
      if constexpr (overflow == Overflow::ToZero) value &= carry - 1;
      results.set(l, value);
    }
  }
  const uint64_t enabled = write_mask(wave, op); // before SDST may change EXEC
  write_result(wave, op, results);
  wave.set_pair(op.scalar_result.index, gather_mask(flags) & enabled);
}

constexpr auto add = [](uint64_t a, uint64_t b, uint64_t) { return a + b; };
constexpr auto add_carry = [](uint64_t a, uint64_t b, uint64_t c) { return a + b + c; };
constexpr auto subtract = [](uint64_t a, uint64_t b, uint64_t) { return a - b; };
constexpr auto subtract_borrow = [](uint64_t a, uint64_t b, uint64_t c) { return a - b - c; };
constexpr auto subtract_from = [](uint64_t a, uint64_t b, uint64_t) { return b - a; };
constexpr auto subtract_from_borrow = [](uint64_t a, uint64_t b, uint64_t c) { return b - a - c; };

template <auto F>
constexpr OpcodeRow adds(std::string_view mnemonic) {
  return {mnemonic, with_carry<F>, with_carry<F, Overflow::ToOnes>};
}
template <auto F>
constexpr OpcodeRow subtracts(std::string_view mnemonic) {
  return {mnemonic, with_carry<F>, with_carry<F, Overflow::ToZero>};
}

// --- v_mad_u64_u32, v_mad_i64_i32: the carry is bit 64 of the exact sum.

struct WideSum {
  uint64_t value;
  bool carry;
  uint64_t saturated;
};

WideSum multiply_add(uint32_t a, uint32_t b, uint64_t c) {
  const uint64_t sum = uint64_t{a} * b + c;
  const bool carry = sum < c;
  return {sum, carry, carry ? ~uint64_t{0} : sum};
}

WideSum multiply_add(int32_t a, int32_t b, int64_t c) {
  const int64_t product = int64_t{a} * b;
  const uint64_t sum = static_cast<uint64_t>(product) + static_cast<uint64_t>(c);
  const auto wrapped = static_cast<int64_t>(sum);
  const bool overflow = ((product ^ wrapped) & (c ^ wrapped)) < 0;
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (product < 0 ? 1 : 0);
  return {sum, (wrapped < 0) != overflow, overflow ? limit : sum};
}

template <class T, class Wide, bool clamps>
void multiply_add_wide(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[3];
  const auto a = fetch<T>(wave, op, 0, buffers[0]);
  const auto b = fetch<T>(wave, op, 1, buffers[1]);
  const auto c = fetch<Wide>(wave, op, 2, buffers[2]);
  Results<uint64_t> results;
  alignas(64) uint8_t flags[lanes];
  for (unsigned l = 0; l < lanes; ++l) {
    const WideSum sum = multiply_add(a[l], b[l], c[l]);
    results.set(l, clamps ? sum.saturated : sum.value);
    flags[l] = sum.carry ? 1 : 0;
  }
  const uint64_t enabled = wave.exec();
  write_result(wave, op, results);
  wave.set_pair(op.scalar_result.index, gather_mask(flags) & enabled);
}

// --- Products

constexpr int64_t product_u24(uint32_t a, uint32_t b) {
  return int64_t{a & 0xffffff} * int64_t{b & 0xffffff};
}
constexpr int64_t product_i24(uint32_t a, uint32_t b) {
  return int64_t{signed_part<24>(a, 0)} * signed_part<24>(b, 0);
}

template <class T>
constexpr uint32_t product_high(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  return static_cast<uint32_t>(static_cast<uint64_t>(Wide{a} * Wide{b}) >> 32);
}

template <class T>
constexpr int64_t multiply_add_exact(T a, T b, T c) {
  return int64_t{a} * b + c;
}

// --- Sums of absolute differences

constexpr uint32_t distance(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}

// Of the four bytes. Masked: bytes whose reference (b) is 0 do not count.
template <bool masked>
constexpr uint32_t byte_distance(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const uint32_t x = unsigned_part<8>(a, shift), y = unsigned_part<8>(b, shift);
    sum += masked && y == 0 ? 0 : distance(x, y);
  }
  return sum;
}

// Four sums, `a` moved on by a byte for each, added to four 16-bit accumulators.
template <bool masked, bool clamps>
constexpr uint64_t quad_distance(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const uint32_t sum = byte_distance<masked>(static_cast<uint32_t>(a >> (8 * n)), b) +
                         static_cast<uint32_t>(c >> (16 * n) & 0xffff);
    result |= uint64_t{clamps && sum > 0xffff ? 0xffff : sum & 0xffff} << (16 * n);
  }
  return result;
}

// v_mqsad_u32_u8: the same with four 32-bit accumulators, in four registers.
template <bool clamps>
void masked_quad_distance_u32(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer_a, buffer_b;
  const auto a = fetch<uint64_t>(wave, op, 0, buffer_a);
  const auto b = fetch<uint32_t>(wave, op, 1, buffer_b);
  const Place& c = op.source[2];
  std::array<Row, 4> sums;
  for (unsigned n = 0; n < 4; ++n)
    for (unsigned l = 0; l < lanes; ++l) {
      const uint32_t before = c.vector()   ? wave.vectors[c.index + n].lane[l]
                              : c.scalar() ? wave.scalars[c.index + n]
                              : n < 2      ? static_cast<uint32_t>(c.value >> (32 * n))
                                           : 0;
      const uint64_t sum =
          uint64_t{before} + byte_distance<true>(static_cast<uint32_t>(a[l] >> (8 * n)), b[l]);
      sums[n].lane[l] = clamps ? saturate<uint32_t>(sum) : static_cast<uint32_t>(sum);
    }
  for (unsigned n = 0; n < 4; ++n) write_row(wave.vectors[op.result.index + n], sums[n], wave.exec());
}

// v_lerp_u8: the mean of two bytes, rounded up where the byte of `c` is odd.
constexpr uint32_t byte_means(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8)
    result |= (unsigned_part<8>(a, shift) + unsigned_part<8>(b, shift) + (c >> shift & 1)) >> 1 << shift;
  return result;
}

template <class T>
constexpr T smallest(T a, T b, T c) {
  return smaller(smaller(a, b), c);
}
template <class T>
constexpr T largest(T a, T b, T c) {
  return larger(larger(a, b), c);
}

// The three-source forms of 16 bits clear the upper half when they write the lower one (so the conformance
// vectors have it; the manual's description of op_sel would have it kept, as v_mad_i16 and its like do).
template <auto F>
void clearing_upper_half(Wave& wave, const MicroOp& op) {
  using R = typename SignatureOf<F>::Result;
  constexpr unsigned to_upper_half = 8;
  if ((op.mods().op_sel & to_upper_half) != 0)
    lanewise<F>(wave, op);
  else
    lanewise<[](R a, R b, R c) { return uint32_t{static_cast<uint16_t>(F(a, b, c))}; }>(wave, op);
}

constexpr OpcodeRow rows[] = {
    // Sums and differences
    saturating<uint32_t, [](uint32_t a, uint32_t b) { return int64_t{a} + b; }>("v_add_u32"),
    saturating<uint32_t, [](uint32_t a, uint32_t b) { return int64_t{a} - b; }>("v_sub_u32"),
    saturating<uint32_t, [](uint32_t a, uint32_t b) { return int64_t{b} - a; }>("v_subrev_u32"),
    saturating<int32_t, [](int32_t a, int32_t b) { return int64_t{a} + b; }>("v_add_i32"),
    saturating<int32_t, [](int32_t a, int32_t b) { return int64_t{a} - b; }>("v_sub_i32"),
    saturating<uint16_t, [](uint16_t a, uint16_t b) { return int32_t{a} + b; }>("v_add_u16"),
    saturating<uint16_t, [](uint16_t a, uint16_t b) { return int32_t{a} - b; }>("v_sub_u16"),
    saturating<uint16_t, [](uint16_t a, uint16_t b) { return int32_t{b} - a; }>("v_subrev_u16"),
    saturating<int16_t, [](int16_t a, int16_t b) { return int32_t{a} + b; }>("v_add_i16"),
    saturating<int16_t, [](int16_t a, int16_t b) { return int32_t{a} - b; }>("v_sub_i16"),
    {"v_add3_u32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }>},
    adds<add>("v_add_co_u32"),
    adds<add_carry>("v_addc_co_u32"),
    subtracts<subtract>("v_sub_co_u32"),
    subtracts<subtract_borrow>("v_subb_co_u32"),
    subtracts<subtract_from>("v_subrev_co_u32"),
    subtracts<subtract_from_borrow>("v_subbrev_co_u32"),

    // Products
    {"v_mul_lo_u32", lanewise<[](uint32_t a, uint32_t b) { return a * b; }>},
    {"v_mul_hi_u32", lanewise<product_high<uint32_t>>},
    {"v_mul_hi_i32", lanewise<product_high<int32_t>>},
    saturating<uint16_t, [](uint16_t a, uint16_t b) { return int64_t{a} * b; }>("v_mul_lo_u16"),
    saturating<uint32_t, product_u24>("v_mul_u32_u24"),
    saturating<int32_t, product_i24>("v_mul_i32_i24"),
    {"v_mul_hi_u32_u24",
     lanewise<[](uint32_t a, uint32_t b) { return static_cast<uint32_t>(product_u24(a, b) >> 32); }>},
    {"v_mul_hi_i32_i24",
     lanewise<[](uint32_t a, uint32_t b) { return static_cast<int32_t>(product_i24(a, b) >> 32); }>},

    // Products and a sum
    saturating<uint32_t, [](uint32_t a, uint32_t b, uint32_t c) { return product_u24(a, b) + c; }>(
        "v_mad_u32_u24"),
    saturating<int32_t, [](uint32_t a, uint32_t b, int32_t c) { return product_i24(a, b) + c; }>(
        "v_mad_i32_i24"),
    saturating<uint16_t, multiply_add_exact<uint16_t>>("v_mad_u16"),
    saturating<uint16_t, multiply_add_exact<uint16_t>>("v_mad_legacy_u16"),
    saturating<int16_t, multiply_add_exact<int16_t>>("v_mad_i16"),
    saturating<int16_t, multiply_add_exact<int16_t>>("v_mad_legacy_i16"),
    saturating<uint32_t, [](uint16_t a, uint16_t b, uint32_t c) { return int64_t{a} * b + c; }>(
        "v_mad_u32_u16"),
    saturating<int32_t, [](int16_t a, int16_t b, int32_t c) { return int64_t{a} * b + c; }>("v_mad_i32_i16"),
    {"v_mad_u64_u32", multiply_add_wide<uint32_t, uint64_t, false>,
     multiply_add_wide<uint32_t, uint64_t, true>},
    {"v_mad_i64_i32", multiply_add_wide<int32_t, int64_t, false>, multiply_add_wide<int32_t, int64_t, true>},

    // Minimum, maximum, median
    {"v_min_u32", lanewise<smaller<uint32_t>>},
    {"v_min_i32", lanewise<smaller<int32_t>>},
    {"v_min_u16", lanewise<smaller<uint16_t>>},
    {"v_min_i16", lanewise<smaller<int16_t>>},
    {"v_max_u32", lanewise<larger<uint32_t>>},
    {"v_max_i32", lanewise<larger<int32_t>>},
    {"v_max_u16", lanewise<larger<uint16_t>>},
    {"v_max_i16", lanewise<larger<int16_t>>},
    {"v_min3_u32", lanewise<smallest<uint32_t>>},
    {"v_min3_i32", lanewise<smallest<int32_t>>},
    {"v_min3_u16", clearing_upper_half<smallest<uint16_t>>},
    {"v_min3_i16", clearing_upper_half<smallest<int16_t>>},
    {"v_max3_u32", lanewise<largest<uint32_t>>},
    {"v_max3_i32", lanewise<largest<int32_t>>},
    {"v_max3_u16", clearing_upper_half<largest<uint16_t>>},
    {"v_max3_i16", clearing_upper_half<largest<int16_t>>},
    {"v_med3_u32", lanewise<median<uint32_t>>},
    {"v_med3_i32", lanewise<median<int32_t>>},
    {"v_med3_u16", clearing_upper_half<median<uint16_t>>},
    {"v_med3_i16", clearing_upper_half<median<int16_t>>},

    // Absolute differences
    saturating<uint32_t, [](uint32_t a, uint32_t b,
                            uint32_t c) { return int64_t{byte_distance<false>(a, b)} + c; }>("v_sad_u8"),
    saturating<uint32_t, [](uint32_t a, uint32_t b,
                            uint32_t c) { return (int64_t{byte_distance<false>(a, b)} << 16) + c; }>(
        "v_sad_hi_u8"),
    saturating<uint32_t, [](uint32_t a, uint32_t b,
                            uint32_t c) { return int64_t{byte_distance<true>(a, b)} + c; }>("v_msad_u8"),
    saturating<uint32_t,
               [](uint32_t a, uint32_t b, uint32_t c) {
                 return int64_t{distance(a & 0xffff, b & 0xffff)} + distance(a >> 16, b >> 16) + c;
               }>("v_sad_u16"),
    saturating<uint32_t, [](uint32_t a, uint32_t b, uint32_t c) { return int64_t{distance(a, b)} + c; }>(
        "v_sad_u32"),
    {"v_qsad_pk_u16_u8", lanewise<quad_distance<false, false>>, lanewise<quad_distance<false, true>>},
    {"v_mqsad_pk_u16_u8", lanewise<quad_distance<true, false>>, lanewise<quad_distance<true, true>>},
    {"v_mqsad_u32_u8", masked_quad_distance_u32<false>, masked_quad_distance_u32<true>},
    {"v_lerp_u8", lanewise<byte_means>},
};

} // namespace

OpcodeRows vector_integer_rows() {
  return rows;
}

} // namespace asmevo::emulator
