// Loads of neighbouring dwords by neighbouring lanes against loads down a column.
//
// Each workgroup sums 64 KB. slow: a lane reads 64 consecutive dwords, so that each load touches 64 lines and the
// workgroup's lines do not fit L1. fast: each load touches two lines.
// Established: L1 is 32 KB of 128-byte lines (AMD data sheet; mt4g); the HIP performance guidelines (ROCm docs) on
// coalesced access.
.include "gfx942_kernels.inc"

kernel slow
  s_lshl_b32 s10, s2, 16
  v_lshlrev_b32_e32 v2, 8, v0
  v_add_u32_e32 v2, s10, v2
  v_mov_b32_e32 v3, 0
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    global_load_dword v[\n+4], v2, s[4:5] offset:4*\n
    .endr
    v_add_u32_e32 v2, 32, v2
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel slow

kernel fast
  s_lshl_b32 s10, s2, 16
  v_lshlrev_b32_e32 v2, 2, v0
  v_add_u32_e32 v2, s10, v2
  v_mov_b32_e32 v3, 0
  repeat
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    global_load_dword v\n, v2, s[4:5]
    v_add_u32_e32 v2, 1024, v2
    .endr
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
