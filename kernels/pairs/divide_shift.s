// A quotient by a power of two as a shift against the division that a compiler emits for a divisor it does not know.
// Established: there is no integer division in hardware: LLVM expands it to some 18 instructions with
// v_rcp_iflag_f32, v_mul_lo_u32 and v_mul_hi_u32; division by a power of two is a shift.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, s9
  v_lshlrev_b32_e64 v2, v2, 1            // the divisor
  v_mul_u32_u24_e32 v3, 0x3039, v1
  v_mov_b32_e32 v4, 0
.endm
.macro finish
    v_add_u32_e32 v4, v4, v8
    v_add_u32_e32 v3, 0x10001, v3
  until_done
  store_value v4
.endm

kernel slow
  begin
  repeat
    v_cvt_f32_u32_e32 v8, v2
    v_rcp_iflag_f32_e32 v8, v8
    v_sub_u32_e32 v9, 0, v2
    v_mul_f32_e32 v8, 0x4f7ffffe, v8     // a little less than 2^32
    v_cvt_u32_f32_e32 v8, v8
    v_mul_lo_u32 v9, v9, v8
    v_mul_hi_u32 v9, v8, v9
    v_add_u32_e32 v8, v8, v9
    v_mul_hi_u32 v8, v3, v8
    v_mul_lo_u32 v9, v8, v2
    v_sub_u32_e32 v9, v3, v9
    .rept 2                              // up to two more
    v_add_u32_e32 v10, 1, v8
    v_cmp_ge_u32_e32 vcc, v9, v2
    v_sub_u32_e32 v11, v9, v2
    v_cndmask_b32_e32 v8, v8, v10, vcc
    v_cndmask_b32_e32 v9, v9, v11, vcc
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    v_lshrrev_b32_e32 v8, s9, v3
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
