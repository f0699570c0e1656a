// A loop of one multiply-add and three instructions of loop control against eight multiply-adds for these. One wave a
// SIMD.
// Established: a wave issues one instruction in 4 cycles at best and pays more for a branch that is taken (thread
// trace of a gfx950 published with tinygrad); HIP performance guidelines (ROCm docs) on unrolling.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0.5
  v_mov_b32_e32 v3, 1.0
  v_cvt_f32_u32_e32 v4, v0
.endm

kernel slow
  begin
  s_lshl_b32 s8, s8, 3
  repeat
    v_fma_f32 v4, v4, v2, v3
  until_done
  store_value v4
end_kernel slow

kernel fast
  begin
  repeat
    .rept 8
    v_fma_f32 v4, v4, v2, v3
    .endr
  until_done
  store_value v4
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
