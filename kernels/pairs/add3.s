// v_add3_u32 against two v_add_u32. Four chains.
// Established: V_ADD3_U32 is a VOP3 instruction at the usual rate (CDNA3 ISA manual; LLVM's SISchedule.td); LLVM
// forms it from two additions.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 3
  v_mov_b32_e32 v3, v0
  .irp n, 4, 5, 6, 7
  v_mov_b32_e32 v\n, v1
  .endr
.endm
.macro finish
  v_add3_u32 v4, v4, v5, v6
  v_add_u32_e32 v4, v4, v7
  store_value v4
.endm

kernel slow
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v\n, v\n, v2
    .endr
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v\n, v\n, v3
    .endr
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7
    v_add3_u32 v\n, v\n, v2, v3
    .endr
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
