// dword against dwordx2 loads, streaming from L2.
//
// Both read the same bytes with two loads in flight in each wave, one workgroup a compute unit.
// Established: as in load_width_l2.s: latency-bound, and twice the bytes are in flight.
.include "gfx942_kernels.inc"

kernel slow
  ring_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
    global_load_dword v5, v2, s[4:5]
    ring_next 1024
    s_waitcnt vmcnt(0)
    .irp n, 4, 5
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel slow

kernel fast
  s_lshr_b32 s8, s8, 1                     // as many bytes
  ring_start 8
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dwordx2 v[4:5], v2, s[4:5]
    ring_next 2048
    global_load_dwordx2 v[6:7], v2, s[4:5]
    ring_next 2048
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
