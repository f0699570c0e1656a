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
  };
}

} // namespace asmevo::emulator::conformance
