// A matrix transposed through LDS, with coalesced stores, against one whose lanes store down a column.
//
// slow: each store touches 64 lines, 16 KB apart. fast: padded LDS in between, each store touches two lines.
// Established: lines are 128 bytes (mt4g); AMD's kernels take their results through LDS for the sake of coalesced
// stores ("CShuffle" in Composable Kernel; FlyDSL kernel tuning guide, section 6); HIP performance guidelines on
// coalescing.
.include "gfx942_kernels.inc"

// A tile of 64 x 64 dwords a workgroup, of a matrix of s9 x s9.
.macro tile_start
  s_lshr_b32 s15, s9, 16                 // binary logarithm of the tiles in a row
  s_and_b32 s9, s9, 0xffff
  s_lshr_b32 s10, s2, s15                // tile row
  s_lshl_b32 s11, s10, s15
  s_sub_u32 s11, s2, s11                 // tile column
  v_and_b32_e32 v1, 63, v0               // column in the tile
  v_lshrrev_b32_e32 v2, 6, v0            // row in it: this one and each fourth behind it
  s_lshl_b32 s12, s9, 4                  // four rows in bytes
  // Place of the tile in the input, and of its transpose in the output.
  s_lshl_b32 s13, s10, 6
  s_mul_i32 s13, s13, s9
  s_lshl_b32 s14, s11, 6
  s_add_u32 s13, s13, s14
  s_lshl_b32 s13, s13, 2
  s_mul_i32 s14, s14, s9
  s_lshl_b32 s10, s10, 6
  s_add_u32 s14, s14, s10
  s_lshl_b32 s14, s14, 2
  v_mul_lo_u32 v3, v2, s9
  v_add_u32_e32 v3, v3, v1
  v_lshlrev_b32_e32 v3, 2, v3            // row by row
.endm
.macro load_tile
  v_add_u32_e32 v4, s13, v3
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  global_load_dword v[\n+8], v4, s[4:5]
  v_add_u32_e32 v4, s12, v4
  .endr
  s_waitcnt vmcnt(0)
.endm

// Does so s8 times.
.macro through_lds pitch
  tile_start
  repeat
  load_tile
  v_mul_u32_u24_e32 v5, 4 * \pitch, v2
  v_lshl_add_u32 v5, v1, 2, v5
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  ds_write_b32 v5, v[\n+8] offset:16*\pitch*\n
  .endr
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_mul_u32_u24_e32 v5, 4 * \pitch, v1
  v_lshl_add_u32 v5, v2, 2, v5
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  ds_read_b32 v[\n+8], v5 offset:16*\n
  .endr
  v_add_u32_e32 v4, s14, v3
  s_waitcnt lgkmcnt(0)
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  global_store_dword v4, v[\n+8], s[6:7]
  v_add_u32_e32 v4, s12, v4
  .endr
  s_barrier                              // all have read
  until_done
.endm

kernel slow
  tile_start
  load_tile
  v_mul_lo_u32 v4, v1, s9
  v_add_u32_e32 v4, v4, v2
  v_lshlrev_b32_e32 v4, 2, v4            // column by column
  v_add_u32_e32 v4, s14, v4
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  global_store_dword v4, v[\n+8], s[6:7] offset:16*\n
  .endr
end_kernel slow

kernel fast
  through_lds 65
end_kernel fast

kernels 256, slow, 32, 16640, fast, 32, 16640
