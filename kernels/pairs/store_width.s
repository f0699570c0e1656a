// Four dword stores against one dwordx4, of 16 consecutive bytes a work-item.
//
// slow: each of four store instructions touches all 8 lines of a wave's kilobyte. fast: one does.
// Established: a store instruction of dwords that lie 16 bytes apart touches as many 128-byte lines as one of
// dwordx4, with a quarter of the bytes; the L1 writes through without gathering across instructions (CDNA3 white
// paper; L2 write bandwidth: mt4g).
.include "gfx942_kernels.inc"

.macro begin
  region_start 16
  v_mov_b32_e32 v4, v2
  v_add_u32_e32 v5, 1, v2
  v_add_u32_e32 v6, 2, v2
  v_add_u32_e32 v7, 3, v2
.endm

kernel slow
  begin
  repeat
    global_store_dword v2, v4, s[6:7]
    global_store_dword v2, v5, s[6:7] offset:4
    global_store_dword v2, v6, s[6:7] offset:8
    global_store_dword v2, v7, s[6:7] offset:12
    v_add_u32_e32 v2, 4096, v2
  until_done
end_kernel slow

kernel fast
  begin
  repeat
    global_store_dwordx4 v2, v[4:7], s[6:7]
    v_add_u32_e32 v2, 4096, v2
  until_done
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
