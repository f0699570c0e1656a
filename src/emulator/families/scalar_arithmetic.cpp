// SOP1, SOP2, SOPC and SOPK arithmetic. SCC by the ISA manual's rule for each: carry, signed overflow, or
// "not zero".
#include "emulator/families/scalar.h"

#include <bit>
#include <functional>

namespace asmevo::emulator {

namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

// --- carry and overflow

constexpr auto add_carry = [](bool& scc, u32 a, u32 b) {
  const u64 sum = u64{a} + b;
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
};
constexpr auto add_with_carry = [](bool& scc, u32 a, u32 b) {
  const u64 sum = u64{a} + b + (scc ? 1 : 0);
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
};
constexpr auto sub_borrow = [](bool& scc, u32 a, u32 b) {
  scc = b > a;
  return a - b;
};
constexpr auto sub_with_borrow = [](bool& scc, u32 a, u32 b) {
  const u64 taken = u64{b} + (scc ? 1 : 0);
  scc = taken > a;
  return static_cast<u32>(a - taken);
};
constexpr auto add_overflow = [](bool& scc, u32 a, u32 b) {
  const u32 sum = a + b;
  scc = (~(a ^ b) & (a ^ sum)) >> 31 != 0;
  return sum;
};
constexpr auto sub_overflow = [](bool& scc, u32 a, u32 b) {
  const u32 difference = a - b;
  scc = ((a ^ b) & (a ^ difference)) >> 31 != 0;
  return difference;
};
template <unsigned shift>
constexpr auto shift_add = [](bool& scc, u32 a, u32 b) {
  const u64 sum = (u64{a} << shift) + b;
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
};

// SCC: the first source was chosen.
template <class T, class Chosen>
T choose(bool& scc, T a, T b) {
  scc = Chosen()(a, b);
  return scc ? a : b;
}

// --- bit fields: S1[4:0] or [5:0] is the offset, S1[22:16] the width

template <class T>
T field(T value, u32 spec) {
  constexpr unsigned bits = sizeof(T) * 8;
  using U = std::make_unsigned_t<T>;
  const unsigned offset = spec & (bits - 1), width = spec >> 16 & 0x7f;
  if (width == 0) return 0;
  const T shifted = value >> offset;
  if (width >= bits) return shifted;
  const unsigned up = bits - width;
  return static_cast<T>(static_cast<T>(static_cast<U>(shifted) << up) >> up);
}

template <class T>
T field_mask(u32 width, u32 offset) {
  constexpr unsigned bits = sizeof(T) * 8;
  return static_cast<T>(((T{1} << (width & (bits - 1))) - 1) << (offset & (bits - 1)));
}

template <class T>
T reverse_bits(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result |= (value >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return result;
}

// Every group of four bits: 1 if any is set.
template <class T>
T quad_mask(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i) result |= T{(value >> (4 * i) & 15) != 0} << i;
  return result;
}
template <class T>
T whole_quads(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i)
    if ((value >> (4 * i) & 15) != 0) result |= T{15} << (4 * i);
  return result;
}

u64 replicate_bits(u32 value) {
  u64 result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= u64{value >> i & 1} * 3 << (2 * i);
  return result;
}

// Position of the first bit from the bottom or the top, -1 if there is none.
template <class T>
u32 first_from_bottom(T value) {
  return value == 0 ? ~u32{0} : static_cast<u32>(std::countr_zero(value));
}
template <class T>
u32 first_from_top(T value) {
  return value == 0 ? ~u32{0} : static_cast<u32>(std::countl_zero(value));
}
// The first bit that differs from the sign.
template <class T>
u32 first_unlike_sign(T value) {
  return first_from_top(static_cast<T>(static_cast<std::make_signed_t<T>>(value) < 0 ? ~value : value));
}

template <class T>
void set_bit(Wave& wave, const MicroOp& op, bool one) {
  const T bit = T{1} << (wave.scalar32(op.source[0]) & (sizeof(T) * 8 - 1));
  const T before = detail::scalar_source<T>(wave, op.result);
  detail::write_scalar<T>(wave, op.result, one ? before | bit : before & ~bit);
}

template <class T>
void move_if(Wave& wave, const MicroOp& op) {
  if (wave.scc() != 0) detail::write_scalar<T>(wave, op.result, detail::scalar_source<T>(wave, op.source[0]));
}

// --- s_*_saveexec: result = EXEC, EXEC = F(source, EXEC). s_*_wrexec: both get the new one.

template <auto F, bool save>
void change_exec(Wave& wave, const MicroOp& op) {
  const u64 before = wave.exec(), after = F(wave.scalar64(op.source[0]), before);
  wave.set_exec(after);
  wave.set_pair(op.result.index, save ? before : after);
  wave.scc() = after != 0 ? 1 : 0;
}

// --- SOPK: the destination is the first source, the constant is signed unless the name ends in u32

u32 signed_constant(const MicroOp& op) {
  return static_cast<u32>(i32{static_cast<int16_t>(op.instruction->words[0] & 0xffff)});
}
void move_constant(Wave& wave, const MicroOp& op) {
  wave.scalars[op.result.index] = signed_constant(op);
}
void move_constant_if(Wave& wave, const MicroOp& op) {
  if (wave.scc() != 0) move_constant(wave, op);
}
void add_constant(Wave& wave, const MicroOp& op) {
  bool scc = false;
  wave.scalars[op.result.index] = add_overflow(scc, wave.scalars[op.result.index], signed_constant(op));
  wave.scc() = scc ? 1 : 0;
}
void multiply_constant(Wave& wave, const MicroOp& op) {
  wave.scalars[op.result.index] *= signed_constant(op);
}
template <class Compare>
void compare_signed_constant(Wave& wave, const MicroOp& op) {
  wave.scc() =
      Compare()(static_cast<i32>(wave.scalar32(op.source[0])), static_cast<i32>(signed_constant(op))) ? 1 : 0;
}
template <class Compare>
void compare_unsigned_constant(Wave& wave, const MicroOp& op) {
  wave.scc() = Compare()(wave.scalar32(op.source[0]), op.instruction->words[0] & 0xffff) ? 1 : 0;
}

// --- s_movrel*: M0 is added to the number of the source or of the destination

template <class T, bool source>
void move_relative(Wave& wave, const MicroOp& op) {
  // LLVM has the destination of s_movreld among the sources: it is the number that counts.
  Place from = source ? op.source[0] : op.source[1], to = source ? op.result : op.source[0];
  Place& moved = source ? from : to;
  const u64 index = u64{moved.index} + wave.scalars[slot::m0];
  if (index + sizeof(T) / 4 > slot::flat_scratch) {
    return wave.fail_at(op, {.kind = FaultKind::Illegal, .text = "s_movrel reaches beyond the SGPRs"});
  }
  moved.index = static_cast<uint16_t>(index);
  detail::write_scalar<T>(wave, to, detail::scalar_source<T>(wave, from));
}

constexpr OpcodeRow rows[] = {
    // moves
    {"s_mov_b32", scalar<[](u32 a) { return a; }>},
    {"s_mov_b64", scalar<[](u64 a) { return a; }>},
    {"s_cmov_b32", move_if<u32>},
    {"s_cmov_b64", move_if<u64>},
    {"s_movk_i32", move_constant},
    {"s_cmovk_i32", move_constant_if},
    {"s_cselect_b32", scalar_carry<[](bool& scc, u32 a, u32 b) { return scc ? a : b; }>},
    {"s_cselect_b64", scalar_carry<[](bool& scc, u64 a, u64 b) { return scc ? a : b; }>},
    {"s_movrels_b32", move_relative<u32, true>},
    {"s_movrels_b64", move_relative<u64, true>},
    {"s_movreld_b32", move_relative<u32, false>},
    {"s_movreld_b64", move_relative<u64, false>},

    // sums and products
    {"s_add_u32", scalar_carry<add_carry>},
    {"s_addc_u32", scalar_carry<add_with_carry>},
    {"s_sub_u32", scalar_carry<sub_borrow>},
    {"s_subb_u32", scalar_carry<sub_with_borrow>},
    {"s_add_i32", scalar_carry<add_overflow>},
    {"s_sub_i32", scalar_carry<sub_overflow>},
    {"s_addk_i32", add_constant},
    {"s_mulk_i32", multiply_constant},
    {"s_lshl1_add_u32", scalar_carry<shift_add<1>>},
    {"s_lshl2_add_u32", scalar_carry<shift_add<2>>},
    {"s_lshl3_add_u32", scalar_carry<shift_add<3>>},
    {"s_lshl4_add_u32", scalar_carry<shift_add<4>>},
    {"s_mul_i32", scalar<[](u32 a, u32 b) { return a * b; }>},
    {"s_mul_hi_u32", scalar<[](u32 a, u32 b) { return (static_cast<u32>(u64{a} * b >> 32)); }>},
    {"s_mul_hi_i32", scalar<[](i32 a, i32 b) { return (static_cast<u32>(i64{a} * b >> 32)); }>},
    {"s_abs_i32", scalar_nonzero<[](u32 a) { return (static_cast<i32>(a) < 0 ? 0 - a : a); }>},
    {"s_absdiff_i32", scalar_nonzero<[](u32 a, u32 b) {
       const u32 d = a - b;
       return static_cast<i32>(d) < 0 ? 0 - d : d;
     }>},
    {"s_min_i32",
     scalar_carry<[](bool& scc, i32 a, i32 b) { return (choose<i32, std::less<>>(scc, a, b)); }>},
    {"s_min_u32",
     scalar_carry<[](bool& scc, u32 a, u32 b) { return (choose<u32, std::less<>>(scc, a, b)); }>},
    {"s_max_i32",
     scalar_carry<[](bool& scc, i32 a, i32 b) { return (choose<i32, std::greater_equal<>>(scc, a, b)); }>},
    {"s_max_u32",
     scalar_carry<[](bool& scc, u32 a, u32 b) { return (choose<u32, std::greater_equal<>>(scc, a, b)); }>},

    // logic
    {"s_not_b32", scalar_nonzero<[](u32 a) { return ~a; }>},
    {"s_not_b64", scalar_nonzero<[](u64 a) { return ~a; }>},
    {"s_and_b32", scalar_nonzero<[](u32 a, u32 b) { return a & b; }>},
    {"s_and_b64", scalar_nonzero<[](u64 a, u64 b) { return a & b; }>},
    {"s_or_b32", scalar_nonzero<[](u32 a, u32 b) { return a | b; }>},
    {"s_or_b64", scalar_nonzero<[](u64 a, u64 b) { return a | b; }>},
    {"s_xor_b32", scalar_nonzero<[](u32 a, u32 b) { return a ^ b; }>},
    {"s_xor_b64", scalar_nonzero<[](u64 a, u64 b) { return a ^ b; }>},
    {"s_andn2_b32", scalar_nonzero<[](u32 a, u32 b) { return a & ~b; }>},
    {"s_andn2_b64", scalar_nonzero<[](u64 a, u64 b) { return a & ~b; }>},
    {"s_orn2_b32", scalar_nonzero<[](u32 a, u32 b) { return a | ~b; }>},
    {"s_orn2_b64", scalar_nonzero<[](u64 a, u64 b) { return a | ~b; }>},
    {"s_nand_b32", scalar_nonzero<[](u32 a, u32 b) { return ~(a & b); }>},
    {"s_nand_b64", scalar_nonzero<[](u64 a, u64 b) { return ~(a & b); }>},
    {"s_nor_b32", scalar_nonzero<[](u32 a, u32 b) { return ~(a | b); }>},
    {"s_nor_b64", scalar_nonzero<[](u64 a, u64 b) { return ~(a | b); }>},
    {"s_xnor_b32", scalar_nonzero<[](u32 a, u32 b) { return ~(a ^ b); }>},
    {"s_xnor_b64", scalar_nonzero<[](u64 a, u64 b) { return ~(a ^ b); }>},
    {"s_and_saveexec_b64", change_exec<[](u64 s, u64 e) { return s & e; }, true>},
    {"s_or_saveexec_b64", change_exec<[](u64 s, u64 e) { return s | e; }, true>},
    {"s_xor_saveexec_b64", change_exec<[](u64 s, u64 e) { return s ^ e; }, true>},
    {"s_andn2_saveexec_b64", change_exec<[](u64 s, u64 e) { return s & ~e; }, true>},
    {"s_orn2_saveexec_b64", change_exec<[](u64 s, u64 e) { return s | ~e; }, true>},
    {"s_nand_saveexec_b64", change_exec<[](u64 s, u64 e) { return ~(s & e); }, true>},
    {"s_nor_saveexec_b64", change_exec<[](u64 s, u64 e) { return ~(s | e); }, true>},
    {"s_xnor_saveexec_b64", change_exec<[](u64 s, u64 e) { return ~(s ^ e); }, true>},
    {"s_andn1_saveexec_b64", change_exec<[](u64 s, u64 e) { return ~s & e; }, true>},
    {"s_orn1_saveexec_b64", change_exec<[](u64 s, u64 e) { return ~s | e; }, true>},
    {"s_andn1_wrexec_b64", change_exec<[](u64 s, u64 e) { return ~s & e; }, false>},
    {"s_andn2_wrexec_b64", change_exec<[](u64 s, u64 e) { return s & ~e; }, false>},

    // shifts and fields
    {"s_lshl_b32", scalar_nonzero<[](u32 a, u32 b) { return a << (b & 31); }>},
    {"s_lshl_b64", scalar_nonzero<[](u64 a, u32 b) { return a << (b & 63); }>},
    {"s_lshr_b32", scalar_nonzero<[](u32 a, u32 b) { return (a >> (b & 31)); }>},
    {"s_lshr_b64", scalar_nonzero<[](u64 a, u32 b) { return (a >> (b & 63)); }>},
    {"s_ashr_i32", scalar_nonzero<[](i32 a, u32 b) { return (a >> (b & 31)); }>},
    {"s_ashr_i64", scalar_nonzero<[](i64 a, u32 b) { return (a >> (b & 63)); }>},
    {"s_bfe_u32", scalar_nonzero<[](u32 a, u32 b) { return field(a, b); }>},
    {"s_bfe_i32", scalar_nonzero<[](i32 a, u32 b) { return field(a, b); }>},
    {"s_bfe_u64", scalar_nonzero<[](u64 a, u32 b) { return field(a, b); }>},
    {"s_bfe_i64", scalar_nonzero<[](i64 a, u32 b) { return field(a, b); }>},
    {"s_bfm_b32", scalar<[](u32 a, u32 b) { return (field_mask<u32>(a, b)); }>},
    {"s_bfm_b64", scalar<[](u32 a, u32 b) { return (field_mask<u64>(a, b)); }>},
    {"s_pack_ll_b32_b16", scalar<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>},
    {"s_pack_lh_b32_b16", scalar<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>},
    {"s_pack_hh_b32_b16", scalar<[](u32 a, u32 b) { return (a >> 16 | (b & 0xffff0000)); }>},
    {"s_sext_i32_i8", scalar<[](u32 a) { return (i32{static_cast<int8_t>(a)}); }>},
    {"s_sext_i32_i16", scalar<[](u32 a) { return (i32{static_cast<int16_t>(a)}); }>},

    // bits
    {"s_brev_b32", scalar<[](u32 a) { return reverse_bits(a); }>},
    {"s_brev_b64", scalar<[](u64 a) { return reverse_bits(a); }>},
    {"s_bcnt0_i32_b32", scalar_nonzero<[](u32 a) { return (static_cast<u32>(std::popcount(~a))); }>},
    {"s_bcnt0_i32_b64", scalar_nonzero<[](u64 a) { return (static_cast<u32>(std::popcount(~a))); }>},
    {"s_bcnt1_i32_b32", scalar_nonzero<[](u32 a) { return (static_cast<u32>(std::popcount(a))); }>},
    {"s_bcnt1_i32_b64", scalar_nonzero<[](u64 a) { return (static_cast<u32>(std::popcount(a))); }>},
    {"s_ff0_i32_b32", scalar<[](u32 a) { return first_from_bottom(~a); }>},
    {"s_ff0_i32_b64", scalar<[](u64 a) { return first_from_bottom(~a); }>},
    {"s_ff1_i32_b32", scalar<[](u32 a) { return first_from_bottom(a); }>},
    {"s_ff1_i32_b64", scalar<[](u64 a) { return first_from_bottom(a); }>},
    {"s_flbit_i32_b32", scalar<[](u32 a) { return first_from_top(a); }>},
    {"s_flbit_i32_b64", scalar<[](u64 a) { return first_from_top(a); }>},
    {"s_flbit_i32", scalar<[](u32 a) { return first_unlike_sign(a); }>},
    {"s_flbit_i32_i64", scalar<[](u64 a) { return first_unlike_sign(a); }>},
    {"s_bitset0_b32", [](Wave& w, const MicroOp& op) { set_bit<u32>(w, op, false); }},
    {"s_bitset0_b64", [](Wave& w, const MicroOp& op) { set_bit<u64>(w, op, false); }},
    {"s_bitset1_b32", [](Wave& w, const MicroOp& op) { set_bit<u32>(w, op, true); }},
    {"s_bitset1_b64", [](Wave& w, const MicroOp& op) { set_bit<u64>(w, op, true); }},
    {"s_bitreplicate_b64_b32", scalar<replicate_bits>},
    {"s_quadmask_b32", scalar_nonzero<[](u32 a) { return quad_mask(a); }>},
    {"s_quadmask_b64", scalar_nonzero<[](u64 a) { return quad_mask(a); }>},
    {"s_wqm_b32", scalar_nonzero<[](u32 a) { return whole_quads(a); }>},
    {"s_wqm_b64", scalar_nonzero<[](u64 a) { return whole_quads(a); }>},

    // comparisons
    {"s_cmp_eq_i32", scalar_compare<[](i32 a, i32 b) { return a == b; }>},
    {"s_cmp_lg_i32", scalar_compare<[](i32 a, i32 b) { return a != b; }>},
    {"s_cmp_gt_i32", scalar_compare<[](i32 a, i32 b) { return (a > b); }>},
    {"s_cmp_ge_i32", scalar_compare<[](i32 a, i32 b) { return (a >= b); }>},
    {"s_cmp_lt_i32", scalar_compare<[](i32 a, i32 b) { return a < b; }>},
    {"s_cmp_le_i32", scalar_compare<[](i32 a, i32 b) { return a <= b; }>},
    {"s_cmp_eq_u32", scalar_compare<[](u32 a, u32 b) { return a == b; }>},
    {"s_cmp_lg_u32", scalar_compare<[](u32 a, u32 b) { return a != b; }>},
    {"s_cmp_gt_u32", scalar_compare<[](u32 a, u32 b) { return (a > b); }>},
    {"s_cmp_ge_u32", scalar_compare<[](u32 a, u32 b) { return (a >= b); }>},
    {"s_cmp_lt_u32", scalar_compare<[](u32 a, u32 b) { return a < b; }>},
    {"s_cmp_le_u32", scalar_compare<[](u32 a, u32 b) { return a <= b; }>},
    {"s_cmp_eq_u64", scalar_compare<[](u64 a, u64 b) { return a == b; }>},
    {"s_cmp_lg_u64", scalar_compare<[](u64 a, u64 b) { return a != b; }>},
    {"s_bitcmp0_b32", scalar_compare<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }>},
    {"s_bitcmp1_b32", scalar_compare<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; }>},
    {"s_bitcmp0_b64", scalar_compare<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }>},
    {"s_bitcmp1_b64", scalar_compare<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; }>},
    {"s_cmpk_eq_i32", compare_signed_constant<std::equal_to<>>},
    {"s_cmpk_lg_i32", compare_signed_constant<std::not_equal_to<>>},
    {"s_cmpk_gt_i32", compare_signed_constant<std::greater<>>},
    {"s_cmpk_ge_i32", compare_signed_constant<std::greater_equal<>>},
    {"s_cmpk_lt_i32", compare_signed_constant<std::less<>>},
    {"s_cmpk_le_i32", compare_signed_constant<std::less_equal<>>},
    {"s_cmpk_eq_u32", compare_unsigned_constant<std::equal_to<>>},
    {"s_cmpk_lg_u32", compare_unsigned_constant<std::not_equal_to<>>},
    {"s_cmpk_gt_u32", compare_unsigned_constant<std::greater<>>},
    {"s_cmpk_ge_u32", compare_unsigned_constant<std::greater_equal<>>},
    {"s_cmpk_lt_u32", compare_unsigned_constant<std::less<>>},
    {"s_cmpk_le_u32", compare_unsigned_constant<std::less_equal<>>},
};

} // namespace

OpcodeRows scalar_arithmetic_rows() {
  return rows;
}

} // namespace asmevo::emulator
