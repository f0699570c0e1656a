// f16 MFMA against f32 MFMA, for as many products.
//
// slow: four 16x16x4 f32 of 8 passes. fast: one 16x16x16 f16 of 4. All factors are the same, so that only the number
// of products decides the result: four accumulators, no waits.
// Established: 2048 operations a clock and compute unit against 256 (AMD data sheet: 1307.4 and 163.4 TFLOP/s on
// MI300X).
.include "gfx942_kernels.inc"

.macro begin a, b
  work_item v1
  v_mov_b32_e32 v20, \a
  v_mov_b32_e32 v21, v20
  v_mov_b32_e32 v22, \b
  v_mov_b32_e32 v23, v22
  .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
  v_mov_b32_e32 v\n, 0
  .endr
  s_nop 1
.endm
.macro finish
  s_nop 15
  v_add_f32_e32 v4, v4, v8
  v_add_f32_e32 v12, v12, v16
  v_add_f32_e32 v4, v4, v12
  store_value v4
.endm

kernel slow
  begin 1.0, 2.0
  repeat
    .rept 4
    v_mfma_f32_16x16x4_f32 v[4:7], v20, v22, v[4:7]
    v_mfma_f32_16x16x4_f32 v[8:11], v20, v22, v[8:11]
    v_mfma_f32_16x16x4_f32 v[12:15], v20, v22, v[12:15]
    v_mfma_f32_16x16x4_f32 v[16:19], v20, v22, v[16:19]
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin 0x3c003c00, 0x40004000           // ones and twos
  repeat
    v_mfma_f32_16x16x16_f16 v[4:7], v[20:21], v[22:23], v[4:7]
    v_mfma_f32_16x16x16_f16 v[8:11], v[20:21], v[22:23], v[8:11]
    v_mfma_f32_16x16x16_f16 v[12:15], v[20:21], v[22:23], v[12:15]
    v_mfma_f32_16x16x16_f16 v[16:19], v[20:21], v[22:23], v[16:19]
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
