// v_pk_fma_f32 against two v_fma_f32. Eight chains, the same roundings.
// Established: 163.4 against 81.7 TFLOP/s on MI300X (AMD data sheet; CDNA3 white paper): v_pk_fma_f32 does two a lane
// at the rate of one.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0.5
  v_mov_b32_e32 v3, 0.5
  v_mov_b32_e32 v4, 1.0
  v_mov_b32_e32 v5, 1.0
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15
  v_cvt_f32_u32_e32 v\n, v0
  .endr
.endm
.macro finish
  .irp n, 9, 10, 11, 12, 13, 14, 15
  v_add_f32_e32 v8, v8, v\n
  .endr
  store_value v8
.endm

kernel slow
  begin
  repeat
    .rept 4
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_fma_f32 v\n, v\n, v2, v4
    .endr
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    .irp n, 8, 10, 12, 14
    v_pk_fma_f32 v[\n:\n+1], v[\n:\n+1], v[2:3], v[4:5]
    .endr
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
