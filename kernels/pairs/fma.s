// A product and a sum as one instruction.
//
// slow: v_mul_f32 and v_add_f32. fast: v_fma_f32. Four chains of whole numbers, so that nothing is rounded.
// Established: AMD's vector fp32 peak counts fused multiply-adds (81.7 TFLOP/s without packed ones on MI300X is 128
// lanes a clock and compute unit); LLVM's SISchedule.td gives product, sum and both the same rate.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, -1.0
  v_mov_b32_e32 v3, 1.0
  .irp n, 4, 5, 6, 7
  v_cvt_f32_u32_e32 v\n, v0
  .endr
.endm
.macro finish
  v_add_f32_e32 v4, v4, v5
  v_add_f32_e32 v6, v6, v7
  v_add_f32_e32 v4, v4, v6
  store_value v4
.endm

kernel slow
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7
    v_mul_f32_e32 v\n, v\n, v2
    .endr
    .irp n, 4, 5, 6, 7
    v_add_f32_e32 v\n, v\n, v3
    .endr
    .endr
    v_add_f32_e32 v4, v4, v3
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7
    v_fma_f32 v\n, v\n, v2, v3
    .endr
    .endr
    v_add_f32_e32 v4, v4, v3
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
