// Scalar ALU and program control. An instruction is a function of its sources and SCC to a result and,
// where it sets it, SCC.
#include "emulator/reference/vector.h"

#include <bit>

namespace asmevo::reference {

namespace {

using isa::Instruction;

struct Outcome {
  uint64_t value = 0;
  int scc = -1;       // -1: stays
  bool writes = true; // the destination
};
using W = uint64_t;
constexpr W all32 = 0xffffffff;

Outcome plain(W value) {
  return {value};
}
Outcome flagged(W value) {
  return {value, value != 0 ? 1 : 0};
}
Outcome test(bool scc) {
  return {0, scc ? 1 : 0, false};
}
int64_t s32(W v) {
  return static_cast<int32_t>(v);
}
W mask_of(W width) {
  return width >= 64 ? ~W{0} : (W{1} << width) - 1;
}
W first_set(W v, unsigned bits) {
  for (unsigned n = 0; n < bits; ++n)
    if ((v >> n & 1) != 0) return n;
  return all32;
}
W leading(W v, unsigned bits) {
  for (unsigned n = 0; n < bits; ++n)
    if ((v >> (bits - 1 - n) & 1) != 0) return n;
  return all32;
}
W leading_unlike_sign(W v, unsigned bits) {
  for (unsigned n = 1; n < bits; ++n)
    if ((v >> (bits - 1 - n) & 1) != (v >> (bits - 1) & 1)) return n;
  return all32;
}
W reversed(W v, unsigned bits) {
  W r = 0;
  for (unsigned n = 0; n < bits; ++n) r |= (v >> n & 1) << (bits - 1 - n);
  return r;
}
W quads(W v, unsigned bits, bool spread) {
  W r = 0;
  for (unsigned q = 0; q < bits / 4; ++q)
    if ((v >> (4 * q) & 15) != 0) r |= spread ? W{15} << (4 * q) : W{1} << q;
  return r;
}
W twice(W v) {
  W r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (v >> n & 1) * 3 << (2 * n);
  return r;
}
Outcome field(W v, W how, unsigned bits, bool has_sign) {
  const W shift = how & (bits - 1), width = how >> 16 & 0x7f;
  const int64_t extended = bits == 64 ? static_cast<int64_t>(v) : s32(v);
  W part = (has_sign ? static_cast<W>(extended >> shift) : v >> shift) & mask_of(width);
  if (has_sign && width != 0 && width < 64)
    part = static_cast<W>(sign_extended(part, static_cast<unsigned>(width)));
  return flagged(bits == 64 ? part : part & all32);
}
Outcome sum(W a, W b, W carry) {
  const W total = a + b + carry;
  return {total & all32, total > all32 ? 1 : 0};
}
Outcome difference(W a, W b, W borrow) {
  return {(a - b - borrow) & all32, b + borrow > a ? 1 : 0};
}
Outcome signed_result(int64_t exact) {
  return {static_cast<W>(exact) & all32, exact != s32(static_cast<W>(exact)) ? 1 : 0};
}
template <unsigned shift>
Outcome shift_add(W a, W b, W, W) {
  const W total = (a << shift) + b;
  return {total & all32, total > all32 ? 1 : 0};
}

// `d`: what the destination held.
using Run = Outcome (*)(W a, W b, W scc, W d);
struct Row {
  std::string_view mnemonic;
  unsigned result, first, second; // dwords; 0: has none
  Run run;
};

constexpr Row moves[] = {
    {"s_mov_b32", 1, 1, 0, [](W a, W, W, W) { return plain(a); }},
    {"s_mov_b64", 2, 2, 0, [](W a, W, W, W) { return plain(a); }},
    {"s_cmov_b32", 1, 1, 0, [](W a, W, W scc, W d) { return plain(scc != 0 ? a : d); }},
    {"s_cmov_b64", 2, 2, 0, [](W a, W, W scc, W d) { return plain(scc != 0 ? a : d); }},
    {"s_cselect_b32", 1, 1, 1, [](W a, W b, W scc, W) { return plain(scc != 0 ? a : b); }},
    {"s_cselect_b64", 2, 2, 2, [](W a, W b, W scc, W) { return plain(scc != 0 ? a : b); }},
    {"s_pack_ll_b32_b16", 1, 1, 1, [](W a, W b, W, W) { return plain((a & 0xffff) | (b & 0xffff) << 16); }},
    {"s_pack_lh_b32_b16", 1, 1, 1, [](W a, W b, W, W) { return plain((a & 0xffff) | (b >> 16) << 16); }},
    {"s_pack_hh_b32_b16", 1, 1, 1, [](W a, W b, W, W) { return plain(a >> 16 | (b >> 16) << 16); }},
    {"s_sext_i32_i8", 1, 1, 0,
     [](W a, W, W, W) { return plain(static_cast<W>(sign_extended(a & 0xff, 8)) & all32); }},
    {"s_sext_i32_i16", 1, 1, 0,
     [](W a, W, W, W) { return plain(static_cast<W>(sign_extended(a & 0xffff, 16)) & all32); }},
    {"s_brev_b32", 1, 1, 0, [](W a, W, W, W) { return plain(reversed(a, 32)); }},
    {"s_brev_b64", 2, 2, 0, [](W a, W, W, W) { return plain(reversed(a, 64)); }},
    {"s_bitreplicate_b64_b32", 2, 1, 0, [](W a, W, W, W) { return plain(twice(a)); }},
    {"s_quadmask_b32", 1, 1, 0, [](W a, W, W, W) { return flagged(quads(a, 32, false)); }},
    {"s_quadmask_b64", 2, 2, 0, [](W a, W, W, W) { return flagged(quads(a, 64, false)); }},
    {"s_wqm_b32", 1, 1, 0, [](W a, W, W, W) { return flagged(quads(a, 32, true)); }},
    {"s_wqm_b64", 2, 2, 0, [](W a, W, W, W) { return flagged(quads(a, 64, true)); }},
    {"s_bcnt0_i32_b32", 1, 1, 0, [](W a, W, W, W) { return flagged(32 - static_cast<W>(std::popcount(a))); }},
    {"s_bcnt0_i32_b64", 1, 2, 0, [](W a, W, W, W) { return flagged(64 - static_cast<W>(std::popcount(a))); }},
    {"s_bcnt1_i32_b32", 1, 1, 0, [](W a, W, W, W) { return flagged(static_cast<W>(std::popcount(a))); }},
    {"s_bcnt1_i32_b64", 1, 2, 0, [](W a, W, W, W) { return flagged(static_cast<W>(std::popcount(a))); }},
    {"s_ff0_i32_b32", 1, 1, 0, [](W a, W, W, W) { return plain(first_set(~a, 32)); }},
    {"s_ff0_i32_b64", 1, 2, 0, [](W a, W, W, W) { return plain(first_set(~a, 64)); }},
    {"s_ff1_i32_b32", 1, 1, 0, [](W a, W, W, W) { return plain(first_set(a, 32)); }},
    {"s_ff1_i32_b64", 1, 2, 0, [](W a, W, W, W) { return plain(first_set(a, 64)); }},
    {"s_flbit_i32_b32", 1, 1, 0, [](W a, W, W, W) { return plain(leading(a, 32)); }},
    {"s_flbit_i32_b64", 1, 2, 0, [](W a, W, W, W) { return plain(leading(a, 64)); }},
    {"s_flbit_i32", 1, 1, 0, [](W a, W, W, W) { return plain(leading_unlike_sign(a, 32)); }},
    {"s_flbit_i32_i64", 1, 2, 0, [](W a, W, W, W) { return plain(leading_unlike_sign(a, 64)); }},
    {"s_bitset0_b32", 1, 1, 0, [](W a, W, W, W d) { return plain(d & ~(W{1} << (a & 31))); }},
    {"s_bitset1_b32", 1, 1, 0, [](W a, W, W, W d) { return plain(d | W{1} << (a & 31)); }},
    {"s_bitset0_b64", 2, 1, 0, [](W a, W, W, W d) { return plain(d & ~(W{1} << (a & 63))); }},
    {"s_bitset1_b64", 2, 1, 0, [](W a, W, W, W d) { return plain(d | W{1} << (a & 63)); }},
};

constexpr Row arithmetic[] = {
    {"s_add_u32", 1, 1, 1, [](W a, W b, W, W) { return sum(a, b, 0); }},
    {"s_addc_u32", 1, 1, 1, [](W a, W b, W scc, W) { return sum(a, b, scc); }},
    {"s_sub_u32", 1, 1, 1, [](W a, W b, W, W) { return difference(a, b, 0); }},
    {"s_subb_u32", 1, 1, 1, [](W a, W b, W scc, W) { return difference(a, b, scc); }},
    {"s_add_i32", 1, 1, 1, [](W a, W b, W, W) { return signed_result(s32(a) + s32(b)); }},
    {"s_sub_i32", 1, 1, 1, [](W a, W b, W, W) { return signed_result(s32(a) - s32(b)); }},
    {"s_lshl1_add_u32", 1, 1, 1, shift_add<1>},
    {"s_lshl2_add_u32", 1, 1, 1, shift_add<2>},
    {"s_lshl3_add_u32", 1, 1, 1, shift_add<3>},
    {"s_lshl4_add_u32", 1, 1, 1, shift_add<4>},
    {"s_mul_i32", 1, 1, 1, [](W a, W b, W, W) { return plain(a * b & all32); }},
    {"s_mul_hi_u32", 1, 1, 1, [](W a, W b, W, W) { return plain(a * b >> 32); }},
    {"s_mul_hi_i32", 1, 1, 1,
     [](W a, W b, W, W) { return plain(static_cast<W>((s32(a) * s32(b)) >> 32) & all32); }},
    {"s_abs_i32", 1, 1, 0,
     [](W a, W, W, W) { return flagged(static_cast<W>(s32(a) < 0 ? -s32(a) : s32(a)) & all32); }},
    {"s_absdiff_i32", 1, 1, 1,
     [](W a, W b, W, W) {
       const int64_t d = s32((a - b) & all32); // wraps first
       return flagged(static_cast<W>(d < 0 ? -d : d) & all32);
     }},
    {"s_min_i32", 1, 1, 1, [](W a, W b, W, W) { return s32(a) < s32(b) ? Outcome{a, 1} : Outcome{b, 0}; }},
    {"s_min_u32", 1, 1, 1, [](W a, W b, W, W) { return a < b ? Outcome{a, 1} : Outcome{b, 0}; }},
    {"s_max_i32", 1, 1, 1, [](W a, W b, W, W) { return s32(a) >= s32(b) ? Outcome{a, 1} : Outcome{b, 0}; }},
    {"s_max_u32", 1, 1, 1, [](W a, W b, W, W) { return a >= b ? Outcome{a, 1} : Outcome{b, 0}; }},
    {"s_lshl_b32", 1, 1, 1, [](W a, W b, W, W) { return flagged(a << (b & 31) & all32); }},
    {"s_lshl_b64", 2, 2, 1, [](W a, W b, W, W) { return flagged(a << (b & 63)); }},
    {"s_lshr_b32", 1, 1, 1, [](W a, W b, W, W) { return flagged(a >> (b & 31)); }},
    {"s_lshr_b64", 2, 2, 1, [](W a, W b, W, W) { return flagged(a >> (b & 63)); }},
    {"s_ashr_i32", 1, 1, 1,
     [](W a, W b, W, W) { return flagged(static_cast<W>(s32(a) >> (b & 31)) & all32); }},
    {"s_ashr_i64", 2, 2, 1,
     [](W a, W b, W, W) { return flagged(static_cast<W>(static_cast<int64_t>(a) >> (b & 63))); }},
    {"s_bfe_u32", 1, 1, 1, [](W a, W b, W, W) { return field(a, b, 32, false); }},
    {"s_bfe_i32", 1, 1, 1, [](W a, W b, W, W) { return field(a, b, 32, true); }},
    {"s_bfe_u64", 2, 2, 1, [](W a, W b, W, W) { return field(a, b, 64, false); }},
    {"s_bfe_i64", 2, 2, 1, [](W a, W b, W, W) { return field(a, b, 64, true); }},
    {"s_bfm_b32", 1, 1, 1, [](W a, W b, W, W) { return plain(mask_of(a & 31) << (b & 31) & all32); }},
    {"s_bfm_b64", 2, 1, 1, [](W a, W b, W, W) { return plain(mask_of(a & 63) << (b & 63)); }},
    {"s_cmp_eq_u64", 0, 2, 2, [](W a, W b, W, W) { return test(a == b); }},
    {"s_cmp_lg_u64", 0, 2, 2, [](W a, W b, W, W) { return test(a != b); }},
    {"s_bitcmp0_b32", 0, 1, 1, [](W a, W b, W, W) { return test((a >> (b & 31) & 1) == 0); }},
    {"s_bitcmp1_b32", 0, 1, 1, [](W a, W b, W, W) { return test((a >> (b & 31) & 1) != 0); }},
    {"s_bitcmp0_b64", 0, 2, 1, [](W a, W b, W, W) { return test((a >> (b & 63) & 1) == 0); }},
    {"s_bitcmp1_b64", 0, 2, 1, [](W a, W b, W, W) { return test((a >> (b & 63) & 1) != 0); }},
};

// s_<operation>_b32, _b64, _saveexec_b64, _wrexec_b64
std::optional<W> logic(std::string_view name, W a, W b) {
  if (name == "not") return ~a;
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  if (name == "xor") return a ^ b;
  if (name == "andn2") return a & ~b;
  if (name == "orn2") return a | ~b;
  if (name == "nand") return ~(a & b);
  if (name == "nor") return ~(a | b);
  if (name == "xnor") return ~(a ^ b);
  if (name == "andn1") return ~a & b;
  if (name == "orn1") return ~a | b;
  return std::nullopt;
}

unsigned destination(const Instruction& i) {
  return i.words[0] >> 16 & 0x7f;
}
void write(State& state, unsigned to, unsigned dwords, W value) {
  if (dwords == 2)
    state.set_pair(to, value);
  else
    state.scalars[to] = static_cast<uint32_t>(value);
}

bool run_row(const Row& row, const Instruction& i, State& state) {
  const W a = row.first != 0 ? scalar_operand(state, i, 0, row.first) : 0;
  const W b = row.second != 0 ? scalar_operand(state, i, 1, row.second) : 0;
  const unsigned to = destination(i);
  const W before = row.result == 2 ? state.pair(to) : row.result == 1 ? state.scalars[to] : 0;
  const Outcome o = row.run(a, b, state.scc(), before);
  if (row.result != 0 && o.writes) write(state, to, row.result, o.value);
  if (o.scc >= 0) state.scc() = static_cast<uint32_t>(o.scc);
  return true;
}

bool run_logic(const Instruction& i, State& state) {
  std::string_view rest = i.base_mnemonic.substr(2);
  const size_t end = rest.find('_');
  if (end == std::string_view::npos) return false;
  const std::string_view name = rest.substr(0, end), how = rest.substr(end + 1);
  const bool exec = how == "saveexec_b64" || how == "wrexec_b64", wide = how == "b64" || exec;
  if (!wide && how != "b32") return false;
  const unsigned dwords = wide ? 2 : 1;
  if (!logic(name, 0, 0)) return false;
  const W before = state.exec(), a = scalar_operand(state, i, 0, dwords);
  W value = *logic(name, a, exec ? before : scalar_operand(state, i, 1, dwords));
  if (!wide) value &= all32;
  if (exec) state.set_pair(code::exec, value);
  write(state, destination(i), dwords, how == "saveexec_b64" ? before : value);
  state.scc() = value != 0 ? 1 : 0;
  return true;
}

// s_cmp_<relation>_<i32 or u32>, s_cmpk_...
bool run_comparison(const Instruction& i, State& state) {
  const bool constant = i.base_mnemonic.starts_with("s_cmpk_");
  if (!constant && !i.base_mnemonic.starts_with("s_cmp_")) return false;
  const std::string_view rest = i.base_mnemonic.substr(constant ? 7 : 6), name = rest.substr(0, 2);
  if (!rest.ends_with("32")) return false;
  const bool has_sign = rest.ends_with("i32");
  const W a = constant ? state.scalars[i.words[0] >> 16 & 0x7f] : scalar_operand(state, i, 0, 1);
  W b = i.words[0] & 0xffff;
  if (constant && has_sign) b = static_cast<uint32_t>(sign_extended(b, 16));
  if (!constant) b = scalar_operand(state, i, 1, 1);
  const int64_t x = has_sign ? s32(a) : static_cast<int64_t>(a),
                y = has_sign ? s32(b) : static_cast<int64_t>(b);
  const bool truth = name == "eq"   ? x == y
                     : name == "lg" ? x != y
                     : name == "gt" ? x > y
                     : name == "ge" ? x >= y
                     : name == "lt" ? x < y
                                    : x <= y;
  state.scc() = truth ? 1 : 0;
  return true;
}

bool run_constant(const Instruction& i, State& state) {
  if (i.family != isa::Family::Sopk) return false;
  uint32_t& to = state.scalars[destination(i)];
  const auto value = static_cast<uint32_t>(sign_extended(i.words[0] & 0xffff, 16));
  if (i.is("s_movk_i32")) {
    to = value;
  } else if (i.is("s_cmovk_i32")) {
    if (state.scc() != 0) to = value;
  } else if (i.is("s_addk_i32")) {
    const Outcome o = signed_result(s32(to) + s32(value));
    to = static_cast<uint32_t>(o.value);
    state.scc() = static_cast<uint32_t>(o.scc);
  } else if (i.is("s_mulk_i32")) {
    to *= value;
  } else {
    return false;
  }
  return true;
}

// MODE alone.
bool run_mode(const Instruction& i, State& state) {
  const uint32_t simm = i.words[0] & 0xffff, shift = simm >> 6 & 31, width = (simm >> 11) + 1;
  const auto mask = static_cast<uint32_t>(mask_of(width));
  if ((simm & 0x3f) != 1) return false;
  if (i.is("s_getreg_b32")) {
    state.scalars[destination(i)] = state.mode >> shift & mask;
    return true;
  }
  uint32_t value = 0;
  if (i.is("s_setreg_imm32_b32"))
    value = i.words[1];
  else if (i.is("s_setreg_b32"))
    value = state.scalars[destination(i)];
  else
    return false;
  state.mode = (state.mode & ~(mask << shift)) | (value & mask) << shift;
  return true;
}

bool run_branch(const Instruction& i, State& state) {
  const W vcc = state.pair(code::vcc), exec = state.exec();
  bool taken = false;
  if (i.is("s_branch"))
    taken = true;
  else if (i.is("s_cbranch_scc0"))
    taken = state.scc() == 0;
  else if (i.is("s_cbranch_scc1"))
    taken = state.scc() != 0;
  else if (i.is("s_cbranch_vccz"))
    taken = vcc == 0;
  else if (i.is("s_cbranch_vccnz"))
    taken = vcc != 0;
  else if (i.is("s_cbranch_execz"))
    taken = exec == 0;
  else if (i.is("s_cbranch_execnz"))
    taken = exec != 0;
  else if (i.is("s_getpc_b64"))
    state.set_pair(destination(i), state.pc);
  else if (i.is("s_call_b64"))
    state.set_pair(destination(i), state.pc), taken = true;
  else
    return false;
  if (taken) state.pc += static_cast<W>(int64_t{i.branch_offset()} * 4);
  return true;
}

constexpr std::string_view nothing[] = {
    "s_nop",        "s_waitcnt", "s_setprio",    "s_icache_inv", "s_incperflevel",   "s_decperflevel",
    "s_ttracedata", "s_sleep",   "s_dcache_inv", "s_dcache_wb",  "s_dcache_inv_vol", "s_dcache_wb_vol"};

} // namespace

bool run_scalar(const Instruction& i, State& state) {
  for (const std::string_view name : nothing)
    if (i.is(name)) return true;
  for (const auto rows : {std::span<const Row>(moves), std::span<const Row>(arithmetic)})
    for (const Row& row : rows)
      if (i.is(row.mnemonic)) return run_row(row, i, state);
  if (!i.base_mnemonic.starts_with("s_")) return false;
  return run_constant(i, state) || run_comparison(i, state) || run_logic(i, state) || run_branch(i, state) ||
         (i.family == isa::Family::Sopk && run_mode(i, state));
}

} // namespace asmevo::reference
