// Waiting for the oldest of four loads in flight against waiting for all.
//
// slow: s_waitcnt vmcnt(0) before each use, which also waits for the load issued last. fast: s_waitcnt vmcnt(3). One
// wave a SIMD, loads from L2: the slow one has a latency for each load, the fast one a quarter of it.
// Established: vmcnt counts loads in order, so that a wait for N leaves the N youngest in flight (CDNA3 ISA manual,
// section 4.4); LLVM's SIInsertWaitcnts computes the largest N that does for that reason. L2 latency: mt4g.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  ring_start 4
  v_mov_b32_e32 v3, 0
  global_load_dword v4, v2, s[4:5]
  ring_next 1024
  global_load_dword v5, v2, s[4:5]
  ring_next 1024
  global_load_dword v6, v2, s[4:5]
  ring_next 1024
  global_load_dword v7, v2, s[4:5]
.endm

// Takes what register v\n has loaded, and loads into it what comes four steps later.
.macro stage n, in_flight
  s_waitcnt vmcnt(\in_flight)
  v_add_u32_e32 v3, v3, v\n
  ring_next 1024
  global_load_dword v\n, v2, s[4:5]
.endm

.macro finish
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, v3, v4
  v_add_u32_e32 v3, v3, v5
  v_add_u32_e32 v3, v3, v6
  v_add_u32_e32 v3, v3, v7
  store_value v3
.endm

kernel slow
  begin
  repeat
    stage 4, 0
    stage 5, 0
    stage 6, 0
    stage 7, 0
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    stage 4, 3
    stage 5, 3
    stage 6, 3
    stage 7, 3
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
