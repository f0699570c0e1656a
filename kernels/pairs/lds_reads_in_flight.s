// Eight LDS reads, then one wait, against a wait after each. One wave a SIMD.
// Established: an LDS read takes 47 to 52 cycles (mt4g) and LDS returns in order, so that one wait serves several
// reads (CDNA3 ISA manual, section 4.4).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, 0
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  ds_write_b32 v2, v1 offset:\n*1024
  .endr
  s_waitcnt lgkmcnt(0)                   // each wave reads what it wrote itself
.endm

kernel slow
  begin
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ds_read_b32 v4, v2 offset:\n*1024
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, v3, v4
    .endr
  until_done
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ds_read_b32 v[\n+4], v2 offset:\n*1024
    .endr
    s_waitcnt lgkmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
