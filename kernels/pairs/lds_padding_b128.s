// Reading a column of LDS whose rows are padded against one whose rows are not, with ds_read_b128.
//
// Lane i reads from row i. slow: rows of 32 dwords, all lanes in the same banks. fast: rows of 36. 8 lanes go at
// once: 8 turns against one.
// Established: bank rules measured on MI300 (mt4g); ROCm blog "Avoiding LDS bank conflicts on AMD GPUs using
// CK-Tile"; Composable Kernel documentation, "Understanding AMD GPU LDS and bank conflicts".
.include "gfx942_kernels.inc"

// Fills 64 rows of 32 dwords with numbers, and reads them by columns again and again.
.macro columns pitch
  work_item v1
  v_lshrrev_b32_e32 v5, 2, v0            // row
  v_and_b32_e32 v6, 3, v0                // quarter of it
  v_mul_u32_u24_e32 v2, 4 * \pitch, v5
  v_lshl_add_u32 v2, v6, 5, v2
  v_lshlrev_b32_e32 v3, 3, v0
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  ds_write_b32 v2, v3 offset:4*\n
  v_add_u32_e32 v3, 1, v3
  .endr
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_and_b32_e32 v2, 63, v0
  v_mul_u32_u24_e32 v2, 4 * \pitch, v2
  v_mov_b32_e32 v3, 0
  repeat
    ds_read_b128 v[4:7], v2 offset:0
    ds_read_b128 v[8:11], v2 offset:16
    ds_read_b128 v[12:15], v2 offset:32
    ds_read_b128 v[16:19], v2 offset:48
    s_waitcnt lgkmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  columns 32
end_kernel slow

kernel fast
  columns 36
end_kernel fast

kernels 256, slow, 32, 9216, fast, 32, 9216
