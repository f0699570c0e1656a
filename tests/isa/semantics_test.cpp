// What instructions read, write and do: facts of the CDNA3 ISA manual (chapters 4 to 12 and the instruction
// lists), one line an instruction, against what the codec says of the parsed text.
#include "isa/codec.h"
#include "isa/register_names.h"
#include "isa/semantics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace asmevo::isa {
namespace {

using test::names;

std::set<std::string> split(std::string_view text) {
  std::set<std::string> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.insert(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

class Parser {
 public:
  const Instruction& operator()(const char* target, const std::string& text) {
    std::unique_ptr<Codec>& codec = target[3] == '9' && target[4] == '0' ? mi200_
                                    : target[4] == '4'                   ? mi300_
                                                                         : mi350_;
    if (!codec) codec = *Codec::create(*Target::from_id(target));
    const auto lines = codec->parse(text);
    if (lines && lines->size() == 1) return *(*lines)[0].instruction;
    ADD_FAILURE() << target << ": " << text << ": " << (lines ? "no single line" : lines.error().describe());
    static const Instruction nothing;
    return nothing;
  }

 private:
  std::unique_ptr<Codec> mi200_, mi300_, mi350_;
};

struct Access {
  const char* target;
  const char* text;
  const char* defs;
  const char* uses;
};

// EXEC is read by every vector instruction that it masks; MODE by floating point (rounding, denormals).
constexpr Access accesses[] = {
    // scalar arithmetic
    {"gfx942", "s_add_u32 s0, s1, s2", "s0 scc", "s1 s2"},
    {"gfx942", "s_addc_u32 s0, s1, s2", "s0 scc", "s1 s2 scc"},
    {"gfx942", "s_subb_u32 s0, s1, 3", "s0 scc", "s1 scc"},
    {"gfx942", "s_mul_i32 s0, s1, s2", "s0", "s1 s2"},
    {"gfx942", "s_mul_hi_u32 s0, s1, s2", "s0", "s1 s2"},
    {"gfx942", "s_lshl_b64 s[0:1], s[2:3], s4", "s[0:1] scc", "s[2:3] s4"},
    {"gfx942", "s_bfm_b32 s0, s1, s2", "s0", "s1 s2"},
    {"gfx942", "s_bfe_u32 s0, s1, 0x80008", "s0 scc", "s1"},
    {"gfx942", "s_cselect_b32 s0, s1, s2", "s0", "s1 s2 scc"},
    {"gfx942", "s_pack_ll_b32_b16 s0, s1, s2", "s0", "s1 s2"},
    {"gfx942", "s_lshl2_add_u32 s0, s1, s2", "s0 scc", "s1 s2"},
    {"gfx942", "s_absdiff_i32 s0, s1, s2", "s0 scc", "s1 s2"},
    {"gfx942", "s_abs_i32 s0, s1", "s0 scc", "s1"},
    {"gfx942", "s_mov_b64 exec, vcc", "exec", "vcc"},
    {"gfx942", "s_mov_b32 m0, s3", "m0", "s3"},
    {"gfx942", "s_cmov_b32 s0, s1", "s0", "s0 s1 scc"},
    {"gfx942", "s_cmov_b64 s[0:1], s[2:3]", "s[0:1]", "s[0:1] s[2:3] scc"},
    {"gfx942", "s_cmovk_i32 s0, 0x7", "s0", "s0 scc"},
    {"gfx942", "s_bitset1_b32 s0, s1", "s0", "s0 s1"},
    {"gfx942", "s_bitset0_b64 s[0:1], s2", "s[0:1]", "s[0:1] s2"},
    {"gfx942", "s_ff1_i32_b32 s0, s1", "s0", "s1"},
    {"gfx942", "s_bcnt1_i32_b64 s0, s[2:3]", "s0 scc", "s[2:3]"},
    {"gfx942", "s_not_b64 s[0:1], s[2:3]", "s[0:1] scc", "s[2:3]"},
    {"gfx942", "s_brev_b32 s0, s1", "s0", "s1"},
    {"gfx942", "s_wqm_b64 exec, exec", "exec scc", "exec"},
    {"gfx942", "s_cmp_eq_u32 s0, s1", "scc", "s0 s1"},
    {"gfx942", "s_cmp_lg_u64 s[0:1], s[2:3]", "scc", "s[0:1] s[2:3]"},
    {"gfx942", "s_bitcmp1_b32 s0, s1", "scc", "s0 s1"},
    {"gfx942", "s_movk_i32 s0, 0x7", "s0", ""},
    {"gfx942", "s_cmpk_eq_u32 s0, 0x7", "scc", "s0"},
    {"gfx942", "s_addk_i32 s0, 0x7", "s0 scc", "s0"},
    {"gfx942", "s_mulk_i32 s0, 0x7", "s0", "s0"},
    // EXEC
    {"gfx942", "s_and_saveexec_b64 s[0:1], vcc", "s[0:1] exec scc", "vcc exec"},
    {"gfx942", "s_orn2_saveexec_b64 s[0:1], s[2:3]", "s[0:1] exec scc", "s[2:3] exec"},
    {"gfx942", "s_andn1_wrexec_b64 s[0:1], s[2:3]", "s[0:1] exec scc", "s[2:3] exec"},
    // hardware registers
    {"gfx942", "s_getreg_b32 s0, hwreg(HW_REG_MODE)", "s0", "mode"},
    {"gfx942", "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)", "s0", "hwreg"},
    {"gfx942", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0", "mode", "mode s0"},
    {"gfx942", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0x3", "mode", "mode"},
    {"gfx942", "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s0", "hwreg", "hwreg s0"},
    // addressing through M0
    {"gfx942", "s_set_gpr_idx_on s0, 0x1", "m0 mode", "m0 mode s0"},
    {"gfx942", "s_set_gpr_idx_off", "mode", "mode"},
    {"gfx942", "s_set_gpr_idx_idx s0", "m0 mode", "m0 mode s0"},
    {"gfx942", "s_set_gpr_idx_mode 0x1", "m0 mode", "m0 mode"},
    {"gfx942", "s_setvskip s0, s1", "mode", "mode s0 s1"},
    {"gfx942", "s_movrels_b32 s0, s1", "s0", "m0 s1 s[0:101]"},
    {"gfx942", "s_movreld_b32 s0, s1", "s[0:101]", "m0 s0 s1 s[0:101]"},
    // control
    {"gfx942", "s_getpc_b64 s[0:1]", "s[0:1]", ""},
    {"gfx942", "s_setpc_b64 s[0:1]", "", "s[0:1]"},
    {"gfx942", "s_swappc_b64 s[0:1], s[2:3]", "s[0:1]", "s[2:3]"},
    {"gfx942", "s_call_b64 s[0:1], here", "s[0:1]", ""},
    {"gfx942", "s_branch here", "", ""},
    {"gfx942", "s_cbranch_scc0 here", "", "scc"},
    {"gfx942", "s_cbranch_vccnz here", "", "vcc"},
    {"gfx942", "s_cbranch_execz here", "", "exec"},
    {"gfx942", "s_sendmsg sendmsg(MSG_INTERRUPT)", "", "exec m0"},
    {"gfx942", "s_barrier", "", ""},
    {"gfx942", "s_waitcnt vmcnt(0)", "", ""},
    {"gfx942", "s_nop 3", "", ""},
    // scalar memory
    {"gfx942", "s_load_dwordx4 s[4:7], s[0:1], 0x10", "s[4:7]", "s[0:1]"},
    {"gfx942", "s_load_dword s4, s[0:1], s8 offset:0x10", "s4", "s[0:1] s8"},
    {"gfx942", "s_buffer_load_dwordx2 s[8:9], s[4:7], s0", "s[8:9]", "s[4:7] s0"},
    {"gfx942", "s_store_dword s4, s[0:1], 0x10", "", "s4 s[0:1]"},
    {"gfx942", "s_atomic_add s4, s[0:1], 0x0", "", "s4 s[0:1]"},
    {"gfx942", "s_atomic_add s4, s[0:1], 0x0 glc", "s4", "s4 s[0:1]"},
    {"gfx942", "s_memtime s[4:5]", "s[4:5]", ""},
    {"gfx942", "s_dcache_wb", "", ""},
    // vector arithmetic
    {"gfx942", "v_mov_b32_e32 v0, s1", "v0", "s1 exec"},
    {"gfx942", "v_add_f32_e32 v0, v1, v2", "v0", "v1 v2 mode exec"},
    {"gfx942", "v_add_u32_e32 v0, s1, v2", "v0", "s1 v2 exec"},
    {"gfx942", "v_add_co_u32_e32 v0, vcc, v1, v2", "v0 vcc", "v1 v2 exec"},
    {"gfx942", "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", "v0 vcc", "v1 v2 vcc exec"},
    {"gfx942", "v_addc_co_u32_e64 v0, s[4:5], v1, v2, s[6:7]", "v0 s[4:5]", "v1 v2 s[6:7] exec"},
    {"gfx942", "v_cndmask_b32_e32 v0, v1, v2, vcc", "v0", "v1 v2 vcc exec"},
    {"gfx942", "v_cndmask_b32_e64 v0, v1, v2, s[4:5]", "v0", "v1 v2 s[4:5] exec"},
    {"gfx942", "v_fmac_f32_e32 v0, v1, v2", "v0", "v0 v1 v2 mode exec"},
    {"gfx942", "v_pk_fmac_f16 v0, v1, v2", "v0", "v0 v1 v2 mode exec"},
    {"gfx942", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", "v[0:1]", "v[2:3] v[4:5] v[6:7] mode exec"},
    {"gfx942", "v_mad_u64_u32 v[0:1], s[4:5], v2, v3, v[6:7]", "v[0:1] s[4:5]", "v2 v3 v[6:7] exec"},
    {"gfx942", "v_div_scale_f32 v0, vcc, v1, v2, v3", "v0 vcc", "v1 v2 v3 mode exec"},
    {"gfx942", "v_div_fmas_f32 v0, v1, v2, v3", "v0", "v1 v2 v3 vcc mode exec"},
    {"gfx942", "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "v[0:1]", "v[2:3] v[4:5] v[6:7] mode exec"},
    {"gfx942", "v_pk_add_u16 v0, v1, v2", "v0", "v1 v2 exec"},
    {"gfx942", "v_cvt_f64_f32_e32 v[0:1], v2", "v[0:1]", "v2 mode exec"},
    {"gfx942", "v_cvt_pk_fp8_f32 v0, v1, v2", "v0", "v0 v1 v2 mode exec"},
    {"gfx942", "v_swap_b32 v0, v1", "v0 v1", "v0 v1 exec"},
    {"gfx950", "v_permlane32_swap_b32_e32 v0, v1", "v0 v1", "v0 v1 exec"},
    {"gfx942", "v_fma_mixlo_f16 v0, v1, v2, v3", "v0", "v0 v1 v2 v3 mode exec"},
    {"gfx942", "v_mad_u16 v0, v1, v2, v3", "v0", "v0 v1 v2 v3 exec"},
    {"gfx942", "v_cvt_pkaccum_u8_f32 v0, v1, v2", "v0", "v0 v1 v2 mode exec"},
    {"gfx942", "v_perm_b32 v0, v1, v2, v3", "v0", "v1 v2 v3 exec"},
    {"gfx942", "v_mbcnt_lo_u32_b32 v0, s2, v1", "v0", "s2 v1 exec"},
    {"gfx942", "v_nop", "", "exec"},
    // lanes
    {"gfx942", "v_readlane_b32 s0, v1, s2", "s0", "v1 s2"},
    {"gfx942", "v_readfirstlane_b32 s0, v1", "s0", "v1 exec"},
    {"gfx942", "v_writelane_b32 v0, s1, m0", "v0", "v0 s1 m0"},
    {"gfx942", "v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf", "v0", "v0 v1 exec"},
    {"gfx942", "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", "v0",
     "v0 v1 exec"},
    {"gfx942", "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:DWORD", "v0", "v1 exec"},
    // comparisons
    {"gfx942", "v_cmp_lt_f32_e32 vcc, v0, v1", "vcc", "v0 v1 mode exec"},
    {"gfx942", "v_cmp_eq_u32_e64 s[4:5], v0, v1", "s[4:5]", "v0 v1 exec"},
    {"gfx942", "v_cmpx_eq_u32_e32 vcc, v0, v1", "vcc exec", "v0 v1 exec"},
    {"gfx942", "v_cmpx_eq_u32_e64 s[4:5], v0, v1", "s[4:5] exec", "v0 v1 exec"},
    {"gfx942", "v_cmp_gt_i32_sdwa s[4:5], v0, v1 src0_sel:WORD_0 src1_sel:DWORD", "s[4:5]", "v0 v1 exec"},
    {"gfx942", "v_cmp_class_f32_e32 vcc, v0, v1", "vcc", "v0 v1 exec"},
    // matrices: all lanes, whatever EXEC says
    {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[16:31]", "a[0:15]",
     "v[0:1] v[2:3] a[16:31] mode"},
    {"gfx942", "v_mfma_i32_16x16x32_i8 v[0:3], v[4:5], v[6:7], 0", "v[0:3]", "v[4:5] v[6:7] mode"},
    {"gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12", "v[0:3]",
     "v[0:3] v[4:5] v[8:11] v12 mode"},
    {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[20:23], v24, v25 cbsz:4 blgp:4",
     "v[0:3]", "v[4:7] v[8:11] v[20:23] v24 v25 mode"},
    // vector memory
    {"gfx942", "global_load_dwordx2 v[0:1], v2, s[4:5] offset:8", "v[0:1]", "v2 s[4:5] exec"},
    {"gfx942", "global_load_dword v0, v[2:3], off", "v0", "v[2:3] exec"},
    {"gfx942", "global_load_short_d16_hi v0, v[2:3], off", "v0", "v0 v[2:3] exec"},
    {"gfx942", "global_store_dwordx4 v[2:3], v[4:7], off", "", "v[2:3] v[4:7] exec"},
    {"gfx942", "global_atomic_add v[2:3], v4, off", "", "v[2:3] v4 exec"},
    {"gfx942", "global_atomic_add v0, v[2:3], v4, off sc0", "v0", "v[2:3] v4 exec"},
    {"gfx942", "global_atomic_cmpswap v0, v[2:3], v[4:5], off sc0", "v0", "v[2:3] v[4:5] exec"},
    {"gfx942", "global_load_lds_dword v[2:3], off", "", "v[2:3] m0 exec"},
    {"gfx90a", "global_load_dword v[2:3], off lds", "", "v[2:3] m0 exec"},
    {"gfx942", "flat_load_dword v0, v[2:3]", "v0", "v[2:3] flat_scratch exec"},
    {"gfx942", "flat_store_byte v[2:3], v0", "", "v[2:3] v0 flat_scratch exec"},
    {"gfx942", "scratch_load_dword v0, v1, s2", "v0", "v1 s2 flat_scratch exec"},
    {"gfx942", "scratch_store_dword off, v1, s2", "", "v1 s2 flat_scratch exec"},
    {"gfx90a", "scratch_load_dword v0, off, s2", "v0", "s2 flat_scratch exec"},
    {"gfx942", "buffer_load_dwordx4 v[0:3], v4, s[8:11], s12 offen", "v[0:3]", "v4 s[8:11] s12 exec"},
    {"gfx942", "buffer_load_dword v4, s[8:11], 0 offen lds", "", "v4 s[8:11] m0 exec"},
    {"gfx942", "buffer_load_short_d16 v0, v4, s[8:11], 0 offen", "v0", "v0 v4 s[8:11] exec"},
    {"gfx942", "buffer_store_dwordx2 v[0:1], v4, s[8:11], 0 offen", "", "v[0:1] v4 s[8:11] exec"},
    {"gfx942", "buffer_atomic_add_f32 v0, v4, s[8:11], 0 offen", "", "v0 v4 s[8:11] exec"},
    {"gfx942", "buffer_atomic_add v0, v4, s[8:11], 0 offen sc0", "v0", "v0 v4 s[8:11] exec"},
    {"gfx942", "tbuffer_load_format_xy v[0:1], v4, s[8:11], 0 offen", "v[0:1]", "v4 s[8:11] exec"},
    // LDS
    {"gfx942", "ds_read_b128 v[0:3], v4", "v[0:3]", "v4 exec"},
    {"gfx942", "ds_write2_b64 v0, v[2:3], v[4:5] offset1:1", "", "v0 v[2:3] v[4:5] exec"},
    {"gfx942", "ds_add_rtn_u32 v0, v1, v2", "v0", "v1 v2 exec"},
    {"gfx942", "ds_read_u16_d16 v0, v1", "v0", "v0 v1 exec"},
    {"gfx942", "ds_bpermute_b32 v0, v1, v2", "v0", "v1 v2 exec"},
    {"gfx942", "ds_append v0", "v0", "m0 exec"},
    {"gfx942", "ds_write_addtid_b32 v0", "", "v0 m0 exec"},
    {"gfx942", "ds_gws_barrier v0 gds", "", "v0 m0 exec"},
    {"gfx942", "ds_gws_sema_v gds", "", "m0 exec"},
    {"gfx950", "ds_read_b64_tr_b16 v[0:1], v2", "v[0:1]", "v2 exec"},
    {"gfx942", "v_accvgpr_write_b32 a0, v1", "a0", "v1 exec"},
    {"gfx942", "v_accvgpr_read_b32 v0, a1", "v0", "a1 exec"},
};

TEST(Semantics, RegistersReadAndWritten) {
  Parser parse;
  for (const Access& a : accesses) {
    const Instruction& i = parse(a.target, a.text);
    EXPECT_EQ(names(i.defs), split(a.defs)) << a.text;
    EXPECT_EQ(names(i.uses), split(a.uses)) << a.text;
  }
  EXPECT_GT(std::size(accesses), 120U);
}

struct RoleFact {
  const char* target;
  const char* text;
  Role role;
  const char* reg;
};

constexpr RoleFact roles[] = {
    {"gfx942", "v_fmac_f32_e32 v0, v1, v2", Role::Src2, "v0"},
    {"gfx942", "v_fma_f32 v0, v1, v2, v3", Role::Src2, "v3"},
    {"gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v12", Role::Src2, "v12"},
    {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[20:23], v24, v25 cbsz:4 blgp:4",
     Role::Src4, "v25"},
    {"gfx942", "v_writelane_b32 v0, s1, m0", Role::Old, "v0"},
    {"gfx942", "v_add_co_u32_e64 v0, s[4:5], v1, v2", Role::Sdst, "s[4:5]"},
    {"gfx942", "s_store_dwordx2 s[4:5], s[0:1], 0x10", Role::Sdata, "s[4:5]"},
    {"gfx942", "s_store_dwordx2 s[4:5], s[0:1], 0x10", Role::Sbase, "s[0:1]"},
    {"gfx942", "s_atomic_swap s4, s[0:1], s8 glc", Role::Soffset, "s8"},
    {"gfx942", "s_dcache_discard s[4:5], s8", Role::Sbase, "s[4:5]"},
    {"gfx942", "scratch_store_dword off, v1, off", Role::Vdata, "v1"},
    {"gfx942", "scratch_store_dword v2, v1, off", Role::Vaddr, "v2"},
    {"gfx90a", "scratch_store_dword v2, v1, off", Role::Vaddr, "v2"},
    {"gfx90a", "scratch_store_dword off, v1, s2", Role::Vdata, "v1"},
    {"gfx942", "buffer_atomic_add v0, v4, s[8:11], s12 offen sc0", Role::Vaddr, "v4"},
    {"gfx942", "buffer_atomic_add v0, v4, s[8:11], s12 offen sc0", Role::Vdata, "v0"},
    {"gfx942", "buffer_store_dword v0, v4, s[8:11], s12 offen", Role::Soffset, "s12"},
    {"gfx942", "buffer_load_dword v4, s[8:11], 0 offen lds", Role::Vaddr, "v4"},
    {"gfx942", "ds_write2_b32 v0, v1, v2", Role::Vdata1, "v2"},
    {"gfx942", "ds_write_addtid_b32 v0", Role::Vdata, "v0"},
    {"gfx942", "global_load_dword v0, v1, s[2:3]", Role::Saddr, "s[2:3]"},
};

TEST(Semantics, Roles) {
  Parser parse;
  for (const RoleFact& f : roles) {
    const Operand* o = parse(f.target, f.text).find(f.role);
    ASSERT_NE(o, nullptr) << f.text;
    EXPECT_EQ(name(o->reg), f.reg) << f.text;
  }
}

struct MemoryFact {
  const char* target;
  const char* text;
  MemoryKind kind;
  const char* what; // load, store, atomic, returns, lds_dma
  unsigned bytes;
  unsigned vmcnt, lgkmcnt, expcnt;
};

constexpr MemoryFact memory_facts[] = {
    {"gfx942", "s_load_dwordx16 s[16:31], s[0:1], 0x0", MemoryKind::Scalar, "load returns", 64, 0, 1, 0},
    {"gfx942", "s_buffer_load_dword s4, s[0:3], 0x0", MemoryKind::Scalar, "load returns", 4, 0, 1, 0},
    {"gfx942", "s_store_dwordx4 s[4:7], s[0:1], 0x0", MemoryKind::Scalar, "store", 16, 0, 1, 0},
    {"gfx942", "s_atomic_cmpswap_x2 s[4:7], s[0:1], 0x0", MemoryKind::Scalar, "load store atomic", 8, 0, 1,
     0},
    {"gfx942", "s_memtime s[0:1]", MemoryKind::Scalar, "returns", 0, 0, 1, 0},
    {"gfx942", "s_dcache_wb", MemoryKind::Scalar, "", 0, 0, 1, 0},
    {"gfx942", "global_load_ubyte v0, v[2:3], off", MemoryKind::Global, "load returns", 1, 1, 0, 0},
    {"gfx942", "global_load_sshort v0, v[2:3], off", MemoryKind::Global, "load returns", 2, 1, 0, 0},
    {"gfx942", "global_load_dwordx3 v[0:2], v[4:5], off", MemoryKind::Global, "load returns", 12, 1, 0, 0},
    {"gfx942", "global_load_sbyte_d16_hi v0, v[2:3], off", MemoryKind::Global, "load returns", 1, 1, 0, 0},
    {"gfx942", "global_store_short_d16_hi v[2:3], v0, off", MemoryKind::Global, "store", 2, 1, 0, 0},
    {"gfx942", "global_store_byte_d16_hi v[2:3], v0, off", MemoryKind::Global, "store", 1, 1, 0, 0},
    {"gfx942", "global_atomic_pk_add_bf16 v[2:3], v0, off", MemoryKind::Global, "load store atomic", 4, 1, 0,
     0},
    {"gfx942", "global_atomic_add_f64 v[2:3], v[0:1], off", MemoryKind::Global, "load store atomic", 8, 1, 0,
     0},
    {"gfx942", "global_atomic_swap_x2 v[0:1], v[2:3], v[4:5], off sc0", MemoryKind::Global,
     "load store atomic returns", 8, 1, 0, 0},
    {"gfx942", "global_load_lds_ushort v[2:3], off", MemoryKind::Global, "load lds_dma", 2, 1, 0, 0},
    {"gfx90a", "global_load_dword v[2:3], off lds", MemoryKind::Global, "load lds_dma", 4, 1, 0, 0},
    {"gfx950", "global_load_lds_dwordx4 v[2:3], off", MemoryKind::Global, "load lds_dma", 16, 1, 0, 0},
    {"gfx942", "flat_load_dwordx4 v[0:3], v[4:5]", MemoryKind::Flat, "load returns", 16, 1, 1, 0},
    {"gfx942", "flat_atomic_add_f32 v[2:3], v0", MemoryKind::Flat, "load store atomic", 4, 1, 1, 0},
    {"gfx942", "scratch_load_dwordx2 v[0:1], v2, off", MemoryKind::Scratch, "load returns", 8, 1, 0, 0},
    {"gfx942", "scratch_store_dword off, v0, s2", MemoryKind::Scratch, "store", 4, 1, 0, 0},
    {"gfx942", "buffer_load_dwordx4 v[0:3], off, s[8:11], 0", MemoryKind::Buffer, "load returns", 16, 1, 0,
     0},
    {"gfx942", "buffer_load_dword off, s[8:11], 0 lds", MemoryKind::Buffer, "load lds_dma", 4, 1, 0, 0},
    {"gfx942", "buffer_store_byte v0, off, s[8:11], 0", MemoryKind::Buffer, "store", 1, 1, 0, 0},
    {"gfx942", "buffer_load_format_xyz v[0:2], off, s[8:11], 0", MemoryKind::Buffer, "load returns", 12, 1, 0,
     0},
    {"gfx942", "buffer_load_format_d16_xyzw v[0:1], off, s[8:11], 0", MemoryKind::Buffer, "load returns", 8,
     1, 0, 0},
    {"gfx942", "buffer_store_format_d16_hi_x v0, off, s[8:11], 0", MemoryKind::Buffer, "store", 2, 1, 0, 0},
    {"gfx942", "buffer_atomic_pk_add_f16 v0, off, s[8:11], 0", MemoryKind::Buffer, "load store atomic", 4, 1,
     0, 0},
    {"gfx942", "tbuffer_store_format_xyzw v[0:3], off, s[8:11], 0", MemoryKind::Buffer, "store", 16, 1, 0, 0},
    {"gfx942", "buffer_wbl2 sc1", MemoryKind::Buffer, "", 0, 1, 0, 0},
    {"gfx942", "buffer_inv sc1", MemoryKind::Buffer, "", 0, 1, 0, 0},
    {"gfx90a", "buffer_wbinvl1", MemoryKind::Buffer, "", 0, 1, 0, 0},
    {"gfx942", "ds_read_u8 v0, v1", MemoryKind::Lds, "load returns", 1, 0, 1, 0},
    {"gfx942", "ds_read_i16 v0, v1", MemoryKind::Lds, "load returns", 2, 0, 1, 0},
    {"gfx942", "ds_read_b96 v[0:2], v4", MemoryKind::Lds, "load returns", 12, 0, 1, 0},
    {"gfx942", "ds_read2st64_b32 v[0:1], v2 offset1:1", MemoryKind::Lds, "load returns", 8, 0, 1, 0},
    {"gfx942", "ds_read2_b64 v[0:3], v4 offset1:1", MemoryKind::Lds, "load returns", 16, 0, 1, 0},
    {"gfx942", "ds_write_b8_d16_hi v0, v1", MemoryKind::Lds, "store", 1, 0, 1, 0},
    {"gfx942", "ds_write_b16_d16_hi v0, v1", MemoryKind::Lds, "store", 2, 0, 1, 0},
    {"gfx942", "ds_write_b128 v0, v[4:7]", MemoryKind::Lds, "store", 16, 0, 1, 0},
    {"gfx942", "ds_cmpst_rtn_b64 v[0:1], v2, v[4:5], v[6:7]", MemoryKind::Lds, "load store atomic returns", 8,
     0, 1, 0},
    {"gfx942", "ds_wrxchg2_rtn_b32 v[0:1], v2, v4, v5 offset1:1", MemoryKind::Lds,
     "load store atomic returns", 8, 0, 1, 0},
    {"gfx942", "ds_append v0", MemoryKind::Lds, "load store atomic returns", 4, 0, 1, 0},
    {"gfx942", "ds_pk_add_f16 v0, v1", MemoryKind::Lds, "load store atomic", 4, 0, 1, 0},
    {"gfx942", "ds_bpermute_b32 v0, v1, v2", MemoryKind::None, "returns", 0, 0, 1, 0},
    {"gfx942", "ds_swizzle_b32 v0, v1 offset:0x8055", MemoryKind::None, "returns", 0, 0, 1, 0},
    {"gfx942", "ds_nop", MemoryKind::None, "", 0, 0, 0, 0},
    {"gfx950", "ds_read_b64_tr_b16 v[0:1], v2", MemoryKind::Lds, "load returns", 8, 0, 1, 0},
    {"gfx950", "ds_read_b96_tr_b6 v[0:2], v4", MemoryKind::Lds, "load returns", 12, 0, 1, 0},
    {"gfx942", "ds_gws_barrier v0 gds", MemoryKind::Gds, "load", 0, 0, 1, 1},
    {"gfx942", "s_sendmsg sendmsg(MSG_INTERRUPT)", MemoryKind::None, "", 0, 0, 1, 0},
    {"gfx942", "v_mov_b32_e32 v0, v1", MemoryKind::None, "", 0, 0, 0, 0},
};

TEST(Semantics, MemoryAccesses) {
  Parser parse;
  for (const MemoryFact& f : memory_facts) {
    const Instruction& i = parse(f.target, f.text);
    const MemoryAccess& a = i.memory;
    std::string what;
    for (const auto& [is, word] : {std::pair{a.load, "load "},
                                   {a.store, "store "},
                                   {a.atomic, "atomic "},
                                   {a.returns, "returns "},
                                   {a.lds_dma, "lds_dma "}})
      if (is) what += word;
    EXPECT_EQ(a.kind, f.kind) << f.text;
    EXPECT_EQ(split(what), split(f.what)) << f.text;
    EXPECT_EQ(a.bytes, f.bytes) << f.text;
    EXPECT_EQ(i.counters.vmcnt, f.vmcnt) << f.text;
    EXPECT_EQ(i.counters.lgkmcnt, f.lgkmcnt) << f.text;
    EXPECT_EQ(i.counters.expcnt, f.expcnt) << f.text;
  }
}

TEST(Semantics, IssueClasses) {
  Parser parse;
  constexpr std::pair<const char*, IssueClass> facts[] = {
      {"s_add_u32 s0, s1, s2", IssueClass::Salu},
      {"s_getreg_b32 s0, hwreg(HW_REG_MODE)", IssueClass::Salu},
      {"s_load_dword s0, s[2:3], 0x0", IssueClass::Smem},
      {"s_cbranch_scc0 here", IssueClass::Branch},
      {"s_setpc_b64 s[0:1]", IssueClass::Branch},
      {"s_call_b64 s[0:1], here", IssueClass::Branch},
      {"v_add_f32_e32 v0, v1, v2", IssueClass::Valu},
      {"v_exp_f32_e32 v0, v1", IssueClass::Transcendental},
      {"v_rcp_f64_e32 v[0:1], v[2:3]", IssueClass::Transcendental},
      {"v_sin_f16_e32 v0, v1", IssueClass::Transcendental},
      {"v_exp_legacy_f32_e32 v0, v1", IssueClass::Transcendental},
      {"v_rcp_iflag_f32_e64 v0, v1", IssueClass::Transcendental},
      {"v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[0:3]", IssueClass::Mfma},
      {"v_accvgpr_read_b32 v0, a0", IssueClass::Valu},
      {"ds_read_b32 v0, v1", IssueClass::Lds},
      {"global_load_dword v0, v[2:3], off", IssueClass::Vmem},
      {"buffer_inv sc1", IssueClass::Vmem},
      {"flat_load_dword v0, v[2:3]", IssueClass::Flat},
      {"scratch_load_dword v0, off, s2", IssueClass::Vmem},
      {"s_waitcnt 0", IssueClass::Waitcnt},
      {"s_nop 0", IssueClass::Nop},
      {"s_barrier", IssueClass::Barrier},
      {"s_sendmsg 1", IssueClass::Message},
      {"s_endpgm", IssueClass::EndProgram},
      {"s_sleep 1", IssueClass::Internal},
      {"s_setprio 1", IssueClass::Internal},
  };
  for (const auto& [text, issue] : facts) EXPECT_EQ(parse("gfx942", text).issue, issue) << text;
}

TEST(Semantics, ControlFlow) {
  Parser parse;
  struct Fact {
    const char* text;
    bool branch, conditional, call, indirect, ends, falls_through;
  };
  constexpr Fact facts[] = {
      {"s_branch here", true, false, false, false, false, false},
      {"s_cbranch_scc1 here", true, true, false, false, false, true},
      {"s_cbranch_execnz here", true, true, false, false, false, true},
      {"s_cbranch_cdbgsys here", true, true, false, false, false, true},
      {"s_call_b64 s[0:1], here", true, false, true, false, false, true}, // it comes back
      {"s_setpc_b64 s[0:1]", false, false, false, true, false, false},
      {"s_swappc_b64 s[0:1], s[2:3]", false, false, true, true, false, true},
      {"s_endpgm", false, false, false, false, true, false},
      {"s_endpgm_saved", false, false, false, false, true, false},
      {"s_trap 2", false, false, false, false, false, true},
      {"s_barrier", false, false, false, false, false, true},
  };
  for (const Fact& f : facts) {
    const Instruction& i = parse("gfx942", f.text);
    EXPECT_EQ(i.branch, f.branch) << f.text;
    EXPECT_EQ(i.conditional, f.conditional) << f.text;
    EXPECT_EQ(i.call, f.call) << f.text;
    EXPECT_EQ(i.indirect, f.indirect) << f.text;
    EXPECT_EQ(i.ends_program, f.ends) << f.text;
    EXPECT_EQ(!i.no_fallthrough(), f.falls_through) << f.text;
  }
}

TEST(Semantics, Lanes) {
  Parser parse;
  struct Fact {
    const char* text;
    bool reads_exec, cross_lane, all_lanes, partial;
  };
  constexpr Fact facts[] = {
      {"v_add_f32_e32 v0, v1, v2", true, false, false, false},
      {"v_readlane_b32 s0, v1, s2", false, true, false, false},
      {"v_readfirstlane_b32 s0, v1", true, true, false, false},
      {"v_writelane_b32 v0, s1, m0", false, false, false, true},
      {"v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[0:3]", false, true, true, false},
      {"v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", true, true, false, true},
      {"ds_bpermute_b32 v0, v1, v2", true, true, false, false},
      {"ds_read_u8_d16 v0, v1", true, false, false, true},
      {"flat_load_short_d16 v0, v[2:3]", true, false, false, true},
      {"buffer_load_format_d16_x v0, off, s[8:11], 0", true, false, false, true},
      {"buffer_load_format_d16_xy v0, off, s[8:11], 0", true, false, false, false},
      {"v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", true, false, false,
       true},
      {"v_mov_b32_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PRESERVE src0_sel:WORD_1", true, false, false,
       false},
      {"v_fma_f16 v0, v1, v2, v3 op_sel:[0,0,0,1]", true, false, false, true},
      {"v_fmac_f32_e32 v0, v1, v2", true, false, false, false},
      {"s_mov_b32 s0, s1", false, false, false, false},
  };
  for (const Fact& f : facts) {
    const Instruction& i = parse("gfx942", f.text);
    EXPECT_EQ(i.reads_exec, f.reads_exec) << f.text;
    EXPECT_EQ(i.cross_lane, f.cross_lane) << f.text;
    EXPECT_EQ(i.writes_all_lanes, f.all_lanes) << f.text;
    EXPECT_EQ(i.partial_def, f.partial) << f.text;
  }
}

// The passes of cdna3's matrix instructions (AMD's matrix instruction calculator; 1 pass = 4 cycles).
struct PassFact {
  const char* text;
  MatrixKind kind;
  unsigned mi200, mi300, mi350; // 0: the target has no such instruction
};

constexpr PassFact pass_facts[] = {
    {"v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[4:7]", MatrixKind::Sgemm, 2, 2, 2},
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 2, 2, 2},
    {"v_mfma_f32_4x4x4_16b_bf16 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 2, 2, 2},
    {"v_mfma_i32_4x4x4_16b_i8 a[0:3], v0, v1, a[4:7]", MatrixKind::Xdl, 2, 2, 2},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 8, 4, 4},
    {"v_mfma_f32_16x16x16_bf16 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 8, 4, 4},
    {"v_mfma_i32_16x16x32_i8 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 0, 4, 4},
    {"v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 0, 4, 4},
    {"v_mfma_f32_16x16x8_xf32 a[0:3], v[0:1], v[2:3], a[4:7]", MatrixKind::Xdl, 0, 4, 0},
    {"v_mfma_f64_4x4x4_4b_f64 a[0:1], v[0:1], v[2:3], a[2:3]", MatrixKind::Dgemm, 4, 4, 4},
    {"v_smfmac_f32_16x16x32_f16 a[0:3], v[0:1], v[4:7], v8", MatrixKind::Xdl, 0, 4, 4},
    {"v_smfmac_i32_16x16x64_i8 a[0:3], v[0:1], v[4:7], v8", MatrixKind::Xdl, 0, 4, 4},
    {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[16:31]", MatrixKind::Xdl, 16, 8, 8},
    {"v_mfma_f32_32x32x16_bf8_fp8 a[0:15], v[0:1], v[2:3], a[16:31]", MatrixKind::Xdl, 0, 8, 8},
    {"v_mfma_i32_32x32x16_i8 a[0:15], v[0:1], v[2:3], a[16:31]", MatrixKind::Xdl, 0, 8, 8},
    {"v_mfma_f32_32x32x4_xf32 a[0:15], v[0:1], v[2:3], a[16:31]", MatrixKind::Xdl, 0, 8, 0},
    {"v_mfma_f32_16x16x4_f32 a[0:3], v0, v1, a[4:7]", MatrixKind::Sgemm, 8, 8, 8},
    {"v_mfma_f32_16x16x1_4b_f32 a[0:15], v0, v1, a[16:31]", MatrixKind::Sgemm, 8, 8, 8},
    {"v_mfma_f32_16x16x4_4b_f16 a[0:15], v[0:1], v[2:3], a[16:31]", MatrixKind::Xdl, 8, 8, 8},
    {"v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[8:15]", MatrixKind::Dgemm, 8, 8, 16},
    {"v_smfmac_f32_32x32x16_bf16 a[0:15], v[0:1], v[4:7], v8", MatrixKind::Xdl, 0, 8, 8},
    {"v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[16:31]", MatrixKind::Sgemm, 16, 16, 16},
    {"v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, a[32:63]", MatrixKind::Sgemm, 16, 16, 16},
    {"v_mfma_f32_32x32x4_2b_bf16 a[0:31], v[0:1], v[2:3], a[32:63]", MatrixKind::Xdl, 16, 16, 16},
    {"v_mfma_i32_32x32x4_2b_i8 a[0:31], v0, v1, a[32:63]", MatrixKind::Xdl, 16, 16, 16},
};

// gfx90a's assembler knows the older names: v_mfma_f32_4x4x4f16, v_mfma_f32_4x4x4bf16_1k.
std::string mi200_name(std::string text) {
  for (const std::string_view blocks : {"_16b_", "_2b_", "_4b_"})
    if (const size_t at = text.find(blocks); at != std::string::npos) text.replace(at, blocks.size(), "_");
  const size_t end = text.find(' ');
  if (text.substr(0, end).ends_with("bf16")) text.insert(end, "_1k");
  return text.erase(text.find('_', text.find('x')), 1);
}

TEST(Semantics, MatrixPasses) {
  Parser parse;
  for (const PassFact& f : pass_facts)
    for (const auto& [target, passes] :
         {std::pair{"gfx90a", f.mi200}, {"gfx942", f.mi300}, {"gfx950", f.mi350}}) {
      if (passes == 0) continue;
      const Instruction& i =
          parse(target, target == std::string_view("gfx90a") ? mi200_name(f.text) : f.text);
      EXPECT_EQ(i.matrix, f.kind) << target << " " << f.text;
      EXPECT_EQ(i.matrix_passes, passes) << target << " " << f.text;
    }
}

} // namespace
} // namespace asmevo::isa
