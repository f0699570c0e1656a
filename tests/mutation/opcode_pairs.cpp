#include "mutation/opcode_pairs.h"

#include <array>
#include <map>
#include <string>

namespace asmevo::mutation {

namespace {

// In both directions. Left out are pairs that agree on what compilers make: or and xor of bits that cannot
// both be set, fma and mad, comparisons for inequality and for less of loop counters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 75> pairs = {
    std::pair{"v_add_f32", "v_sub_f32"},
    {"v_add_f16", "v_sub_f16"},
    {"v_add_f64", "v_mul_f64"},
    {"v_mul_f32", "v_add_f32"},
    {"v_mul_f16", "v_add_f16"},
    {"v_max_f32", "v_min_f32"},
    {"v_max_f16", "v_min_f16"},
    {"v_max_f64", "v_min_f64"},
    {"v_max3_f32", "v_min3_f32"},
    {"v_fmac_f32", "v_mul_f32"},
    {"v_rcp_f32", "v_rsq_f32"},
    {"v_sqrt_f32", "v_rsq_f32"},
    {"v_exp_f32", "v_log_f32"},
    {"v_sin_f32", "v_cos_f32"},
    {"v_pk_add_f32", "v_pk_mul_f32"},
    {"v_pk_add_f16", "v_pk_mul_f16"},
    {"v_pk_max_f16", "v_pk_min_f16"},
    {"v_cvt_f32_u32", "v_cvt_u32_f32"},
    {"v_cvt_f32_i32", "v_cvt_i32_f32"},
    {"v_cvt_f32_f16", "v_cvt_f16_f32"},
    {"v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8"},
    {"v_cvt_f32_ubyte0", "v_cvt_f32_ubyte1"},
    {"v_cvt_f32_ubyte2", "v_cvt_f32_ubyte3"},
    {"v_add_u32", "v_sub_u32"},
    {"v_add_u16", "v_sub_u16"},
    {"v_add_co_u32", "v_sub_co_u32"},
    {"v_addc_co_u32", "v_subb_co_u32"},
    {"v_subrev_u32", "v_add_u32"},
    {"v_mul_lo_u32", "v_mul_hi_u32"},
    {"v_mul_u32_u24", "v_mul_hi_u32_u24"},
    {"v_lshlrev_b32", "v_lshrrev_b32"},
    {"v_lshlrev_b64", "v_lshrrev_b64"},
    {"v_lshlrev_b16", "v_lshrrev_b16"},
    {"v_ashrrev_i32", "v_lshlrev_b32"},
    {"v_and_b32", "v_or_b32"},
    {"v_xor_b32", "v_and_b32"},
    {"v_and_or_b32", "v_or3_b32"},
    {"v_lshl_add_u32", "v_add_lshl_u32"},
    {"v_lshl_or_b32", "v_and_or_b32"},
    {"v_add3_u32", "v_lshl_add_u32"},
    {"v_max_u32", "v_min_u32"},
    {"v_max_i32", "v_min_i32"},
    {"v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"},
    {"v_cmp_lt_f32", "v_cmp_ge_f32"},
    {"v_cmp_gt_f32", "v_cmp_le_f32"},
    {"v_cmp_nlt_f32", "v_cmp_nge_f32"},
    {"v_cmp_ngt_f32", "v_cmp_nle_f32"},
    {"v_cmp_u_f32", "v_cmp_o_f32"},
    {"v_cmp_lt_u32", "v_cmp_ge_u32"},
    {"v_cmp_gt_u32", "v_cmp_le_u32"},
    {"v_cmp_lt_i32", "v_cmp_ge_i32"},
    {"v_cmp_gt_i32", "v_cmp_le_i32"},
    {"v_cmp_eq_u32", "v_cmp_ne_u32"},
    {"v_cmp_eq_f32", "v_cmp_neq_f32"},
    {"v_cmp_lt_u64", "v_cmp_ge_u64"},
    {"v_cmp_gt_u64", "v_cmp_le_u64"},
    {"ds_read_b32", "ds_read_u16"},
    {"ds_write_b32", "ds_write_b16"},
    {"ds_read_b64", "ds_read_u8"},
    {"global_load_dword", "global_load_ushort"},
    {"global_store_dword", "global_store_short"},
    {"global_load_ubyte", "global_load_ushort"},
    {"s_add_u32", "s_sub_u32"},
    {"s_addc_u32", "s_subb_u32"},
    {"s_add_i32", "s_sub_i32"},
    {"s_mul_i32", "s_mul_hi_u32"},
    {"s_lshl_b32", "s_lshr_b32"},
    {"s_lshl_b64", "s_lshr_b64"},
    {"s_and_b32", "s_or_b32"},
    {"s_and_b64", "s_or_b64"},
    {"s_min_u32", "s_max_u32"},
    {"s_min_i32", "s_max_i32"},
    {"s_cbranch_scc0", "s_cbranch_scc1"},
    {"s_cbranch_vccz", "s_cbranch_vccnz"},
    {"s_and_saveexec_b64", "s_or_saveexec_b64"},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> more_pairs = {
    std::pair{"s_cmp_lt_u32", "s_cmp_ge_u32"},
    {"s_cmp_gt_u32", "s_cmp_le_u32"},
    {"s_cmp_lt_i32", "s_cmp_ge_i32"},
    {"s_cmp_gt_i32", "s_cmp_le_i32"},
    {"s_cmp_eq_u32", "s_cmp_lg_u32"},
    {"s_cmp_eq_u64", "s_cmp_lg_u64"},
    {"s_cselect_b32", "s_and_b32"},
    {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8_bf16"},
    {"v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_bf16"},
    {"v_mfma_f32_32x32x16_fp8_fp8", "v_mfma_f32_32x32x16_fp8_bf8"},
    {"v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x32_bf8_fp8"},
    {"v_accvgpr_read_b32", "v_mov_b32"},
};

using Table = std::map<std::string_view, std::vector<std::string_view>, std::less<>>;

const Table& table() {
  static const Table made = [] {
    Table all;
    const auto add = [&all](const auto& list) {
      for (const auto& [a, b] : list) {
        all[a].push_back(b);
        all[b].push_back(a);
      }
    };
    add(pairs);
    add(more_pairs);
    return all;
  }();
  return made;
}

} // namespace

std::vector<std::string_view> opcodes_in_place_of(std::string_view base) {
  const auto found = table().find(base);
  return found == table().end() ? std::vector<std::string_view>() : found->second;
}

} // namespace asmevo::mutation
