// LDS reads with offsets in the instruction against addresses computed for each.
//
// slow: row times pitch plus column, three instructions a read. fast: one address before the loop. One wave a SIMD.
// Established: DS instructions have a 16-bit offset (CDNA3 ISA manual), so that one address serves many reads; each
// VALU instruction costs its 4 cycles.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_lshlrev_b32_e32 v2, 2, v0
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  v_add_u32_e32 v3, \n, v1
  ds_write_b32 v2, v3 offset:1024*\n
  .endr
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v3, 0
.endm
.macro finish
    s_waitcnt lgkmcnt(0)
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  begin
  v_mov_b32_e32 v6, 256                  // pitch
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    v_mov_b32_e32 v4, \n
    v_mad_u32_u24 v4, v4, v6, v0
    v_lshlrev_b32_e32 v4, 2, v4
    ds_read_b32 v[\n+8], v4
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ds_read_b32 v[\n+8], v2 offset:1024*\n
    .endr
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
