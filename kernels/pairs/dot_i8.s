// A dot product of four bytes as one instruction.
//
// slow: eight v_bfe_i32 and four v_mad_i32_i24. fast: v_dot4_i32_i8.
// Established: V_DOT4_I32_I8 is one VOP3P instruction (CDNA3 ISA manual), at the usual rate in LLVM's SISchedule.td.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0x80ff7f03
  v_lshlrev_b32_e32 v3, 7, v1
  v_xor_b32_e32 v3, 0x5a3c9601, v3
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
.endm
.macro bytes sum
    .irp n, 0, 1, 2, 3
    v_bfe_i32 v[\n+8], v2, 8*\n, 8
    v_bfe_i32 v[\n+12], v3, 8*\n, 8
    .endr
    .irp n, 0, 1, 2, 3
    v_mad_i32_i24 \sum, v[\n+8], v[\n+12], \sum
    .endr
.endm
.macro finish
  v_add_u32_e32 v4, v4, v5
  store_value v4
.endm

kernel slow
  begin
  repeat
    bytes v4
    bytes v5
    v_add_u32_e32 v3, 0x01030507, v3
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    v_dot4_i32_i8 v4, v2, v3, v4
    v_dot4_i32_i8 v5, v2, v3, v5
    v_add_u32_e32 v3, 0x01030507, v3
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
