// Logic, shifts, bit fields, bit counts, byte permutations, and packing of integers into smaller ones.
#include "emulator/families/integer_lanes.h"

#include <bit>

namespace asmevo::emulator {

namespace {

// --- Bit fields. Widths and positions count modulo 32, so a field is 31 bits wide at most.

constexpr uint32_t field_unsigned(uint32_t value, uint32_t first, uint32_t width) {
  return value >> (first & 31) & ((1U << (width & 31)) - 1);
}
constexpr int32_t field_signed(int32_t value, uint32_t first, uint32_t width) {
  const uint32_t w = width & 31;
  const uint32_t above = (32 - w) & 31;
  const auto at_top = static_cast<uint32_t>(value >> (first & 31)) << above;
  return w == 0 ? 0 : static_cast<int32_t>(at_top) >> above;
}

constexpr uint32_t reversed(uint32_t v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
  return v >> 16 | v << 16;
}

// Position of the first one from the top, from the bottom, and of the first bit that differs from the sign;
// -1: none.
constexpr uint32_t first_from_top(uint32_t v) {
  return v == 0 ? ~0U : static_cast<uint32_t>(std::countl_zero(v));
}
constexpr uint32_t first_from_bottom(uint32_t v) {
  return v == 0 ? ~0U : static_cast<uint32_t>(std::countr_zero(v));
}
constexpr uint32_t first_not_sign(int32_t v) {
  return first_from_top(static_cast<uint32_t>(v ^ v >> 31));
}

// v_mbcnt: ones of `a` that stand for lanes below this one, its lower or upper 32 lanes, plus `b`.
template <bool upper_lanes>
void count_below(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer_a, buffer_b;
  const auto a = fetch<uint32_t>(wave, op, 0, buffer_a);
  const auto b = fetch<uint32_t>(wave, op, 1, buffer_b);
  Results<uint32_t> results;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t below = (uint64_t{1} << l) - 1;
    const auto here = static_cast<uint32_t>(upper_lanes ? below >> 32 : below);
    results.set(l, b[l] + static_cast<uint32_t>(std::popcount(a[l] & here)));
  }
  write_result(wave, op, results);
}

// v_perm_b32: each byte of the selector takes a byte of {a, b} (b is the lower), the sign of one of its words
// (8 to 11), 0x00 (12) or 0xff (13 and above).
constexpr uint32_t permuted(uint32_t a, uint32_t b, uint32_t selectors) {
  // Branch-free, so that it vectorises: all ones where the condition holds.
  const auto when = [](bool condition) { return 0U - static_cast<uint32_t>(condition); };
  const auto either = [](uint32_t condition, uint32_t x, uint32_t y) {
    return (x & condition) | (y & ~condition);
  };
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const uint32_t s = selectors >> shift & 0xff;
    const uint32_t byte = either(0U - (s >> 2 & 1), a, b) >> (8 * (s & 3)) & 0xff;
    const uint32_t sign = 0U - (either(0U - (s >> 1 & 1), a, b) >> (15 + 16 * (s & 1)) & 1);
    const uint32_t special = either(when(s < 12), sign, when(s != 12)) & 0xff;
    result |= either(when(s < 8), byte, special) << shift;
  }
  return result;
}

// v_bitop3: any function of three bits, given as the truth table in the modifiers.
template <class T>
void any_of_three(Wave& wave, const MicroOp& op) {
  SourceBuffer buffers[3];
  const auto a = fetch<T>(wave, op, 0, buffers[0]);
  const auto b = fetch<T>(wave, op, 1, buffers[1]);
  const auto c = fetch<T>(wave, op, 2, buffers[2]);
  uint32_t chosen[8]; // all ones where that combination gives 1
  for (unsigned n = 0; n < 8; ++n) chosen[n] = 0U - (op.mods().bitop3 >> n & 1U);
  Results<T> results;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t x = a[l], y = b[l], z = c[l];
    const auto by_z = [&](unsigned n) { return (~z & chosen[n]) | (z & chosen[n + 1]); };
    const uint32_t without_x = (~y & by_z(0)) | (y & by_z(2)), with_x = (~y & by_z(4)) | (y & by_z(6));
    results.set(l, static_cast<T>((~x & without_x) | (x & with_x)));
  }
  write_result(wave, op, results);
}

// Two integers, each made one of half the size.
template <class R>
constexpr uint16_t bytes_shifted(int32_t a, int32_t b, uint32_t shift) {
  const auto low = static_cast<uint8_t>(saturate<R>(a >> (shift & 31)));
  const auto high = static_cast<uint8_t>(saturate<R>(b >> (shift & 31)));
  return static_cast<uint16_t>(low | high << 8);
}
constexpr uint16_t saturated_bytes(uint32_t halves) {
  const auto low = saturate<uint8_t>(signed_part<16>(halves, 0)),
             high = saturate<uint8_t>(signed_part<16>(halves, 16));
  return static_cast<uint16_t>(low | high << 8);
}

// v_screen_partition_4se_b32 (Vega ISA, VOP1 55): which of four shader engines a tile of the screen touches.
constexpr uint8_t screen_partition[256] = {
    0x1, 0x3, 0x7, 0xf, 0x5, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, //
    0xf, 0x2, 0x6, 0xe, 0xf, 0xa, 0xf, 0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, //
    0xd, 0xf, 0x4, 0xc, 0xf, 0xf, 0x5, 0xf, 0xf, 0xf, 0xd, 0xf, 0xf, 0xf, 0xf, 0xf, //
    0x9, 0xb, 0xf, 0x8, 0xf, 0xf, 0xf, 0xa, 0xf, 0xf, 0xf, 0xe, 0xf, 0xf, 0xf, 0xf, //
    0xf, 0xf, 0xf, 0xf, 0x4, 0xc, 0xd, 0xf, 0x6, 0xf, 0xf, 0xf, 0xe, 0xf, 0xf, 0xf, //
    0xf, 0xf, 0xf, 0xf, 0xf, 0x8, 0x9, 0xb, 0xf, 0x9, 0x9, 0xf, 0xf, 0xd, 0xf, 0xf, //
    0xf, 0xf, 0xf, 0xf, 0x7, 0xf, 0x1, 0x3, 0xf, 0xf, 0x9, 0xf, 0xf, 0xf, 0xb, 0xf, //
    0xf, 0xf, 0xf, 0xf, 0x6, 0xe, 0xf, 0x2, 0x6, 0xf, 0xf, 0x6, 0xf, 0xf, 0xf, 0x7, //
    0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x2, 0x3, 0xb, 0xf, 0xa, 0xf, 0xf, 0xf, //
    0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x1, 0x9, 0xd, 0xf, 0x5, 0xf, 0xf, //
    0xf, 0xf, 0xe, 0xf, 0xf, 0xf, 0xf, 0xf, 0xe, 0xf, 0x8, 0xc, 0xf, 0xf, 0xa, 0xf, //
    0xf, 0xf, 0xf, 0xd, 0xf, 0xf, 0xf, 0xf, 0x6, 0x7, 0xf, 0x4, 0xf, 0xf, 0xf, 0x5, //
    0x9, 0xf, 0xf, 0xf, 0xd, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x8, 0xc, 0xe, 0xf, //
    0xf, 0x6, 0x6, 0xf, 0xf, 0xe, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x4, 0x6, 0x7, //
    0xf, 0xf, 0x6, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xb, 0xf, 0x2, 0x3, //
    0x9, 0xf, 0xf, 0x9, 0xf, 0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf, 0x9, 0xd, 0xf, 0x1,
};

constexpr OpcodeRow rows[] = {
    // Logic
    {"v_not_b32", lanewise<[](uint32_t a) { return ~a; }>},
    {"v_and_b32", lanewise<[](uint32_t a, uint32_t b) { return a & b; }>},
    {"v_or_b32", lanewise<[](uint32_t a, uint32_t b) { return a | b; }>},
    {"v_xor_b32", lanewise<[](uint32_t a, uint32_t b) { return a ^ b; }>},
    {"v_xnor_b32", lanewise<[](uint32_t a, uint32_t b) { return ~(a ^ b); }>},
    {"v_or3_b32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }>},
    {"v_and_or_b32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }>},
    {"v_xad_u32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; }>},
    {"v_bfi_b32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }>},
    {"v_bitop3_b32", any_of_three<uint32_t>},
    {"v_bitop3_b16", any_of_three<uint16_t>},

    // Shifts
    {"v_lshlrev_b32", lanewise<[](uint32_t a, uint32_t b) { return b << (a & 31); }>},
    {"v_lshrrev_b32", lanewise<[](uint32_t a, uint32_t b) { return (b >> (a & 31)); }>},
    {"v_ashrrev_i32", lanewise<[](uint32_t a, int32_t b) { return (b >> (a & 31)); }>},
    {"v_lshlrev_b16", lanewise<[](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b << (a & 15)); }>},
    {"v_lshrrev_b16", lanewise<[](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b >> (a & 15)); }>},
    {"v_ashrrev_i16", lanewise<[](uint16_t a, int16_t b) { return static_cast<int16_t>(b >> (a & 15)); }>},
    {"v_lshlrev_b64", lanewise<[](uint32_t a, uint64_t b) { return b << (a & 63); }>},
    {"v_lshrrev_b64", lanewise<[](uint32_t a, uint64_t b) { return (b >> (a & 63)); }>},
    {"v_ashrrev_i64", lanewise<[](uint32_t a, int64_t b) { return (b >> (a & 63)); }>},
    {"v_lshl_add_u32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }>},
    {"v_add_lshl_u32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }>},
    {"v_lshl_or_b32", lanewise<[](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; }>},
    {"v_lshl_add_u64", lanewise<[](uint64_t a, uint32_t b, uint64_t c) { return (a << (b & 7)) + c; }>},
    {"v_alignbit_b32", lanewise<[](uint32_t a, uint32_t b, uint16_t c) {
       return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31));
     }>},
    {"v_alignbyte_b32", lanewise<[](uint32_t a, uint32_t b, uint16_t c) {
       return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3)));
     }>},

    // Bit fields
    {"v_bfe_u32", lanewise<field_unsigned>},
    {"v_bfe_i32", lanewise<field_signed>},
    {"v_bfm_b32", lanewise<[](uint32_t a, uint32_t b) { return ((1U << (a & 31)) - 1) << (b & 31); }>},
    {"v_bfrev_b32", lanewise<reversed>},

    // Counting and finding bits
    {"v_bcnt_u32_b32",
     lanewise<[](uint32_t a, uint32_t b) { return b + static_cast<uint32_t>(std::popcount(a)); }>},
    {"v_mbcnt_lo_u32_b32", count_below<false>},
    {"v_mbcnt_hi_u32_b32", count_below<true>},
    {"v_ffbh_u32", lanewise<first_from_top>},
    {"v_ffbh_i32", lanewise<first_not_sign>},
    {"v_ffbl_b32", lanewise<first_from_bottom>},

    // Bytes and halves
    {"v_perm_b32", lanewise<permuted>},
    {"v_sat_pk_u8_i16", lanewise<saturated_bytes>},
    {"v_ashr_pk_i8_i32", lanewise<bytes_shifted<int8_t>>},
    {"v_ashr_pk_u8_i32", lanewise<bytes_shifted<uint8_t>>},
    {"v_screen_partition_4se_b32", lanewise<[](uint32_t a) { return uint32_t{screen_partition[a & 0xff]}; }>},
    // One step of a linear feedback shift register.
    {"v_prng_b32", lanewise<[](uint32_t a) { return a << 1 ^ ((a >> 31) * 197); }>},
};

} // namespace

OpcodeRows vector_bits_rows() {
  return rows;
}

} // namespace asmevo::emulator
