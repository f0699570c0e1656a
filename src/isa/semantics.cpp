#include "isa/semantics.h"

#include "isa/encoding.h"

#include <algorithm>
#include <array>
#include <utility>

namespace asmevo::isa {

namespace {

bool starts(const Instruction& i, std::string_view prefix) {
  return i.base_mnemonic.starts_with(prefix);
}
bool has(const Instruction& i, std::string_view part) {
  return i.base_mnemonic.find(part) != std::string_view::npos;
}
bool ends(const Instruction& i, std::string_view suffix) {
  return i.base_mnemonic.ends_with(suffix);
}

bool any_of(std::string_view mnemonic, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, mnemonic) != list.end();
}

// --- memory ---

// Bytes from the last size word of a mnemonic: "dwordx4", "b64", "ushort", "f16" ... 0 where there is none.
unsigned size_of_suffix(std::string_view m) {
  struct Size {
    std::string_view word;
    unsigned bytes;
  };
  constexpr std::array sizes = {
      Size{"dwordx16", 64}, Size{"dwordx8", 32}, Size{"dwordx4", 16}, Size{"dwordx3", 12}, Size{"dwordx2", 8},
      Size{"dword", 4},     Size{"ubyte", 1},    Size{"sbyte", 1},    Size{"byte", 1},     Size{"ushort", 2},
      Size{"sshort", 2},    Size{"short", 2},    Size{"b128", 16},    Size{"b96", 12},     Size{"b64", 8},
      Size{"u64", 8},       Size{"i64", 8},      Size{"f64", 8},      Size{"b32", 4},      Size{"u32", 4},
      Size{"i32", 4},       Size{"f32", 4},      Size{"b16", 2},      Size{"u16", 2},      Size{"i16", 2},
      Size{"f16", 4},       Size{"bf16", 4}, // pk_add_f16, pk_add_bf16: two of them
      Size{"u8", 1},        Size{"i8", 1},       Size{"b8", 1},
  };
  unsigned bytes = 0;
  size_t best = 0;
  for (const Size& s : sizes) {
    const size_t at = m.rfind("_" + std::string(s.word));
    if (at == std::string_view::npos) continue;
    const size_t end = at + 1 + s.word.size();
    if (end < m.size() && m[end] != '_') continue;
    if (bytes == 0 || at > best) best = at, bytes = s.bytes;
  }
  return bytes;
}

unsigned formatted_bytes(std::string_view m) {
  const size_t at = m.find("format_");
  const auto components = static_cast<unsigned>(m.size() - at - 7);
  const bool d16 = m.find("d16") != std::string_view::npos;
  if (m.find("hi") != std::string_view::npos) return 2; // format_d16_hi_x
  if (d16) return 2 * static_cast<unsigned>(m.size() - m.rfind('_') - 1);
  return 4 * components;
}

unsigned access_bytes(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  if (has(i, "format_")) return formatted_bytes(m);
  // ds_read_b64_tr_b16: 64 bits a lane, transposed in elements of 16.
  unsigned bytes = size_of_suffix(m.substr(0, std::min(m.find("_tr_"), m.size())));
  if (has(i, "read2") || has(i, "write2") || has(i, "wrxchg2")) return 2 * bytes;
  if (has(i, "_d16")) bytes = has(i, "byte") || has(i, "u8") || has(i, "i8") || has(i, "_b8") ? 1 : 2;
  if (bytes == 0 && has(i, "atomic")) bytes = ends(i, "_x2") ? 8 : 4;
  if (bytes == 0 && any_of(m, {"ds_append", "ds_consume"})) bytes = 4;
  return bytes;
}

MemoryKind memory_kind(const Instruction& i) {
  switch (i.family) {
  case Family::Smem: return MemoryKind::Scalar;
  case Family::Mubuf:
  case Family::Mtbuf: return MemoryKind::Buffer;
  case Family::Ds: return i.mods.gds || has(i, "gws") ? MemoryKind::Gds : MemoryKind::Lds;
  case Family::Flat:
    return starts(i, "global_")    ? MemoryKind::Global
           : starts(i, "scratch_") ? MemoryKind::Scratch
                                   : MemoryKind::Flat;
  default: return MemoryKind::None;
  }
}

bool is_cache_control(const Instruction& i) {
  return any_of(i.base_mnemonic,
                {"buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_wbl2", "buffer_inv", "buffer_invl2",
                 "s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol"});
}

// DS instructions that move data between lanes through the LDS crossbar and touch no memory.
bool is_lds_crossbar(const Instruction& i) {
  return any_of(i.base_mnemonic, {"ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32", "ds_nop"});
}

bool is_lds_atomic(const Instruction& i) {
  constexpr std::array ops = {"ds_add",    "ds_sub",  "ds_rsub",   "ds_inc",    "ds_dec",     "ds_min",
                              "ds_max",    "ds_and",  "ds_or",     "ds_xor",    "ds_mskor",   "ds_cmpst",
                              "ds_wrxchg", "ds_wrap", "ds_pk_add", "ds_append", "ds_consume", "ds_condxchg"};
  return std::ranges::any_of(ops, [&](std::string_view op) { return i.base_mnemonic.starts_with(op); });
}

void describe_memory(Instruction& i) {
  MemoryAccess& a = i.memory;
  a.kind = memory_kind(i);
  if (a.kind == MemoryKind::None) return;
  if (is_cache_control(i)) {
    i.side_effects = true;
    return;
  }
  if (any_of(i.base_mnemonic, {"s_memtime", "s_memrealtime", "s_atc_probe", "s_atc_probe_buffer",
                               "s_dcache_discard", "s_dcache_discard_x2"})) {
    i.side_effects = true;
    a.kind = MemoryKind::Scalar;
    a.returns = has(i, "time");
    return;
  }
  if (is_lds_crossbar(i)) {
    a.kind = MemoryKind::None;
    a.returns = !i.defs.empty();
    return;
  }
  a.atomic = has(i, "atomic") || (i.family == Family::Ds && is_lds_atomic(i));
  a.lds_dma = i.mods.lds || has(i, "load_lds");
  const bool writes = has(i, "store") || has(i, "ds_write");
  a.load = a.atomic || !writes;
  a.store = a.atomic || writes;
  a.returns = !i.defs.empty() && a.load && !a.lds_dma;
  a.bytes = static_cast<uint8_t>(access_bytes(i));
  if (a.kind == MemoryKind::Gds) i.side_effects = true;
}

void describe_counters(Instruction& i) {
  WaitCounters& c = i.counters;
  switch (i.family) {
  case Family::Smem: c.lgkmcnt = 1; break;
  case Family::Mubuf:
  case Family::Mtbuf:
  case Family::Mimg: c.vmcnt = 1; break;
  case Family::Flat:
    c.vmcnt = 1;
    if (i.memory.kind == MemoryKind::Flat) c.lgkmcnt = 1;
    break;
  case Family::Ds:
    if (i.is("ds_nop")) break;
    c.lgkmcnt = 1;
    if (i.memory.kind == MemoryKind::Gds) c.expcnt = 1;
    break;
  case Family::Exp: c.expcnt = 1; break;
  case Family::Sopp:
    if (i.is("s_sendmsg") || i.is("s_sendmsghalt")) c.lgkmcnt = 1;
    break;
  default: break;
  }
}

// --- what it is ---

bool is_transcendental(const Instruction& i) {
  constexpr std::array prefixes = {"v_exp_",  "v_log_", "v_rcp_", "v_rsq_",
                                   "v_sqrt_", "v_sin_", "v_cos_", "v_prng_"};
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return i.base_mnemonic.starts_with(p); }) &&
         !starts(i, "v_prng_");
}

MatrixKind matrix_kind(const Instruction& i) {
  if (starts(i, "v_smfmac")) return MatrixKind::Xdl;
  if (!starts(i, "v_mfma_")) return MatrixKind::None;
  if (starts(i, "v_mfma_f64")) return MatrixKind::Dgemm;
  if (ends(i, "f32") && !ends(i, "xf32")) return MatrixKind::Sgemm;
  return MatrixKind::Xdl;
}

IssueClass sopp_class(const Instruction& i) {
  if (i.branch) return IssueClass::Branch;
  if (i.ends_program) return IssueClass::EndProgram;
  if (i.is("s_waitcnt")) return IssueClass::Waitcnt;
  if (i.is("s_nop")) return IssueClass::Nop;
  if (i.is("s_barrier")) return IssueClass::Barrier;
  if (i.is("s_sendmsg") || i.is("s_sendmsghalt")) return IssueClass::Message;
  return IssueClass::Internal;
}

IssueClass issue_class(const Instruction& i) {
  switch (i.family) {
  case Family::Sopp: return sopp_class(i);
  case Family::Sop1:
  case Family::Sop2:
  case Family::Sopk:
  case Family::Sopc: return i.branch || i.indirect ? IssueClass::Branch : IssueClass::Salu;
  case Family::Smem: return IssueClass::Smem;
  case Family::Vop1:
  case Family::Vop2:
  case Family::Vopc:
  case Family::Vop3:
  case Family::Vop3p:
  case Family::Vintrp:
    if (i.matrix != MatrixKind::None) return IssueClass::Mfma;
    return is_transcendental(i) ? IssueClass::Transcendental : IssueClass::Valu;
  case Family::Ds: return IssueClass::Lds;
  case Family::Mubuf:
  case Family::Mtbuf:
  case Family::Mimg: return IssueClass::Vmem;
  case Family::Flat: return i.memory.kind == MemoryKind::Flat ? IssueClass::Flat : IssueClass::Vmem;
  case Family::Exp: return IssueClass::Export;
  case Family::Data: return IssueClass::Data;
  }
  return IssueClass::Data;
}

void describe_control(Instruction& i) {
  i.call = i.is("s_call_b64") || i.is("s_swappc_b64");
  i.branch = i.is("s_branch") || starts(i, "s_cbranch_") || i.is("s_call_b64");
  if (any_of(i.base_mnemonic, {"s_cbranch_g_fork", "s_cbranch_join"})) i.branch = false, i.indirect = true;
  i.conditional = i.branch && !i.is("s_branch") && !i.is("s_call_b64");
  i.indirect = i.indirect ||
               any_of(i.base_mnemonic, {"s_setpc_b64", "s_swappc_b64", "s_rfe_b64", "s_rfe_restore_b64"});
  i.ends_program = any_of(i.base_mnemonic, {"s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"});
}

void describe_lanes(Instruction& i) {
  i.matrix = matrix_kind(i);
  const bool vector = i.family >= Family::Vop1 && i.family != Family::Exp && i.family != Family::Data;
  const bool lane_access = any_of(i.base_mnemonic, {"v_readlane_b32", "v_writelane_b32"});
  i.writes_all_lanes = i.matrix != MatrixKind::None;
  i.reads_exec = vector && !lane_access && !i.writes_all_lanes;
  i.cross_lane =
      i.extension == Extension::Dpp || i.matrix != MatrixKind::None ||
      any_of(i.base_mnemonic, {"v_readlane_b32", "v_readfirstlane_b32", "ds_swizzle_b32", "ds_permute_b32",
                               "ds_bpermute_b32", "v_permlane16_swap_b32", "v_permlane32_swap_b32"}) ||
      has(i, "_tr_b") || has(i, "_tr16_") || has(i, "_tr6_") || has(i, "_tr4_");
}

// 16-bit VOP3 instructions of GFX9 that write one half of the destination (op_sel bit 3 says which) and leave
// the other; the older ones clear the upper half (CDNA3 ISA, VOP3 op_sel; LLVM's _gfx9 variants).
bool writes_half(const Instruction& i) {
  if (i.family != Family::Vop3) return false;
  if ((i.mods.op_sel & 8) != 0) return true;
  return any_of(i.base_mnemonic,
                {"v_mad_f16", "v_mad_u16", "v_mad_i16", "v_fma_f16", "v_div_fixup_f16", "v_interp_p2_f16",
                 "v_add_i16", "v_sub_i16", "v_med3_f16", "v_min3_f16", "v_max3_f16", "v_med3_i16",
                 "v_min3_i16", "v_max3_i16", "v_med3_u16", "v_min3_u16", "v_max3_u16"});
}

// 16-bit loads keep the other half of the register where sramecc is off; LLVM ties the old value only for
// some.
bool loads_half(const Instruction& i) {
  return i.memory.load && !i.memory.lds_dma && has(i, "_d16") && !ends(i, "_xy") && !ends(i, "_xyzw");
}

// SDWA with dst_unused:UNUSED_PRESERVE.
bool preserves_rest(const Instruction& i) {
  constexpr uint8_t unused_preserve = 2, dword = 6;
  return i.extension == Extension::Sdwa && i.family != Family::Vopc && i.mods.dst_unused == unused_preserve &&
         i.mods.dst_sel != dword;
}

// It adds one byte to what its destination holds; LLVM does not say so.
bool accumulates_bytes(const Instruction& i) {
  return i.is("v_cvt_pkaccum_u8_f32");
}

bool is_vop3b(const Instruction& i) {
  return i.family == Family::Vop3 &&
         any_of(i.base_mnemonic,
                {"v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32", "v_addc_co_u32", "v_subb_co_u32",
                 "v_subbrev_co_u32", "v_div_scale_f32", "v_div_scale_f64", "v_mad_u64_u32", "v_mad_i64_i32"});
}

} // namespace

bool lds_uses_m0(std::string_view m) {
  return m.find("gws") != std::string_view::npos || m.find("addtid") != std::string_view::npos ||
         any_of(m, {"ds_append", "ds_consume", "ds_ordered_count"});
}

void describe(Instruction& i, const Target& target) {
  // Bit 13 is LDS on gfx90a (memory to LDS by global and scratch loads) and SVE on gfx940, which has opcodes
  // of its own.
  if (i.family == Family::Flat && target.gfx == Gfx::gfx90a) i.mods.lds = (i.words[0] >> 13 & 1) != 0;
  if (is_vop3b(i)) i.mods.op_sel = 0, i.mods.abs = 0;
  describe_control(i);
  describe_lanes(i);
  describe_memory(i);
  describe_counters(i);
  i.issue = issue_class(i);
  i.partial_def = writes_half(i) || loads_half(i) || preserves_rest(i) || accumulates_bytes(i) ||
                  std::ranges::any_of(i.operands, [](const Operand& o) { return o.role == Role::Old; });
  i.sets_vskip = i.is("s_setvskip");
  i.vgpr_index_mode = starts(i, "s_set_gpr_idx") || starts(i, "v_movrel");
  i.side_effects = i.side_effects || i.issue == IssueClass::Internal || i.issue == IssueClass::Message ||
                   i.issue == IssueClass::Barrier || starts(i, "s_setreg") || starts(i, "s_getreg") ||
                   i.sets_vskip || starts(i, "s_set_gpr_idx") || starts(i, "v_nop") || i.is("v_clrexcp");
}

} // namespace asmevo::isa
