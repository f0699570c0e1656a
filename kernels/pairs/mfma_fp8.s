// fp8 MFMA against f16 MFMA, for as many products.
//
// slow: two 16x16x16 f16 of 4 passes. fast: one 16x16x32 fp8 of 4. All factors are the same, so that only the number
// of products decides the result: four accumulators, no waits.
// Established: 4096 operations a clock and compute unit against 2048 (AMD data sheet: 2614.9 and 1307.4 TFLOP/s on
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
  begin 0x3c003c00, 0x40004000           // ones and twos
  repeat
    .rept 2
    .irp first, 4, 8, 12, 16
    v_mfma_f32_16x16x16_f16 v[\first:\first+3], v[20:21], v[22:23], v[\first:\first+3]
    .endr
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin 0x40404040, 0x48484848           // ones and twos
  repeat
    .irp first, 4, 8, 12, 16
    v_mfma_f32_16x16x32_fp8_fp8 v[\first:\first+3], v[20:21], v[22:23], v[\first:\first+3]
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
