// 16x16x16 MFMA against 4x4x4 (16 blocks), for as many products into each accumulator.
//
// slow: four instructions of 2 passes. fast: one of 4 passes, which does four times as much in twice the time. All
// factors are the same, so that only the number of products decides the result: four accumulators, no waits.
// Established: AMD's matrix instruction calculator: 4x4x4_16b takes 2 passes for 2048 operations, 16x16x16 takes 4
// for 8192.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v20, 0x3c003c00          // ones
  v_mov_b32_e32 v21, v20
  v_mov_b32_e32 v22, 0x40004000          // twos
  v_mov_b32_e32 v23, v22
  .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
  v_mov_b32_e32 v\n, 0
  .endr
  s_nop 1
.endm
.macro finish
  s_nop 7
  v_add_f32_e32 v4, v4, v8
  v_add_f32_e32 v12, v12, v16
  v_add_f32_e32 v4, v4, v12
  store_value v4
.endm

kernel slow
  begin
  repeat
    .rept 4
    v_mfma_f32_4x4x4_16b_f16 v[4:7], v[20:21], v[22:23], v[4:7]
    v_mfma_f32_4x4x4_16b_f16 v[8:11], v[20:21], v[22:23], v[8:11]
    v_mfma_f32_4x4x4_16b_f16 v[12:15], v[20:21], v[22:23], v[12:15]
    v_mfma_f32_4x4x4_16b_f16 v[16:19], v[20:21], v[22:23], v[16:19]
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    v_mfma_f32_16x16x16_f16 v[4:7], v[20:21], v[22:23], v[4:7]
    v_mfma_f32_16x16x16_f16 v[8:11], v[20:21], v[22:23], v[8:11]
    v_mfma_f32_16x16x16_f16 v[12:15], v[20:21], v[22:23], v[12:15]
    v_mfma_f32_16x16x16_f16 v[16:19], v[20:21], v[22:23], v[16:19]
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
