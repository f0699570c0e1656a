// Bandwidth of one compute unit's LDS: the 16 waves of one workgroup read or write 16 consecutive bytes a lane,
// without conflicts.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts.
.include "gfx942_kernels.inc"

.macro begin
  v_lshlrev_b32_e32 v1, 4, v0
  .irp n, 4, 5, 6, 7
  v_mov_b32_e32 v\n, v0
  .endr
  ds_write_b128 v1, v[4:7]
  s_waitcnt lgkmcnt(0)
.endm

kernel read
  begin
  repeat
    .irp n, 4, 8, 12, 16, 20, 24, 28, 32
    ds_read_b128 v[\n:\n+3], v1
    .endr
    s_waitcnt lgkmcnt(0)
  until_done
  global_store_dwordx4 v1, v[4:7], s[6:7]
end_kernel read

kernel write
  begin
  repeat
    .rept 8
    ds_write_b128 v1, v[4:7]
    .endr
    s_waitcnt lgkmcnt(0)
  until_done
  ds_read_b128 v[4:7], v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
end_kernel write

kernels 1024, read, 40, 16384, write, 40, 16384
