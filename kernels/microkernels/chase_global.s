// Latency of vector loads: one wave follows a ring of offsets, one load after another.
//
// The shape decides which cache the ring lies in: two runs of different length, so that neither the launch nor the
// first, cold round counts. In `hbm` the ring is never closed, so that every load is cold. A step is a load and its
// wait.
.include "gfx942_kernels.inc"

kernel chase
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v1, v0
  s_mov_b64 exec, 1                      // one lane
  repeat
    .rept 64
    global_load_dword v2, v2, s[4:5]
    s_waitcnt vmcnt(0)
    .endr
  until_done
  s_mov_b64 exec, -1
  store_value v2
end_kernel chase

kernels 64, chase, 8, 0
