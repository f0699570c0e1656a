// A loop without and with s_nop 7 that nothing needs. One wave a SIMD, so that nobody else uses the slots.
// Established: S_NOP 7 is eight wait states (CDNA3 ISA manual).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  work_start
.endm
.macro finish
  until_done
  v_mov_b32_e32 v3, 0
  work_end v3
  store_value v3
.endm

kernel slow
  begin
  repeat
    .rept 4
    work 2
    s_nop 7
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    work 8
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
