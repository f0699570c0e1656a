// An XOR layout of LDS against a plain one, for rows written and columns read with 16 bytes a lane.
//
// 64 rows of 8 pieces of 16 bytes; lane i reads from row i. slow: piece p of a row lies at place p, so that the 8
// lanes that go at once want the same four banks. fast: it lies at place p XOR (row mod 8).
// Established: ROCm blog "Avoiding LDS bank conflicts on AMD GPUs using CK-Tile", which measures naive, padded and
// XOR layouts; bank rules measured on MI300.
.include "gfx942_kernels.inc"

.macro pieces swizzle
  work_item v1
  v_lshrrev_b32_e32 v5, 2, v0            // row
  v_and_b32_e32 v6, 3, v0                // pieces v6 and v6 + 4 of it
  .if \swizzle
  v_and_b32_e32 v7, 7, v5
  v_xor_b32_e32 v6, v6, v7
  .endif
  v_lshlrev_b32_e32 v2, 7, v5
  v_lshl_add_u32 v2, v6, 4, v2
  v_mov_b32_e32 v8, v0
  v_add_u32_e32 v9, 256, v0
  v_add_u32_e32 v10, 512, v0
  v_add_u32_e32 v11, 768, v0
  ds_write_b128 v2, v[8:11]
  v_xor_b32_e32 v2, 64, v2               // piece + 4 of the 8, swizzled or not
  v_add_u32_e32 v8, 1, v8
  ds_write_b128 v2, v[8:11]
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_and_b32_e32 v5, 63, v0
  v_lshlrev_b32_e32 v2, 7, v5
  .if \swizzle
  v_and_b32_e32 v7, 7, v5
  v_lshl_or_b32 v2, v7, 4, v2
  .endif
  v_xor_b32_e32 v20, 16, v2
  v_xor_b32_e32 v21, 32, v2
  v_xor_b32_e32 v22, 48, v2
  v_mov_b32_e32 v3, 0
  repeat
    ds_read_b128 v[4:7], v2
    ds_read_b128 v[8:11], v20
    ds_read_b128 v[12:15], v21
    ds_read_b128 v[16:19], v22
    s_waitcnt lgkmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    v_add_u32_e32 v3, v3, v\n
    .endr
    v_lshlrev_b32_e32 v4, 1, v3
    v_xor_b32_e32 v3, v3, v4             // so that the order of the pieces counts
  until_done
  store_value v3
.endm

kernel slow
  pieces 0
end_kernel slow

kernel fast
  pieces 1
end_kernel fast

kernels 256, slow, 32, 8192, fast, 32, 8192
