// Writing a column of LDS whose rows are padded against one whose rows are not, with ds_write_b32.
//
// Lane i writes into row i. slow: rows of 32 dwords, all lanes in the same bank. fast: rows of 33. Each wave has its
// own 8 columns.
// Established: bank rules measured on MI300 (mt4g); ROCm blog "Avoiding LDS bank conflicts on AMD GPUs using
// CK-Tile".
.include "gfx942_kernels.inc"

.macro columns pitch
  work_item v1
  v_and_b32_e32 v2, 63, v0
  v_mul_u32_u24_e32 v2, 4 * \pitch, v2
  v_lshrrev_b32_e32 v4, 6, v0
  v_lshl_add_u32 v2, v4, 5, v2           // the wave's 8 columns
  v_mov_b32_e32 v3, v1
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ds_write_b32 v2, v3 offset:4*\n
    .endr
    v_add_u32_e32 v3, 7, v3
  until_done
  ds_read_b32 v3, v2 offset:20
  s_waitcnt lgkmcnt(0)
  store_value v3
.endm

kernel slow
  columns 32
end_kernel slow

kernel fast
  columns 33
end_kernel fast

kernels 256, slow, 32, 8448, fast, 32, 8448
