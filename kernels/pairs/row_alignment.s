// Rows that start at a line against rows that start 36 bytes behind it.
//
// A wave reads rows of 256 bytes, of which there is one in 512 bytes, from HBM. The input is the same everywhere,
// since the two read different bytes of it.
// Established: L2 lines are 128 bytes, those of the Infinity Cache 64 (AMD data sheet; mt4g), so that a row of 256
// bytes which starts 36 bytes into one needs 3 lines for 2, or 5 halves for 4. The HIP performance guidelines (ROCm
// docs) ask for aligned rows.
.include "gfx942_kernels.inc"

.macro rows start
  work_item v1
  s_mul_i32 s10, s2, s9
  v_lshrrev_b32_e32 v2, 6, v0
  v_lshlrev_b32_e32 v2, 9, v2            // 512 bytes a row and wave
  v_and_b32_e32 v4, 63, v0
  v_lshlrev_b32_e32 v4, 2, v4
  v_add3_u32 v2, v2, v4, s10
  v_add_u32_e32 v2, \start, v2
  v_mov_b32_e32 v3, 0
  repeat
    .irp n, 4, 5, 6, 7
    global_load_dword v\n, v2, s[4:5]
    v_add_u32_e32 v2, 2048, v2
    .endr
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  rows 36
end_kernel slow

kernel fast
  rows 0
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
