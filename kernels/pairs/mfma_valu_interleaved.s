// VALU work between MFMAs against behind them.
//
// slow: eight 32x32x8 MFMA, which issue every 8 passes, then 48 multiply-adds. fast: six of these behind each MFMA,
// in the slots that it leaves. One wave a SIMD.
// Established: thread traces of MI308X and MI350X in llvm/llvm-project PR 233721: an f16 MFMA holds other VALU
// instructions off only for its first slots. AMD's GEMM kernels interleave for that reason (Composable Kernel,
// sched_group_barrier pipelines).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0x3c003c00           // ones
  v_mov_b32_e32 v3, v2
  .irp n, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
  v_mov_b32_e32 v\n, 0
  v_mov_b32_e32 v[\n+16], 0
  .endr
  v_mov_b32_e32 v4, 0.5
  v_mov_b32_e32 v5, 1.0
  .irp n, 6, 7, 8, 9, 10, 11
  v_cvt_f32_u32_e32 v\n, v0
  .endr
  s_nop 1
.endm
.macro six
    .irp n, 6, 7, 8, 9, 10, 11
    v_fma_f32 v\n, v\n, v4, v5
    .endr
.endm
.macro finish
  s_nop 15
  s_nop 1
  .irp n, 7, 8, 9, 10, 11, 32, 48
  v_add_f32_e32 v6, v6, v\n
  .endr
  store_value v6
.endm

kernel slow
  begin
  repeat
    .rept 4
    v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[2:3], v[32:47]
    v_mfma_f32_32x32x8_f16 v[48:63], v[2:3], v[2:3], v[48:63]
    .endr
    .rept 8
    six
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[2:3], v[32:47]
    six
    v_mfma_f32_32x32x8_f16 v[48:63], v[2:3], v[2:3], v[48:63]
    six
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 64, 65536, fast, 64, 65536
