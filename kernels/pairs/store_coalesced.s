// Stores of neighbouring dwords by neighbouring lanes against stores down a column.
//
// Each wave writes 64 rows of 128 bytes, the number of each dword into it. slow: a lane writes its own row, so that
// each store touches 64 lines. fast: each store touches two.
// Established: lines are 128 bytes (AMD data sheet; mt4g); the HIP performance guidelines (ROCm docs) on coalesced
// access.
.include "gfx942_kernels.inc"

kernel slow
  v_lshlrev_b32_e32 v2, 7, v0
  s_lshl_b32 s10, s2, 15                 // 32 KB a workgroup
  v_add_u32_e32 v2, s10, v2
  v_lshrrev_b32_e32 v3, 2, v2
  s_lshr_b32 s11, s9, 2
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    v_add_u32_e32 v4, \n, v3
    global_store_dword v2, v4, s[6:7] offset:4*\n
    .endr
    v_add_u32_e32 v2, s9, v2             // all workgroups' 32 KB further
    v_add_u32_e32 v3, s11, v3
  until_done
end_kernel slow

kernel fast
  v_and_b32_e32 v4, 63, v0
  v_lshrrev_b32_e32 v2, 6, v0
  v_lshlrev_b32_e32 v2, 11, v2           // 2048 dwords a wave
  s_lshl_b32 s10, s2, 13
  v_add3_u32 v3, v2, v4, s10
  v_lshlrev_b32_e32 v2, 2, v3
  s_lshr_b32 s11, s9, 2
  s_sub_u32 s12, s9, 4096
  repeat
    .irp half, 0, 1
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    v_add_u32_e32 v4, 64*\n + 1024*\half, v3
    global_store_dword v2, v4, s[6:7] offset:256*\n
    .endr
    .if \half == 0
    v_add_u32_e32 v2, 4096, v2
    .endif
    .endr
    v_add_u32_e32 v2, s12, v2
    v_add_u32_e32 v3, s11, v3
  until_done
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
