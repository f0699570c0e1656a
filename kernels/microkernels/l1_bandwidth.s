// Bandwidth of one compute unit's L1: the 16 waves of one workgroup read or write the same 16 KB again and again, 16
// bytes a lane.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts.
.include "gfx942_kernels.inc"

.macro begin
  v_lshlrev_b32_e32 v1, 4, v0
  .irp n, 4, 5, 6, 7
  v_mov_b32_e32 v\n, v0
  .endr
.endm

kernel read
  begin
  repeat
    .irp n, 4, 8, 12, 16, 20, 24, 28, 32
    global_load_dwordx4 v[\n:\n+3], v1, s[4:5]
    .endr
    s_waitcnt vmcnt(0)
  until_done
  global_store_dwordx4 v1, v[4:7], s[6:7]
end_kernel read

kernel write
  begin
  repeat
    .rept 8
    global_store_dwordx4 v1, v[4:7], s[6:7]
    .endr
  until_done
end_kernel write

kernels 1024, read, 40, 0, write, 40, 0
