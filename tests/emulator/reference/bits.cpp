// Logic, shifts, fields and bytes of vector instructions.
#include "emulator/reference/operations.h"

#include <bit>

namespace asmevo::reference {

namespace {

constexpr Type I32 = Type::I32, U16 = Type::U16, U32 = Type::U32, U64 = Type::U64;
template <Type... T>
constexpr std::span<const Type> of = types<T...>;

using L = const Lane&;
using W = uint64_t;
constexpr W all = 0xffffffff;

W field_mask(W width) {
  return (W{1} << (width & 31)) - 1;
}
W reversed(W v) {
  W r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (v >> n & 1) << (31 - n);
  return r;
}
W first_from_top(W v) {
  for (unsigned n = 0; n < 32; ++n)
    if ((v >> (31 - n) & 1) != 0) return n;
  return all;
}
W first_unlike_sign(W v) {
  for (unsigned n = 1; n < 32; ++n)
    if ((v >> (31 - n) & 1) != (v >> 31 & 1)) return n;
  return all;
}
W first_from_bottom(W v) {
  for (unsigned n = 0; n < 32; ++n)
    if ((v >> n & 1) != 0) return n;
  return all;
}
W counted(W v) {
  return static_cast<W>(std::popcount(v));
}

W byte_of(W low, W high, W select) {
  const W both = low | high << 32;
  if (select >= 13) return 0xff;
  if (select == 12) return 0;
  if (select >= 8) return (both >> (16 * (select - 8) + 15) & 1) != 0 ? 0xff : 0;
  return both >> (8 * select) & 0xff;
}
W permuted(L, W a, W b, W c) {
  W r = 0;
  for (unsigned n = 0; n < 4; ++n) r |= byte_of(b, a, c >> (8 * n) & 0xff) << (8 * n);
  return r;
}
W by_table(L l, W a, W b, W c) {
  W r = 0;
  for (unsigned n = 0; n < 32; ++n) {
    const unsigned index = (a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1);
    r |= W{l.instruction.mods.bitop3 >> index & 1U} << n;
  }
  return r;
}
template <int64_t least, int64_t most>
W limited(int64_t v) {
  return static_cast<W>(v < least ? least : v > most ? most : v) & 0xff;
}
W two_unsigned_bytes(L, W a, W, W) {
  return limited<0, 255>(sign_extended(a, 16)) | limited<0, 255>(sign_extended(a >> 16, 16)) << 8;
}
template <int64_t least, int64_t most>
W shifted_bytes(L, W a, W b, W c) {
  return limited<least, most>(sign_extended(a, 32) >> (c & 31)) |
         limited<least, most>(sign_extended(b, 32) >> (c & 31)) << 8;
}
W lanes_below(L l, W a, W b, bool upper) {
  const W below = (W{1} << l.number) - 1;
  return (b + counted(a & (upper ? below >> 32 : below & all))) & all;
}

constexpr Operation table[] = {
    {"v_mov_b32", U32, of<U32>, [](L, W a, W, W) { return a; }},
    {"v_mov_b64", U64, of<U64>, [](L, W a, W, W) { return a; }},
    {"v_accvgpr_read_b32", U32, of<U32>, [](L, W a, W, W) { return a; }},
    {"v_accvgpr_write_b32", U32, of<U32>, [](L, W a, W, W) { return a; }},
    {"v_accvgpr_mov_b32", U32, of<U32>, [](L, W a, W, W) { return a; }},
    {"v_not_b32", U32, of<U32>, [](L, W a, W, W) { return ~a & all; }},
    {"v_and_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return a & b; }},
    {"v_or_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return a | b; }},
    {"v_xor_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return a ^ b; }},
    {"v_xnor_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return ~(a ^ b) & all; }},
    {"v_or3_b32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return a | b | c; }},
    {"v_and_or_b32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return (a & b) | c; }},
    {"v_xad_u32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return ((a ^ b) + c) & all; }},
    {"v_bfi_b32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return (a & b) | (~a & c & all); }},
    {"v_bitop3_b32", U32, of<U32, U32, U32>, by_table},
    {"v_bitop3_b16", U16, of<U16, U16, U16>,
     [](L l, W a, W b, W c) { return by_table(l, a, b, c) & 0xffff; }},
    {"v_lshlrev_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return b << (a & 31) & all; }},
    {"v_lshrrev_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return b >> (a & 31); }},
    {"v_ashrrev_i32", I32, of<U32, I32>,
     [](L, W a, W b, W) { return static_cast<W>(sign_extended(b, 32) >> (a & 31)) & all; }},
    {"v_lshlrev_b16", U16, of<U16, U16>, [](L, W a, W b, W) { return b << (a & 15) & 0xffff; }},
    {"v_lshrrev_b16", U16, of<U16, U16>, [](L, W a, W b, W) { return b >> (a & 15); }},
    {"v_ashrrev_i16", Type::I16, of<U16, Type::I16>,
     [](L, W a, W b, W) { return static_cast<W>(sign_extended(b, 16) >> (a & 15)) & 0xffff; }},
    {"v_lshlrev_b64", U64, of<U32, U64>, [](L, W a, W b, W) { return b << (a & 63); }},
    {"v_lshrrev_b64", U64, of<U32, U64>, [](L, W a, W b, W) { return b >> (a & 63); }},
    {"v_ashrrev_i64", U64, of<U32, U64>,
     [](L, W a, W b, W) { return static_cast<W>(static_cast<int64_t>(b) >> (a & 63)); }},
    {"v_lshl_add_u32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return ((a << (b & 31)) + c) & all; }},
    {"v_add_lshl_u32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return (a + b) << (c & 31) & all; }},
    {"v_lshl_or_b32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return (a << (b & 31) & all) | c; }},
    {"v_lshl_add_u64", U64, of<U64, U32, U64>, [](L, W a, W b, W c) { return (a << (b & 7)) + c; }},
    {"v_alignbit_b32", U32, of<U32, U32, U16>,
     [](L, W a, W b, W c) { return (a << 32 | b) >> (c & 31) & all; }},
    {"v_alignbyte_b32", U32, of<U32, U32, U16>,
     [](L, W a, W b, W c) { return (a << 32 | b) >> (8 * (c & 3)) & all; }},
    {"v_bfe_u32", U32, of<U32, U32, U32>, [](L, W a, W b, W c) { return a >> (b & 31) & field_mask(c); }},
    {"v_bfe_i32", I32, of<I32, U32, U32>,
     [](L, W a, W b, W c) {
       const W part = static_cast<W>(sign_extended(a, 32) >> (b & 31)) & field_mask(c);
       const unsigned width = c & 31;
       return width == 0 ? 0 : static_cast<W>(sign_extended(part, width)) & all;
     }},
    {"v_bfm_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return field_mask(a) << (b & 31) & all; }},
    {"v_bfrev_b32", U32, of<U32>, [](L, W a, W, W) { return reversed(a); }},
    {"v_bcnt_u32_b32", U32, of<U32, U32>, [](L, W a, W b, W) { return (counted(a) + b) & all; }},
    {"v_mbcnt_lo_u32_b32", U32, of<U32, U32>, [](L l, W a, W b, W) { return lanes_below(l, a, b, false); }},
    {"v_mbcnt_hi_u32_b32", U32, of<U32, U32>, [](L l, W a, W b, W) { return lanes_below(l, a, b, true); }},
    {"v_ffbh_u32", U32, of<U32>, [](L, W a, W, W) { return first_from_top(a); }},
    {"v_ffbh_i32", U32, of<U32>, [](L, W a, W, W) { return first_unlike_sign(a); }},
    {"v_ffbl_b32", U32, of<U32>, [](L, W a, W, W) { return first_from_bottom(a); }},
    {"v_perm_b32", U32, of<U32, U32, U32>, permuted},
    {"v_sat_pk_u8_i16", U16, of<U32>, two_unsigned_bytes},
    {"v_ashr_pk_i8_i32", U16, of<U32, U32, U32>, shifted_bytes<-128, 127>},
    {"v_ashr_pk_u8_i32", U16, of<U32, U32, U32>, shifted_bytes<0, 255>},
    {"v_prng_b32", U32, of<U32>, [](L, W a, W, W) { return ((a << 1) ^ ((a >> 31) != 0 ? 197 : 0)) & all; }},
};

} // namespace

std::span<const Operation> bit_operations() {
  return table;
}

} // namespace asmevo::reference
