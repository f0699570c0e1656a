#include "emulator/conformance/runner.h"

namespace asmevo::emulator::conformance {

std::vector<Exception> known_exceptions() {
  return {
      {{"v_mqsad_u32_u8"},
       "vop3.v_mqsad_u32_u8_e64",
       "expects the old destination: the emulator it comes from does not write 128-bit results",
       "CDNA4 manual's pseudocode of V_MQSAD_U32_U8"},
      {{"v_mqsad_pk_u16_u8"},
       "vop3.v_mqsad_pk_u16_u8_e64",
       "counts reference bytes that are 0, which masking leaves out",
       "CDNA4 manual's pseudocode of v_msad_u8"},
      {{"v_dot2_f32_f16"},
       "vop3p.v_dot2_f32_f16.const",
       "reads the inline constant of the f32 addend as an f16",
       "LLVM's operand types of V_DOT2_F32_F16"},
      {{"s_load_dwordx2"},
       "smem.s_load_dwordx2.",
       "takes the number of the offset's SGPR for an immediate offset; vectors from hardware with an SGPR "
       "offset do not",
       "CDNA3 ISA, 13.2.1 SMEM: SOFFSET; hw.smem.s_load_*_register_offset"},
      {{"v_fma_legacy_f16", "v_mad_legacy_f16"},
       "vop3.v_",
       "expects integers such as 0xffffffff of a float operation",
       "CDNA4 manual's pseudocode of V_FMA_LEGACY_F16 and V_MAD_LEGACY_F16"},
      {{"v_cvt_pkaccum_u8_f32"},
       "vop3.v_cvt_pkaccum_u8_f32",
       "clears the three bytes that the instruction leaves",
       "CDNA4 manual's pseudocode of V_CVT_PKACCUM_U8_F32"},
      {{"v_trig_preop_f64"},
       "vop3.v_trig_preop_f64.mods",
       "a denormal result is flushed though MODE keeps denormals",
       "CDNA3 ISA, 3.3 MODE"},
      {{"v_div_fmas_f32"},
       "vop3.v_div_fmas_f32_e64.mods",
       "-0 goes through clamp unchanged, where the larger of 0 and -0 is 0",
       "CDNA3 ISA, 6.2.3 output modifiers"},
      {{"v_div_scale_f64"},
       "vop3sd.v_div_scale_f64.d",
       "NaN for a denormal denominator, which would make f64 division by denormals NaN",
       "LLVM's expansion of f64 division relies on it"},
      {{"v_cvt_norm_i16_f16", "v_cvt_norm_u16_f16", "v_cvt_pknorm_i16_f16", "v_cvt_pknorm_i16_f32",
        "v_cvt_pknorm_u16_f16", "v_cvt_pknorm_u16_f32"},
       ".v_cvt_",
       "values outside [-1, 1] or [0, 1] wrap; drivers feed these instructions unclamped colours for SNORM16 "
       "and "
       "UNORM16 targets, which have to be limited",
       "Mesa: colour exports of radeonsi and radv use them without limiting first"},
  };
}

} // namespace asmevo::emulator::conformance
