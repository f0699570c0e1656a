// v_pk_fma_f16 against two v_fma_f16. Eight chains, the same roundings.
// Established: VOP3P instructions do two halves a lane (CDNA3 ISA manual); LLVM's SISchedule.td gives them the rate
// of the others.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0x38003800           // halves
  v_mov_b32_e32 v3, 0x3c003c00           // ones
  v_cvt_f16_u16_e32 v4, v0
  v_pack_b32_f16 v4, v4, v4
  .irp n, 5, 6, 7, 8, 9, 10, 11
  v_mov_b32_e32 v\n, v4
  .endr
.endm
.macro finish
  v_pk_add_f16 v4, v4, v5
  v_pk_add_f16 v6, v6, v7
  v_pk_add_f16 v4, v4, v6
  store_value v4
.endm

kernel slow
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_fma_f16 v\n, v\n, v2, v3
    .endr
    .endr
  until_done
  .irp n, 4, 5, 6, 7
  v_pack_b32_f16 v\n, v\n, v[\n+4]
  .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7
    v_pk_fma_f16 v\n, v\n, v2, v3
    .endr
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
