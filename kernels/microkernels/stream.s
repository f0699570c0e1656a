// Bandwidth of the whole chip: all workgroups together walk through a buffer, 16 bytes a work-item and step, and do
// so `count` times.
//
// A pass is `iterations` pieces of 4 KB a workgroup, all resident at once. Two or three pieces are too much for L1 and
// stay in L2 (up to 3.7 MB a die). The Infinity Cache holds 16 and 24 pieces; each is passed once a launch, lest a
// workgroup that is ahead finds its own in L2. 64 or 128 passed once come from HBM. Two runs of different length, so
// that neither the launch nor the first, cold round counts.
.include "gfx942_kernels.inc"

.macro begin
  s_lshr_b32 s10, s9, 16                 // pieces
  s_and_b32 s11, s9, 0xffff              // workgroups
  s_lshl_b32 s11, s11, 12                // bytes from piece to piece
  v_lshlrev_b32_e32 v1, 4, v0
  s_lshl_b32 s12, s2, 12
  v_add_u32_e32 v1, s12, v1
  v_mov_b32_e32 v4, v1
  v_mov_b32_e32 v5, v0
  v_mov_b32_e32 v6, 0
  v_mov_b32_e32 v7, 1
  v_mov_b32_e32 v3, 0
.endm
.macro passes
  repeat
    v_mov_b32_e32 v2, v1
    s_mov_b32 s13, s10
2:
.endm
.macro end_passes
    v_add_u32_e32 v2, s11, v2
    s_sub_u32 s13, s13, 1
    s_cmp_lg_u32 s13, 0
    s_cbranch_scc1 2b
  until_done
.endm

kernel read
  begin
  passes
    global_load_dwordx4 v[4:7], v2, s[4:5]
    s_waitcnt vmcnt(0)
    v_xor_b32_e32 v3, v3, v4
    v_xor_b32_e32 v3, v3, v7
  end_passes
  global_store_dword v1, v3, s[6:7]
end_kernel read

kernel write
  begin
  passes
    global_store_dwordx4 v2, v[4:7], s[6:7]
  end_passes
end_kernel write

kernel copy
  begin
  passes
    global_load_dwordx4 v[4:7], v2, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[6:7]
  end_passes
end_kernel copy

kernels 256, read, 8, 0, write, 8, 0, copy, 8, 0
