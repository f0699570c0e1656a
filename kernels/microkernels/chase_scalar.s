// Latency of scalar loads: one wave follows a ring of offsets in the scalar cache, one load after another.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts. A step is a load and its
// wait.
.include "gfx942_kernels.inc"

kernel chase
  s_mov_b32 s12, 0
  v_mov_b32_e32 v1, v0
  repeat
    .rept 64
    s_load_dword s12, s[4:5], s12
    s_waitcnt lgkmcnt(0)
    .endr
  until_done
  v_mov_b32_e32 v2, s12
  store_value v2
end_kernel chase

kernels 64, chase, 8, 0
