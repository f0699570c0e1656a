// Issue rates of the vector unit: eight independent chains of each instruction, one wave a SIMD of one compute unit,
// 512 instructions a step.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts.
.include "gfx942_kernels.inc"

.macro begin
  v_mov_b32_e32 v1, v0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0.5
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1.0
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
  v_cvt_f32_u32_e32 v\n, v0
  .endr
.endm
.macro finish
  until_done
  store_value v8
.endm

kernel add_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_add_f32_e32 v\n, v2, v\n
    .endr
    .endr
  finish
end_kernel add_f32

kernel fma_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_fma_f32 v\n, v\n, v2, v4
    .endr
    .endr
  finish
end_kernel fma_f32

kernel pk_fma_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 10, 12, 14, 16, 18, 20, 22
    v_pk_fma_f32 v[\n:\n+1], v[\n:\n+1], v[2:3], v[4:5]
    .endr
    .endr
  finish
end_kernel pk_fma_f32

kernel pk_fma_f16
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_pk_fma_f16 v\n, v\n, v2, v4
    .endr
    .endr
  finish
end_kernel pk_fma_f16

kernel fma_f64
  begin
  repeat
    .rept 64
    .irp n, 8, 10, 12, 14, 16, 18, 20, 22
    v_fma_f64 v[\n:\n+1], v[\n:\n+1], v[2:3], v[4:5]
    .endr
    .endr
  finish
end_kernel fma_f64

kernel exp_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_exp_f32_e32 v\n, v\n
    .endr
    .endr
  finish
end_kernel exp_f32

kernel rcp_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_rcp_f32_e32 v\n, v\n
    .endr
    .endr
  finish
end_kernel rcp_f32

kernel sqrt_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_sqrt_f32_e32 v\n, v\n
    .endr
    .endr
  finish
end_kernel sqrt_f32

kernel sin_f32
  begin
  repeat
    .rept 64
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_sin_f32_e32 v\n, v\n
    .endr
    .endr
  finish
end_kernel sin_f32

kernels 256, add_f32, 24, 0, fma_f32, 24, 0, pk_fma_f32, 24, 0, pk_fma_f16, 24, 0, fma_f64, 24, 0, exp_f32, 24, 0, rcp_f32, 24, 0, sqrt_f32, 24, 0, sin_f32, 24, 0
