// A quotient by v_rcp_f32 and a product against the exact division.
//
// slow: 10 instructions and v_rcp_f32. fast: v_rcp_f32 and a product. Equal to 1e-6.
// Established: LLVM's expansion of an exact fp32 division (div_scale, rcp, refinement, div_fmas, div_fixup) against
// that with fast math; rates from LLVM's SISchedule.td.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_add_u32_e32 v2, 3, v0
  v_cvt_f32_u32_e32 v2, v2               // divisor
  v_mov_b32_e32 v3, 1.0                  // dividend
  v_mov_b32_e32 v4, 0
.endm

kernel slow
  begin
  repeat
    v_div_scale_f32 v8, s[10:11], v2, v2, v3
    v_div_scale_f32 v9, vcc, v3, v2, v3
    v_rcp_f32_e32 v10, v8
    s_nop 0
    v_fma_f32 v11, -v8, v10, 1.0
    v_fma_f32 v10, v11, v10, v10
    v_mul_f32_e32 v11, v9, v10
    v_fma_f32 v12, -v8, v11, v9
    v_fma_f32 v11, v12, v10, v11
    v_fma_f32 v8, -v8, v11, v9
    v_div_fmas_f32 v8, v8, v10, v11
    v_div_fixup_f32 v8, v8, v2, v3
    v_add_f32_e32 v4, v4, v8
    v_add_f32_e32 v3, 1.0, v3
  until_done
  store_value v4
end_kernel slow

kernel fast
  begin
  repeat
    v_rcp_f32_e32 v8, v2
    s_nop 0
    v_mul_f32_e32 v8, v3, v8
    v_add_f32_e32 v4, v4, v8
    v_add_f32_e32 v3, 1.0, v3
  until_done
  store_value v4
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
