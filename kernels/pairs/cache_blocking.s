// Four passes over each block of 8 KB against four passes over everything.
//
// Each workgroup has its own megabyte, one workgroup a compute unit, 304 MB in all. slow: each pass comes from HBM
// again. fast: three of four hit a cache.
// Established: L1 112 to 116 cycles, L2 266 to 288, HBM 866 to 900 (mt4g); the data is more than the 256 MB of the
// Infinity Cache (AMD data sheet).
.include "gfx942_kernels.inc"

.macro block
    global_load_dwordx4 v[4:7], v2, s[4:5]
    v_add_u32_e32 v20, 4096, v2
    global_load_dwordx4 v[8:11], v20, s[4:5]
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
.endm
.macro begin
  work_item v1
  region_start 16
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v21, v2
  s_mov_b32 s12, s8
.endm

kernel slow
  begin
  s_mov_b32 s13, 4
2:
  v_mov_b32_e32 v2, v21
  s_mov_b32 s8, s12
  repeat
    block
    v_add_u32_e32 v2, 8192, v2
  until_done
  s_sub_u32 s13, s13, 1
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 2b
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    s_mov_b32 s13, 4
2:
    block
    s_sub_u32 s13, s13, 1
    s_cmp_lg_u32 s13, 0
    s_cbranch_scc1 2b
    v_add_u32_e32 v2, 8192, v2
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
