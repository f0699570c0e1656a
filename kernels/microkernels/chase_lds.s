// Latency of LDS: one wave writes a ring of offsets into 16 KB and follows it, one read after another.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts. A step is a read and its
// wait.
.include "gfx942_kernels.inc"

kernel chase
  v_mov_b32_e32 v1, v0
  v_lshlrev_b32_e32 v2, 2, v0
  s_mov_b32 s10, 256                     // 64 lanes write 256 bytes at a time, up to 16 KB
  s_mov_b32 s11, 64
2:
  v_add_u32_e32 v3, 64, v2               // the next lies 64 bytes behind
  v_and_b32_e32 v3, 0x3fff, v3
  ds_write_b32 v2, v3
  v_add_u32_e32 v2, s10, v2
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 2b
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, 0                    // all lanes at one address
  repeat
    .rept 64
    ds_read_b32 v2, v2
    s_waitcnt lgkmcnt(0)
    .endr
  until_done
  store_value v2
end_kernel chase

kernels 64, chase, 8, 16384
